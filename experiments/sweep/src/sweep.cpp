// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/counting_metric.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::string setting_text(const json& value) {
  if (value.is_string()) return value;
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

void set_coordinate(RunSpec& spec, const std::string& name, const json& value) {
  constexpr std::string_view set = "set.", problem = "problem.";
  if (name == "records")
    spec.records = value;
  else if (name == "dimension")
    spec.dimension = value.get<Index>();
  else if (name == "epsilon")
    spec.epsilon = value;
  else if (name == "delta")
    spec.delta = value;
  else if (name.starts_with(set))
    spec.settings[name.substr(set.size())] = setting_text(value);
  else
    spec.problem_settings[name.substr(problem.size())] = setting_text(value);
}

/// Every combination of the axes' points, the last axis moving fastest.
std::vector<Coordinates> product(const std::vector<Axis>& axes) {
  std::vector<Coordinates> all{Coordinates{}};
  for (const Axis& axis : axes) {
    std::vector<Coordinates> longer;
    for (const Coordinates& head : all)
      for (const Coordinates& tail : axis) {
        longer.push_back(head);
        longer.back().insert(longer.back().end(), tail.begin(), tail.end());
      }
    all = std::move(longer);
  }
  return all;
}

Coordinates without_axes(const Coordinates& point, const Coordinates& moving) {
  Coordinates rest;
  for (const auto& c : point)
    if (std::ranges::find(moving, c.first, &Coordinates::value_type::first) == moving.end())
      rest.push_back(c);
  return rest;
}

void add_labels(const Runs& runs, const Cell& cell, std::set<std::string>& labels) {
  for (const Job& run : cell.runs)
    if (const RunResult* result = runs.result(run))
      labels.emplace(to_string(result->privacy.label));
}

/// The levels of each cell over its solved α.
std::vector<FitCell> over(std::vector<FitCell> cells, const std::vector<double>& plan) {
  for (std::size_t k = 0; k < cells.size(); ++k)
    for (double& v : cells[k].values) v /= plan[k];
  return cells;
}

/// True if the schedule's α bounds the metric: both are of one quantity.
bool is_promised(const RunDescription& run, std::string_view metric) {
  const auto algorithm = find_algorithm(run.algorithm);
  apply_settings(*algorithm, run.settings);
  return metric.ends_with(to_string(algorithm->promised()));
}

/// True if the slope is worse than claimed by more than a hidden factor ln x makes it, along the
/// axis itself: 0.25 for dimensions from 16 to 256.
bool exceeds_logarithm(const Slope& slope, ClaimedExponent claimed) {
  if (slope.request.axis == "epsilon") return true;  // logarithms of n ε: as those of n
  const double first = slope.cells.front().x, last = slope.cells.back().x;
  if (!(first > 1)) return false;
  const double of_logarithm = std::log(std::log(last) / std::log(first)) / std::log(last / first);
  return slope.fit->interval.low - claimed.high > of_logarithm;
}

/// Settings chosen for a cell; none where its arm is not tuned.
const Coordinates& settings_chosen(const Arm& arm, const Part& part, const Cell& cell) {
  if (arm.trials.size() == 1) return arm.trials.front();
  const auto found = part.chosen.find({cell.arm, cell.at});
  if (found == part.chosen.end())
    throw InputError("no setting is chosen yet, which `dpsosp sweep` does from runs of each");
  return arm.trials.at(found->second);
}

std::vector<Cell> made_cells(const Sweep& sweep, const Part& part) {
  std::vector<Cell> cells;
  for (const std::size_t arm : part.arms)
    for (Coordinates& at : product(part.axes)) {
      RunSpec spec = sweep.arms[arm].spec;
      for (const auto& [name, value] : at) set_coordinate(spec, name, value);
      Cell cell{.arm = arm, .at = std::move(at), .runs = {}};
      try {
        for (const auto& [name, value] : settings_chosen(sweep.arms[arm], part, cell))
          set_coordinate(spec, name, value);
        RunDescription d = describe(spec);
        for (std::uint64_t k = 0; k < part.seeds; ++k) {
          const std::uint64_t seed = part.first_seed + k;
          if (!part.by_seed.empty()) {
            for (const Axis& axis : part.by_seed)
              for (const auto& [name, value] : axis[seed % axis.size()])
                set_coordinate(spec, name, value);
            d = describe(spec);
          }
          d.seed = d.data_seed = seed;
          cell.runs.emplace_back(d);
        }
      } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", place_of(sweep, part, cell), e.what()));
      }
      cells.push_back(std::move(cell));
    }
  return cells;
}

}  // namespace

