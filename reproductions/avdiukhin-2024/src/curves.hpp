// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/reproductions/training.hpp"

/// The runs that the figures are drawn from, and the flat table of them that is committed: a row a
/// run and epoch.
namespace dpsosp::avdiukhin_2024_figures {

struct CurveRun {
  std::string figure;   ///< "1a": the figure that the run is of
  std::string variant;  ///< "published", "sound", …
  std::uint64_t seed = 0;
  std::string failure;  ///< why it has no numbers; empty where it has
  Training training;
  TrainingResult result;  ///< without epochs if it failed

  bool operator==(const CurveRun&) const = default;
};

/// CSV with a header: a row a run and epoch, a failed run as one row without numbers. Doubles have
/// the shortest text that reads back to the same bits.
std::string curves_csv(const std::vector<CurveRun>& runs);
/// The inverse. \param where  of the text, for messages
/// \throws InputError "WHERE, line N: ..." if it is not such a table
std::vector<CurveRun> read_curves(std::string_view where, std::string_view csv);

/// Where and when runs were computed, one build each.
struct ComputedBy {
  std::string scale;
  std::string first, last;  ///< days, UTC: "2026-11-25"
  std::string build;        ///< as to_string(Build) has it
  Index runs = 0;

  bool operator==(const ComputedBy&) const = default;
};
DPSOSP_MEMBERS(ComputedBy, scale, first, last, build, runs);
std::string provenance_csv(const std::vector<ComputedBy>& origins);
/// \throws InputError "WHERE, line N: ..." if it is not such a table
std::vector<ComputedBy> read_provenance(std::string_view where, std::string_view csv);

/// The runs of one ε, in the order of their seeds; none of those that failed.
struct Curve {
  std::optional<double> epsilon;  ///< none: no noise
  std::vector<const CurveRun*> runs;
};
/// The curves of one variant of a figure, by ascending ε, without noise last. They refer to `runs`.
std::vector<Curve> curves_of(const std::vector<CurveRun>& runs, std::string_view figure,
                             std::string_view variant);

}  // namespace dpsosp::avdiukhin_2024_figures
