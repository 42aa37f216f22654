// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/counting_metric.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/used.hpp"

namespace dpsosp {
namespace {

std::optional<double> finite(double value) {
  if (!std::isfinite(value)) return {};
  return value;
}

std::optional<double> finite(std::optional<double> value) {
  return value ? finite(*value) : std::nullopt;
}

/// A parameter that is a number.
std::optional<double> number_in(const std::string& text) {
  try {
    std::size_t used = 0;
    const double number = std::stod(text, &used);
    return used == text.size() ? finite(number) : std::nullopt;
  } catch (const std::logic_error&) {
    return {};
  }
}

const std::vector<TraceRow>& trace_of(const RunResult& result) {
  static const std::vector<TraceRow> none;
  return result.trace ? *result.trace : none;
}

std::vector<double> column(const RunResult& result, double TraceRow::*quantity) {
  std::vector<double> values;
  for (const TraceRow& row : trace_of(result)) values.push_back(row.*quantity);
  return values;
}

/// Every row stands for the iterates since the row before it, so that the first, which may come
/// after an earlier stage, has the weight of one iterate and not of a whole stride.
std::optional<double> mean_over_iterates(const RunResult& result, double TraceRow::*quantity) {
  const std::vector<TraceRow>& trace = trace_of(result);
  if (trace.empty()) return {};
  double sum = 0, weight = 0, before = static_cast<double>(trace.front().t) - 1;
  for (const TraceRow& row : trace) {
    const auto t = static_cast<double>(row.t);
    sum += (t - before) * row.*quantity;
    weight += t - before;
    before = t;
  }
  return finite(sum / weight);
}

std::optional<double> mean_gradient_norm(const RunResult& result) {
  return mean_over_iterates(result, &TraceRow::gradient_norm);
}

std::optional<double> mean_excess_risk(const RunResult& result) {
  const auto mean = mean_over_iterates(result, &TraceRow::value);
  const auto least = finite(result.minimum);
  if (!mean || !least) return {};
  return *mean - *least;
}

std::optional<double> median_sosp_level(const RunResult& result) {
  return finite(median(column(result, &TraceRow::sosp_level)));
}

std::optional<double> solved_alpha(const RunResult& result) {
  const auto alpha = finite(result.schedule.alpha);
  return alpha && *alpha > 0 ? alpha : std::nullopt;
}

std::optional<double> fraction_solved(const RunResult& result) {
  const auto alpha = solved_alpha(result);
  const auto values = column(result, &TraceRow::sosp_level);
  if (!alpha || values.empty()) return {};
  return static_cast<double>(std::ranges::count_if(values, [&](double v) { return v <= *alpha; })) /
         static_cast<double>(values.size());
}

std::optional<double> best_level(const RunResult& result) {
  return result.best ? finite(result.best->sosp_level) : std::nullopt;
}

std::optional<double> median_error(const RunResult& result) {
  const auto& errors = result.evaluation_log.estimate_error;
  return errors ? finite(errors->median) : std::nullopt;
}

std::optional<double> largest_error(const RunResult& result) {
  const auto& errors = result.evaluation_log.estimate_error;
  return errors ? finite(errors->largest) : std::nullopt;
}

std::optional<double> steps(const RunResult& result) {
  return static_cast<double>(result.algorithm.steps);
}

std::optional<double> records_used(const RunResult& result) {
  return static_cast<double>(result.algorithm.records_used);
}

std::optional<double> evaluations(const RunResult& result) {
  return finite(result.evaluation_log.contributions);
}

std::optional<double> spent(const RunResult& result) { return finite(result.privacy.spent); }

/// A point of the result, and the least value of the objective that it is judged by.
struct Judged {
  const Certificate* point = nullptr;  ///< null: the run has none
  std::optional<double> minimum;
};

Judged empirical_output(const RunResult& r) { return {&r.output, r.minimum}; }
Judged empirical_start(const RunResult& r) { return {&r.start, r.minimum}; }
Judged population_output(const RunResult& r) {
  if (!r.population) return {};
  return {&r.population->output, r.population->minimum};
}
Judged population_start(const RunResult& r) {
  if (!r.population) return {};
  return {&r.population->start, r.population->minimum};
}

std::optional<double> level(const Judged& j) { return finite(j.point->sosp_level); }
std::optional<double> gradient_norm(const Judged& j) { return finite(j.point->gradient_norm); }
std::optional<double> lambda_min(const Judged& j) { return finite(j.point->lambda_min); }
std::optional<double> value(const Judged& j) { return finite(j.point->value); }
std::optional<double> excess_risk(const Judged& j) {
  const auto reached = value(j), least = finite(j.minimum);
  if (!reached || !least) return {};
  return *reached - *least;
}

struct NamedValue {
  std::string_view name;
  std::string_view label;
  std::string_view of_points;  ///< the same at the start; empty: not of points
  std::optional<double> (*value)(const RunResult& result);
};

constexpr std::array derived{
    NamedValue{"best.sosp_level", "sosp_level of the best iterate", "start.sosp_level", best_level},
    NamedValue{"trace.mean_gradient_norm", "gradient norm, mean over iterates",
               "start.gradient_norm", mean_gradient_norm},
    NamedValue{"trace.mean_excess_risk", "excess risk, mean over iterates", "start.excess_risk",
               mean_excess_risk},
    NamedValue{"trace.median_sosp_level", "sosp_level, median over iterates", "start.sosp_level",
               median_sosp_level},
    NamedValue{"trace.fraction_solved", "share of iterates that are α-SOSPs", "", fraction_solved},
    NamedValue{"schedule.alpha", "solved α", "", solved_alpha},
    NamedValue{"estimate.median", "error of the gradient estimate, median", "", median_error},
    NamedValue{"estimate.largest", "error of the gradient estimate, largest", "", largest_error},
    NamedValue{"steps", "steps", "", steps},
    NamedValue{"records_used", "records used", "", records_used},
    NamedValue{"evaluations", "per-record evaluations", "", evaluations},
    NamedValue{"clipped", "share of contributions clipped", "", clipped_share},
    NamedValue{"privacy.spent", "ε spent", "", spent},
};

struct NamedPoint {
  std::string_view name;
  std::string_view label;
  Judged (*point)(const RunResult& result);
};
constexpr std::array points{
    NamedPoint{"output", "output", empirical_output}, NamedPoint{"start", "start", empirical_start},
    NamedPoint{"population.output", "output, population", population_output},
    NamedPoint{"population.start", "start, population", population_start}};

struct NamedQuantity {
  std::string_view name;
  std::string_view label;
  std::optional<double> (*quantity)(const Judged& judged);
};
constexpr std::array quantities{NamedQuantity{"sosp_level", "sosp_level", level},
                                NamedQuantity{"gradient_norm", "gradient norm", gradient_norm},
                                NamedQuantity{"lambda_min", "λ_{min}", lambda_min},
                                NamedQuantity{"value", "value", value},
                                NamedQuantity{"excess_risk", "excess risk", excess_risk}};

/// A metric name taken apart: "population.output" and "value", or "counts" and "refreshes".
struct Parts {
  std::string_view head, tail;
};
Parts split(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// The entry of that name; null if there is none.
template <class Entry, std::size_t N>
const Entry* named(const std::array<Entry, N>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

/// "counts.NAME" and "parameters.NAME"; NAME may hold dots, since stages prefix theirs.
bool is_free(std::string_view name) {
  for (const std::string_view head : {"counts.", "parameters."})
    if (name.starts_with(head) && name.size() > head.size()) return true;
  return false;
}

std::optional<double> free_metric(const AlgorithmResult& result, std::string_view name) {
  const auto dot = name.find('.');
  const std::string key(name.substr(dot + 1));
  if (name.starts_with("counts.")) {
    const auto found = result.counts.find(key);
    if (found == result.counts.end()) return {};
    return static_cast<double>(found->second);
  }
  const auto found = result.parameters.find(key);
  return found == result.parameters.end() ? std::nullopt : number_in(found->second);
}

std::vector<std::string> names_but_free() {
  std::vector<std::string> names;
  for (const NamedValue& n : derived) names.emplace_back(n.name);
  for (const NamedPoint& point : points)
    for (const NamedQuantity& quantity : quantities)
      names.push_back(fmt::format("{}.{}", point.name, quantity.name));
  return names;
}

}  // namespace

void check_metric(std::string_view name) {
  const Parts p = split(name);
  if (named(derived, name) != nullptr || is_free(name) ||
      (named(points, p.head) != nullptr && named(quantities, p.tail) != nullptr))
    return;
  const std::vector<std::string> names = names_but_free();
  if (nearest(name, names).empty())
    throw InputError(fmt::format("unknown metric '{}'; docs/sweeps.md lists them", name));
  reject_unknown("metric", name, names);
}

std::optional<double> metric_of(const RunResult& result, std::string_view name) {
  check_metric(name);
  if (const NamedValue* n = named(derived, name)) return n->value(result);
  if (is_free(name)) return free_metric(result.algorithm, name);
  const Parts p = split(name);
  const Judged judged = named(points, p.head)->point(result);
  return judged.point == nullptr ? std::nullopt : named(quantities, p.tail)->quantity(judged);
}

std::optional<double> start_metric(const RunResult& result, std::string_view name) {
  if (const NamedValue* n = named(derived, name))
    return n->of_points.empty() ? std::nullopt : metric_of(result, n->of_points);
  const Parts p = split(name);
  if (p.head == "output") return metric_of(result, fmt::format("start.{}", p.tail));
  if (p.head == "population.output")
    return metric_of(result, fmt::format("population.start.{}", p.tail));
  return {};
}

bool less_is_better(std::string_view name) {
  if (const NamedValue* n = named(derived, name)) return !n->of_points.empty();
  const Parts p = split(name);
  return (p.head == "output" || p.head == "population.output") && p.tail != "lambda_min";
}

std::vector<std::string> metrics_in(const RunResult& result) {
  std::vector<std::string> names = names_but_free();
  std::erase_if(names, [&](const std::string& name) {
    return !less_is_better(name) || !metric_of(result, name);
  });
  return names;
}

std::string metric_label(std::string_view name) {
  check_metric(name);
  if (const NamedValue* n = named(derived, name)) return std::string(n->label);
  const Parts p = split(name);
  if (is_free(name)) return std::string(name.substr(name.find('.') + 1));
  return fmt::format("{} of the {}", named(quantities, p.tail)->label,
                     named(points, p.head)->label);
}

}  // namespace dpsosp