class SweepMemory {
 public:
  std::vector<Cell> cells(const Sweep& sweep, const Part& part) {
    const std::scoped_lock lock(mutex_);
    const auto same = [&](const Made& made) {
      return made.secret == program_secret() && made.part.arms == part.arms &&
             made.part.seeds == part.seeds && made.part.first_seed == part.first_seed &&
             made.part.axes == part.axes && made.part.by_seed == part.by_seed &&
             made.part.chosen == part.chosen &&
             std::ranges::equal(made.arms, part.arms, [&](const auto& known, std::size_t arm) {
               return known.first == sweep.arms[arm].spec && known.second == sweep.arms[arm].trials;
             });
    };
    if (const auto known = std::ranges::find_if(cells_, same); known != cells_.end())
      return known->cells;
    Made made{.part = part, .secret = program_secret(), .cells = made_cells(sweep, part)};
    for (const std::size_t arm : part.arms)
      made.arms.emplace_back(sweep.arms[arm].spec, sweep.arms[arm].trials);
    cells_.push_back(std::move(made));
    return cells_.back().cells;
  }

  SlopeFit fit(const std::vector<FitCell>& cells) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [of, fit] : fits_)
      if (of == cells) return fit;
    return fits_.emplace_back(cells, fit_slope(cells)).second;
  }

 private:
  struct Made {
    Part part;
    std::vector<std::pair<RunSpec, std::vector<Coordinates>>> arms{};
    std::uint64_t secret = 0;  ///< of programs, when they were described
    std::vector<Cell> cells;
  };
  std::mutex mutex_;
  std::vector<Made> cells_;
  std::vector<std::pair<std::vector<FitCell>, SlopeFit>> fits_;
};

