// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/plots/table.hpp"

/// Settings are tried on seeds of their own, and the best goes into the runs that count.
namespace dpsosp {

/// The first `budget` trials: no setting, and points of the space in an order that covers it early,
/// each once. Axis k of the space moves as the axis of place `places[k]` of any other space of that
/// seed does: the Halton sequence in the base of its place, shifted by the seed.
/// \param places  different, below 16
/// \throws InputError where the space has too few points
std::vector<Coordinates> trials_of(const std::vector<Axis>& space,
                                   const std::vector<std::size_t>& places, std::size_t budget,
                                   std::uint64_t seed);

/// The runs that decide what is chosen, as a sweep: a part for each part and arm that is tuned,
/// whose last axis is the trials. Without parts where nothing is tuned.
Sweep search_of(const Sweep& sweep);

/// True if settings are chosen for an arm of the part.
bool is_tuned(const Sweep& sweep, const Part& part);

/// The sweep with every arm as the file has it.
Sweep as_written(Sweep sweep);

/// Trials of a cell.
struct TunedCell {
  std::size_t arm = 0;
  Coordinates at{};
  std::vector<CellMetric> trials{};
  std::size_t chosen = 0;

  /// Median over seeds; a run that failed or lacks the metric is worse than any number.
  double value(std::size_t trial) const;
};
/// By the metric of the sweep, of which less is better; the first of equal ones.
/// \param runs  those of search_of
std::vector<TunedCell> tuned_cells(const Runs& runs, const Sweep& sweep, const Part& part);

/// Writes down what is chosen. \param runs  those of search_of
/// \throws InputError where no run of an arm has the metric
void choose(const Runs& runs, Sweep& sweep);

/// The settings of the trial that lie at an end of the arm's space, as "step_size = 1, the
/// largest".
std::vector<std::string> at_ends(const Arm& arm, const Coordinates& trial);

/// One row a cell: the setting chosen, its place in the order, its value and that of the arm as
/// written, ends of the space, and what the same search costs by private selection.
/// \param runs  of the search and of the sweep
plots::Table tuning_table(const Runs& runs, const Sweep& sweep, const Part& part, std::string id);

/// A line of `dpsosp run` a cell that was tuned.
std::string tuned_commands(const Sweep& sweep);

}  // namespace dpsosp
