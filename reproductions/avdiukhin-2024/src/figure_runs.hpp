// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "curves.hpp"
#include "dpsosp/claims/texts.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/study.hpp"

/// Which runs the figures with networks are made of at each scale, and where their numbers come
/// from.
namespace dpsosp::avdiukhin_2024_figures {

/// ε of the paper's curves.
inline constexpr double published_epsilons[] = {0.125, 0.25, 0.5, 1, 2, 4, 8};
/// C of the experiments: "equals 2.5". \source avdiukhin-2024, Appendix A
inline constexpr double published_bound = 2.5;
/// C of Theorem 3.3 for Figure 3b: Lemma 3.2 with L = 10, σ = 2.5, f_max = ln 10, c = 1, δ = 0.01
/// at the published n = 50000 and T = 2328. \source avdiukhin-2024 notes, 5.1
inline constexpr double theorem_bound = 58.9;

// Variants.
inline constexpr std::string_view published = "published";  ///< as the paper trains
inline constexpr std::string_view sound = "sound";          ///< the same task, clipped
inline constexpr std::string_view adam = "dp-adam";         ///< DP-Adam, clipped
inline constexpr std::string_view own_gradients =
    "own-gradients";                                  ///< published, group normalisation
inline constexpr std::string_view smooth = "smooth";  ///< own-gradients of a network with a Hessian
inline constexpr std::string_view start = "start";    ///< the published network before any step

/// One variant of a figure: a run for each ε and seed.
struct VariantRuns {
  std::string figure;  ///< "1a"
  std::string variant;
  Training training;                            ///< but for epsilon
  std::vector<std::optional<double>> epsilons;  ///< none: no noise
  std::uint64_t seeds = 1;                      ///< 0, 1, …
};

/// What a figure shows: its own variants, and those of others that stand beside them.
std::vector<VariantRuns> runs_of_figure(std::string_view figure, Scale scale);
/// The probes of these runs.
std::vector<Job> training_jobs(const std::vector<VariantRuns>& variants, const Study& study);
/// Those of a figure; none where files are missing that only the user can supply.
std::vector<Job> figure_jobs(std::string_view figure, const Study& study);

/// Files that a figure needs and that only the user can supply; empty if they are there or none is
/// needed. One line: what is missing, where it belongs, and the command.
std::string missing_files(std::string_view figure);

/// The runs of a figure, wherever they come from.
struct FigureData {
  std::vector<CurveRun> runs;  ///< none: nothing to show
  bool before = false;         ///< from committed curves, not computed in this run
  std::vector<ComputedBy> origins;
};
/// From `runs` if they hold every run of the figure at this scale, else from the committed curves.
FigureData figure_data(std::string_view figure, const Runs& runs, const Study& study,
                       const std::vector<CommittedCurves>& committed);

/// "./run reproduce avdiukhin-2024/figure-1a"
std::string command_of(std::string_view figure);
/// Why there is nothing to show, in one line: what is missing, or that nothing was computed.
std::string nothing_to_show(std::string_view figure);

}  // namespace dpsosp::avdiukhin_2024_figures