namespace {

/// Why fewer than two runs of a cell have a value.
std::string too_few_values(const CellMetric& m, std::size_t runs) {
  const std::string why = m.failure.empty() ? "" : " (" + m.failure + ")";
  if (m.values.empty())
    return runs == 1 ? "its one run failed" + why : fmt::format("all {} runs failed{}", runs, why);
  if (runs == 1) return "it has one seed; an interval needs two";
  return fmt::format("{} of {} runs failed{}; two values are needed", m.failed, runs, why);
}

/// The cells of one arm that differ along one axis only, and the slope through them.
Slope slope_through(const Runs& runs, SweepMemory& memory, const FitRequest& request,
                    const std::vector<const Cell*>& cells) {
  Slope s;
  s.request = request;
  std::vector<double> plan;  // solved α of the cells that count
  for (const Cell* cell : cells) {
    CellMetric m = measure(runs, *cell, request.metric);
    const std::string where =
        fmt::format("{} = {:g}", request.axis, coordinate(cell->at, request.axis).value());
    if (m.missing > 0) {
      s.left_out.push_back(fmt::format("{}: {} of {} runs have no {}", where, m.missing,
                                       cell->runs.size(), request.metric));
      continue;
    }
    if (m.values.size() < 2) {
      s.left_out.push_back(fmt::format("{}: {}", where, too_few_values(m, cell->runs.size())));
      continue;
    }
    const double result = median(m.values);
    if (std::ranges::min(m.values) <= 0) {
      s.left_out.push_back(fmt::format("{}: a value is {:g}, which has no logarithm", where,
                                       std::ranges::min(m.values)));
      continue;
    }
    const auto start = measure_start(runs, *cell, request.metric);
    const CellMetric promise = measure(runs, *cell, "schedule.alpha");
    if (start && !promise.values.empty() && median(promise.values) >= *start) {
      s.left_out.push_back(fmt::format("{}: the schedule promises {:.3g}, the start has {:.3g}",
                                       where, median(promise.values), *start));
      continue;
    }
    if (start && *start <= 0) {
      s.left_out.push_back(fmt::format(
          "{}: the start has {:.3g}, which is not above 0, so no factor says how far the result "
          "{:.3g} is from it",
          where, *start, result));
      continue;
    }
    if (start && *start < start_over_result * result) {
      s.left_out.push_back(
          fmt::format("{}: the start has {:.3g}, less than {:g} times the result {:.3g}", where,
                      *start, start_over_result, result));
      continue;
    }
    add_labels(runs, *cell, s.privacy);
    if (!promise.values.empty() && median(promise.values) > 0)
      plan.push_back(median(promise.values));
    s.cells.push_back(
        {.x = abscissa(*cell, request), .seeds = m.seeds, .values = m.values, .failed = m.failed});
  }
  if (s.cells.size() < 3) {
    s.verdict.reason = cells.size() < 3
                           ? fmt::format("{} along {}, and a slope needs three",
                                         cells.size() == 1 ? "one cell" : "two cells", request.axis)
                           : fmt::format("{} of {} cells count", s.cells.size(), cells.size());
    return s;
  }
  if (plan.size() == s.cells.size()) {
    std::vector<double> x;
    for (const FitCell& cell : s.cells) x.push_back(cell.x);
    s.of_plan = log_slope(x, plan);
    if (is_promised(cells.front()->first_run(), request.metric)) {
      s.over_promise = 0;
      for (std::size_t k = 0; k < plan.size(); ++k)
        s.over_promise = std::max(*s.over_promise, median(s.cells[k].values) / plan[k]);
    }
  }
  try {
    s.fit = memory.fit(s.cells);
    if (s.over_promise && request.claimed) s.over_plan = memory.fit(over(s.cells, plan));
  } catch (const InputError& e) {  // failures have left the cells too few seeds in common
    s.verdict.reason = e.what();
    return s;
  }
  if (request.claimed) s.verdict = judge(s, *request.claimed, request.solved);
  return s;
}

std::vector<Slope> slopes_of_part(const Runs& runs, const Sweep& sweep, const Part& part) {
  std::vector<Slope> slopes;
  const std::vector<Cell> cells = cells_of(sweep, part);
  for (const FitRequest& request : part.fits) {
    for (const std::size_t arm : part.arms) {
      if (!request.arm.empty() && sweep.arms[arm].name != request.arm) continue;
      for (const auto& [rest, members] : slices_of(cells, arm, part, request)) {
        Slope s = slope_through(runs, *sweep.memory, request, members);
        s.part = part.name;
        s.arm = sweep.arms[arm].name;
        s.slice = rest;
        slopes.push_back(std::move(s));
      }
    }
  }
  return slopes;
}

}  // namespace

