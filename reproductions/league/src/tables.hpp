// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boards.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/table.hpp"
#include "standings.hpp"

namespace dpsosp::league {

/// What the runs of a board gave.
struct Played {
  std::vector<Place> places;
  std::vector<Contender> contenders;               ///< in the order of entrants()
  std::vector<std::vector<std::string>> refusals;  ///< [contender][place]; empty where it ran
  /// [contender][place]: whether the median F of the outputs is above that of the start.
  std::vector<std::vector<bool>> climbed;
  std::vector<double> spent;  ///< median of ε spent over ε; NaN without a run
  Contender start;
  std::vector<Standing> table;
};
Played play(const Runs& runs, const Board& board, const Study& study);

/// The level of the output of every run of a trial, NaN of failed ones.
std::vector<double> levels_of(const Runs& runs, const Trial& trial);

/// The same after every contender has chosen, place by place, what its schedule is told: by the
/// tuning instances alone.
struct Tuned {
  Played board;
  std::vector<std::vector<std::size_t>> chosen;  ///< [contender][place], of candidates()
  std::uint64_t seeds = 1;                       ///< of the tuning instances
};
Tuned play_tuned(const Runs& runs, const Board& board, const Study& study);

plots::Table winners_table(const Played& played, std::string id);
plots::Table standings_table(const Played& played);
plots::Table levels_table(const Played& played);
plots::Table tuned_table(const Played& as_scheduled, const Tuned& tuned, const Board& board);
plots::Table controls_table(const Runs& runs, const Board& board, const Study& study);
plots::Table absent_table(const Played& played);

/// Level against n, one panel an ε, of the first of the table and of the start.
plots::Figure levels_figure(const Played& played);
plots::Figure profiles_figure(const Played& played, const Tuned& tuned);

}  // namespace dpsosp::league
