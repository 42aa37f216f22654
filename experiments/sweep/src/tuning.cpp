// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/tuning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/counting_metric.hpp"
#include "dpsosp/experiments/fit.hpp"

namespace dpsosp {
namespace {

constexpr std::array<std::uint64_t, 16> bases{2,  3,  5,  7,  11, 13, 17, 19,
                                              23, 29, 31, 37, 41, 43, 47, 53};

/// The digits of k behind the point, the last one first: in [0, 1).
double radical_inverse(std::uint64_t k, std::uint64_t base) {
  double value = 0, digit = 1;
  for (; k > 0; k /= base) {
    digit /= static_cast<double>(base);
    value += static_cast<double>(k % base) * digit;
  }
  return value;
}

/// A part whose cells are the trials of the cells of an arm.
Part search_part(const Sweep& sweep, const Part& part, std::size_t arm) {
  Part search{.name = part.name,
              .arms = {arm},
              .axes = part.axes,
              .seeds = sweep.tuning.seeds,
              .first_seed = sweep.tuning.first_seed,
              .by_seed = part.by_seed,
              .fits = {},
              .note = {}};
  search.axes.push_back(sweep.arms[arm].trials);
  return search;
}

bool is_tuned(const Arm& arm) { return arm.trials.size() > 1; }

}  // namespace

bool is_tuned(const Sweep& sweep, const Part& part) {
  return std::ranges::any_of(part.arms, [&](std::size_t arm) { return is_tuned(sweep.arms[arm]); });
}

std::vector<Coordinates> trials_of(const std::vector<Axis>& space,
                                   const std::vector<std::size_t>& places, std::size_t budget,
                                   std::uint64_t seed) {
  double points = space.empty() ? 0 : 1;
  for (const Axis& axis : space) points *= static_cast<double>(axis.size());
  if (static_cast<double>(budget) > points + 1)
    throw InputError(fmt::format(
        "a budget of {} settings, expected at most {:g}: the arm as written and the points of its "
        "space",
        budget, points + 1));
  std::vector<double> shifts;
  for (const std::size_t place : places)
    shifts.push_back(
        Stream({.seed = seed, .purpose = Purpose::statistics, .path = place}).uniform());
  std::vector<Coordinates> trials{Coordinates{}};
  std::set<std::vector<std::size_t>> seen;
  for (std::uint64_t k = 0; trials.size() < budget; ++k) {
    std::vector<std::size_t> point;
    Coordinates trial;
    for (std::size_t a = 0; a < space.size(); ++a) {
      const double u = std::fmod(radical_inverse(k, bases.at(places[a])) + shifts[a], 1.0);
      point.push_back(std::min(static_cast<std::size_t>(u * static_cast<double>(space[a].size())),
                               space[a].size() - 1));
      trial.insert(trial.end(), space[a][point[a]].begin(), space[a][point[a]].end());
    }
    if (seen.insert(std::move(point)).second) trials.push_back(std::move(trial));
  }
  return trials;
}

Sweep as_written(Sweep sweep) {
  for (Arm& arm : sweep.arms) arm.trials = {{}};
  return sweep;
}

Sweep search_of(const Sweep& sweep) {
  Sweep search = as_written(sweep);
  search.parts.clear();
  for (const Part& part : sweep.parts)
    for (const std::size_t arm : part.arms)
      if (is_tuned(sweep.arms[arm])) search.parts.push_back(search_part(sweep, part, arm));
  return search;
}

double TunedCell::value(std::size_t trial) const {
  const CellMetric& m = trials[trial];
  std::vector<double> values = m.values;
  values.resize(values.size() + static_cast<std::size_t>(m.failed + m.missing),
                std::numeric_limits<double>::infinity());
  return median(std::move(values));
}

std::vector<TunedCell> tuned_cells(const Runs& runs, const Sweep& sweep, const Part& part) {
  const Sweep search = as_written(sweep);
  std::vector<TunedCell> cells;
  for (const std::size_t arm : part.arms) {
    if (!is_tuned(sweep.arms[arm])) continue;
    const std::vector<dpsosp::Cell> tried = cells_of(search, search_part(sweep, part, arm));
    const std::size_t budget = sweep.arms[arm].trials.size();
    for (std::size_t first = 0; first < tried.size(); first += budget) {
      TunedCell cell{.arm = arm, .at = tried[first].at};  // of the trial without settings
      for (std::size_t k = 0; k < budget; ++k) {
        cell.trials.push_back(measure(runs, tried[first + k], sweep.metric));
        if (cell.value(k) < cell.value(cell.chosen)) cell.chosen = k;
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

void choose(const Runs& runs, Sweep& sweep) {
  const Sweep search = search_of(sweep);
  for (const Part& part : search.parts)
    require_metric(runs, cells_of(search, part), sweep.metric,
                   fmt::format("sweep {}: part {}, arm {}", sweep.name, part.name,
                               sweep.arms[part.arms[0]].name));
  for (Part& part : sweep.parts)
    for (TunedCell& cell : tuned_cells(runs, sweep, part))
      part.chosen.insert_or_assign({cell.arm, std::move(cell.at)}, cell.chosen);
}

}  // namespace dpsosp