std::string to_text(const Coordinates& point) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : point)
    parts.push_back(fmt::format(
        "{} = {}", name,
        value.is_number() ? fmt::format("{:g}", value.get<double>()) : setting_text(value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<double> coordinate(const Coordinates& point, std::string_view name) {
  for (const auto& [key, value] : point)
    if (key == name && value.is_number()) return value.get<double>();
  return {};
}

std::vector<Cell> cells_of(const Sweep& sweep, const Part& part) {
  return sweep.memory->cells(sweep, part);
}

std::shared_ptr<SweepMemory> Sweep::new_memory() { return std::make_shared<SweepMemory>(); }

std::string place_of(const Sweep& sweep, const Part& part, const Cell& cell) {
  return fmt::format("part {}, arm {}{}{}", part.name, sweep.arms[cell.arm].name,
                     cell.at.empty() ? "" : " at ", to_text(cell.at));
}

std::vector<Job> jobs_of(const Sweep& sweep) {
  std::vector<Job> jobs;
  std::set<std::string> seen;
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part))
      for (const Job& job : cell.runs)
        if (seen.insert(job.hash()).second) jobs.push_back(job);
  return jobs;
}

std::vector<Job> of_shard(const std::vector<Job>& jobs, std::size_t index, std::size_t count) {
  std::vector<Job> mine;
  for (std::size_t k = index - 1; k < jobs.size(); k += count) mine.push_back(jobs[k]);
  return mine;
}

void require_metric(const Runs& runs, const std::vector<Cell>& cells, const std::string& metric,
                    const std::string& where) {
  const RunResult* finished = nullptr;
  for (const Cell& cell : cells)
    for (const Job& job : cell.runs)
      if (const RunResult* result = runs.result(job)) {
        if (metric_of(*result, metric)) return;
        finished = result;
      }
  if (finished != nullptr)
    throw InputError(fmt::format("{}: no run has {}, expected a metric that they have, as {}",
                                 where, metric, fmt::join(metrics_in(*finished), ", ")));
}

void require_metric(const Runs& runs, const Sweep& sweep) {
  std::vector<Cell> cells;
  for (const Part& part : sweep.parts)
    if (part.fits.empty() ||
        std::ranges::find(part.fits, sweep.metric, &FitRequest::metric) != part.fits.end())
      std::ranges::copy(cells_of(sweep, part), std::back_inserter(cells));
  if (!sweep.metric.empty())
    require_metric(runs, cells, sweep.metric, fmt::format("sweep {}", sweep.name));
}

CellMetric measure(const Runs& runs, const Cell& cell, std::string_view metric) {
  CellMetric m;
  for (const Job& job : cell.runs) {
    const StoredRun& run = runs.at(job);
    const RunResult* result = runs.result(run);
    if (result == nullptr) {
      if (m.failed++ == 0) m.failure = run.reason;
    } else if (const auto value = metric_of(*result, metric)) {
      m.seeds.push_back(job.seed());
      m.values.push_back(*value);
    } else {
      ++m.missing;
    }
  }
  return m;
}

std::optional<double> measure_start(const Runs& runs, const Cell& cell, std::string_view metric) {
  std::vector<double> values;
  for (const Job& job : cell.runs)
    if (const RunResult* result = runs.result(job))
      if (const auto value = start_metric(*result, metric)) values.push_back(*value);
  if (values.empty()) return {};
  return median(std::move(values));
}

SlopeVerdict judge(const Slope& slope, ClaimedExponent claimed, bool solved) {
  if (!slope.fit) return slope.verdict;
  SlopeVerdict v = judge(*slope.fit, claimed, slope.request.rivals,
                         slope.request.axis == "epsilon" ? HardEnd::small : HardEnd::large,
                         solved && slope.over_plan ? &*slope.over_plan : nullptr);
  if (v.bound == BoundVerdict::exceeds && !exceeds_logarithm(slope, claimed))
    v.bound = BoundVerdict::rises;
  if (slope.request.ends_at_alpha) {
    v.verdict = Verdict::inconclusive;
    v.bound = BoundVerdict::undecided;
    v.reason = "runs end where they certify their own α: the slope is the plan's";
  }
  // A plan that is itself worse than claimed does not have the claimed bound.
  const Interval zone = zone_of(claimed, slope.request.rivals);
  const bool plan_is_worse =
      slope.of_plan &&
      (slope.request.axis == "epsilon" ? *slope.of_plan < zone.low : *slope.of_plan > zone.high);
  if (!slope.over_promise || *slope.over_promise > 1 || plan_is_worse) return v;
  v.bound = BoundVerdict::below_promise;
  if (v.verdict == Verdict::worse_than_claimed) {
    v.verdict = Verdict::inconclusive;
    v.reason = fmt::format(
        "worse than claimed in this range, where every level is at most {:.2g} of its promise",
        *slope.over_promise);
  }
  return v;
}

double abscissa(const Cell& cell, const FitRequest& request) {
  if (!request.in_noise) return coordinate(cell.at, request.axis).value();
  const RunDescription& run = cell.first_run();
  return std::sqrt(rho_for(run.epsilon, run.delta, Conversion::cks));
}

bool is_rate(const FitRequest& request) {
  return request.claimed && request.metric != "schedule.alpha";
}

std::vector<SweepSlice> slices_of(const std::vector<Cell>& cells, std::size_t arm, const Part& part,
                                  const FitRequest& request) {
  // The axis that the coordinate belongs to; what is zipped with it moves too.
  const auto axis = std::ranges::find_if(
      part.axes, [&](const Axis& a) { return coordinate(a.front(), request.axis).has_value(); });
  std::vector<SweepSlice> slices;
  for (const Cell& cell : cells) {
    if (cell.arm != arm) continue;
    const Coordinates fixed = without_axes(cell.at, axis->front());
    auto slice = std::ranges::find(slices, fixed, &SweepSlice::fixed);
    if (slice == slices.end()) slice = slices.insert(slice, {fixed, {}});
    slice->cells.push_back(&cell);
  }
  return slices;
}

std::vector<Slope> slopes_of(const Runs& runs, const Sweep& sweep) {
  std::vector<Slope> slopes;
  for (const Part& part : sweep.parts)
    for (Slope& s : slopes_of_part(runs, sweep, part)) slopes.push_back(std::move(s));
  return slopes;
}

std::optional<CountingMetric> metric_that_counts(const Runs& runs, const Sweep& sweep,
                                                 const Slope& slope) {
  const auto part = std::ranges::find(sweep.parts, slope.part, &Part::name);
  if (part == sweep.parts.end()) return {};
  std::optional<CountingMetric> best;
  for (const std::string_view metric :
       {"output.sosp_level", "output.gradient_norm", "output.excess_risk",
        "trace.median_sosp_level", "trace.mean_gradient_norm", "trace.mean_excess_risk",
        "best.sosp_level"}) {
    if (metric == slope.request.metric) continue;
    Part alone = *part;
    FitRequest request = slope.request;
    request.metric = metric;
    request.claimed.reset();
    request.arm = slope.arm;
    alone.fits = {std::move(request)};
    for (const Slope& other : slopes_of_part(runs, sweep, alone)) {
      const std::size_t counting = other.cells.size();
      if (other.slice != slope.slice || counting < 3 || (best && counting <= best->counting))
        continue;
      best = {std::string(metric), counting, counting + other.left_out.size()};
    }
  }
  return best;
}

bool add_seeds(const Runs& runs, Sweep& sweep) {
  bool added = false;
  for (Part& part : sweep.parts) {
    if (part.seeds >= part.most_seeds) continue;
    const std::vector<Slope> slopes = slopes_of_part(runs, sweep, part);
    if (std::ranges::none_of(slopes, [](const Slope& s) {
          return is_rate(s.request) && s.verdict.verdict == Verdict::more_seeds;
        }))
      continue;
    part.seeds = std::min(2 * part.seeds, part.most_seeds);
    added = true;
  }
  return added;
}

std::vector<StoredRun> settled_runs(const Store& store, Sweep& sweep, std::string_view command) {
  std::vector<StoredRun> runs = stored_runs(store, jobs_of(search_of(sweep)), command);
  choose(Runs(runs), sweep);
  do {
    runs = stored_runs(store, jobs_of(sweep), command);
  } while (add_seeds(Runs(runs), sweep));
  return runs;
}

std::vector<double> over_noiseless(const Runs& runs, const Sweep& sweep, const Slope& slope) {
  std::map<std::string, double> quiet;  // by the description without its `door`
  const auto each = [&](const auto& arm_matters, const auto& visit) {
    for (const Part& part : sweep.parts) {
      Part wanted = part;
      std::erase_if(wanted.arms, [&](std::size_t arm) { return !arm_matters(part, arm); });
      for (const Cell& cell : cells_of(sweep, wanted))
        for (const Job& job : cell.runs) {
          const RunResult* result = runs.result(job);
          if (result == nullptr) continue;
          const RunDescription& run = *job.run();
          const auto value = metric_of(*result, slope.request.metric);
          if (!value) continue;
          RunDescription rest = run;
          rest.door = Door::enforced;
          rest.records = 0;
          rest.epsilon = rest.delta = 0;
          visit(fmt::format("{:.9g} {:.9g} {:.9g} {}",  // grids end in rounding
                            static_cast<double>(run.records), run.epsilon, run.delta,
                            Job(rest).hash()),
                *value);
        }
    }
  };
  each(
      [&](const Part&, std::size_t arm) {
        const Door door = sweep.arms[arm].spec.door;
        return door == Door::no_noise || door == Door::not_private;
      },
      [&](const std::string& run, double value) { quiet.emplace(run, value); });
  if (quiet.empty()) return {};
  std::vector<double> ratios;
  each(
      [&](const Part& part, std::size_t arm) {
        return part.name == slope.part && sweep.arms[arm].name == slope.arm;
      },
      [&](const std::string& run, double value) {
        if (const auto found = quiet.find(run); found != quiet.end() && found->second > 0)
          ratios.push_back(value / found->second);
      });
  return ratios;
}

}  // namespace dpsosp
