// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/json_number.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

// Columns of a trace row.
constexpr std::size_t value_column = 1;
constexpr std::size_t gradient_norm_column = 2;
constexpr std::size_t sosp_level_column = 4;

std::optional<double> finite(double value) {
  if (!std::isfinite(value)) return {};
  return value;
}

std::optional<double> at(const json& result, const json::json_pointer& place) {
  if (!result.contains(place)) return {};
  const json& value = result.at(place);
  if (value.is_boolean() || value.is_null() || value.is_structured()) return {};
  if (value.is_string()) {  // a parameter as text
    try {
      std::size_t used = 0;
      const std::string text = value;
      const double number = std::stod(text, &used);
      return used == text.size() ? finite(number) : std::nullopt;
    } catch (const std::logic_error&) {
      return {};
    }
  }
  return finite(from_json_number(value));
}

std::vector<double> column(const json& result, std::size_t k) {
  std::vector<double> values;
  if (result.contains("trace"))
    for (const json& row : result["trace"]) values.push_back(from_json_number(row.at(k)));
  return values;
}

/// Every row stands for the iterates since the row before it, so that the first, which may come
/// after an earlier stage, has the weight of one iterate and not of a whole stride.
std::optional<double> mean_over_iterates(const json& result, std::size_t k) {
  if (!result.contains("trace") || result["trace"].empty()) return {};
  double sum = 0, weight = 0, before = result["trace"].front().at(0).get<double>() - 1;
  for (const json& row : result["trace"]) {
    const double t = row.at(0).get<double>();
    sum += (t - before) * from_json_number(row.at(k));
    weight += t - before;
    before = t;
  }
  return finite(sum / weight);
}

std::optional<double> mean_gradient_norm(const json& result) {
  return mean_over_iterates(result, gradient_norm_column);
}

std::optional<double> mean_excess_risk(const json& result) {
  const auto mean = mean_over_iterates(result, value_column);
  const auto least = at(result, json::json_pointer("/minimum"));
  if (!mean || !least) return {};
  return *mean - *least;
}

std::optional<double> median_sosp_level(const json& result) {
  return finite(median(column(result, sosp_level_column)));
}

std::optional<double> fraction_solved(const json& result) {
  const auto alpha = at(result, json::json_pointer("/schedule/alpha"));
  const auto values = column(result, sosp_level_column);
  if (!alpha || *alpha <= 0 || values.empty()) return {};
  return static_cast<double>(std::ranges::count_if(values, [&](double v) { return v <= *alpha; })) /
         static_cast<double>(values.size());
}

std::optional<double> solved_alpha(const json& result) {
  const auto alpha = at(result, json::json_pointer("/schedule/alpha"));
  return alpha && *alpha > 0 ? alpha : std::nullopt;
}

template <const char* Place>
std::optional<double> number_at(const json& result) {
  return at(result, json::json_pointer(Place));
}
constexpr char best_level[] = "/best/4";
constexpr char median_error[] = "/evaluation_log/estimate_error/median";
constexpr char largest_error[] = "/evaluation_log/estimate_error/largest";
constexpr char steps[] = "/algorithm/steps";
constexpr char records_used[] = "/algorithm/records_used";
constexpr char evaluations[] = "/evaluation_log/contributions";
constexpr char spent[] = "/privacy/spent";

struct Named {
  std::string_view name;
  std::string_view label;
  std::string_view of_points;  ///< the same at the start; empty: not of points
  std::optional<double> (*value)(const json& result);
};

constexpr std::array derived{
    Named{"best.sosp_level",
          "sosp_level of the best iterate",
          "start.sosp_level",
          number_at<best_level>},
    Named{"trace.mean_gradient_norm",
          "gradient norm, mean over iterates",
          "start.gradient_norm",
          mean_gradient_norm},
    Named{"trace.mean_excess_risk",
          "excess risk, mean over iterates",
          "start.excess_risk",
          mean_excess_risk},
    Named{"trace.median_sosp_level",
          "sosp_level, median over iterates",
          "start.sosp_level",
          median_sosp_level},
    Named{"trace.fraction_solved", "share of iterates that are α-SOSPs", "", fraction_solved},
    Named{"schedule.alpha", "solved α", "", solved_alpha},
    Named{"estimate.median", "error of the gradient estimate, median", "", number_at<median_error>},
    Named{"estimate.largest",
          "error of the gradient estimate, largest",
          "",
          number_at<largest_error>},
    Named{"steps", "steps", "", number_at<steps>},
    Named{"records_used", "records used", "", number_at<records_used>},
    Named{"evaluations", "per-record evaluations", "", number_at<evaluations>},
    Named{"privacy.spent", "ε spent", "", number_at<spent>},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> points{
    {{"output", "output"},
     {"start", "start"},
     {"population.output", "output, population"},
     {"population.start", "start, population"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> quantities{
    {{"sosp_level", "sosp_level"},
     {"gradient_norm", "gradient norm"},
     {"lambda_min", "λ_{min}"},
     {"value", "value"},
     {"excess_risk", "excess risk"}}};

/// A metric name taken apart: "population.output" and "value", or "counts" and "refreshes".
struct Parts {
  std::string_view head, tail;
};
Parts split(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

const Named* derived_metric(std::string_view name) {
  const auto found = std::ranges::find(derived, name, &Named::name);
  return found == derived.end() ? nullptr : &*found;
}

template <std::size_t N>
std::string_view label_in(const std::array<std::pair<std::string_view, std::string_view>, N>& names,
                          std::string_view name) {
  for (const auto& [key, label] : names)
    if (key == name) return label;
  return {};
}

/// "counts.NAME" and "parameters.NAME"; NAME may hold dots, since stages prefix theirs.
bool is_free(std::string_view name) {
  for (const std::string_view head : {"counts.", "parameters."})
    if (name.starts_with(head) && name.size() > head.size()) return true;
  return false;
}

}  // namespace

void check_metric(std::string_view name) {
  const Parts p = split(name);
  if (derived_metric(name) != nullptr || is_free(name) ||
      (!label_in(points, p.head).empty() && !label_in(quantities, p.tail).empty()))
    return;
  std::vector<std::string> names;
  for (const Named& n : derived) names.emplace_back(n.name);
  for (const auto& [point, unused] : points)
    for (const auto& [quantity, unused_too] : quantities)
      names.push_back(fmt::format("{}.{}", point, quantity));
  reject_unknown("metric", name, names);
}

std::optional<double> metric_of(const json& result, std::string_view name) {
  check_metric(name);
  if (const Named* n = derived_metric(name)) return n->value(result);
  const Parts p = split(name);
  if (is_free(name)) {
    const auto dot = name.find('.');
    json::json_pointer place("/algorithm");
    return at(result, place / std::string(name.substr(0, dot)) / std::string(name.substr(dot + 1)));
  }
  std::string place = "/" + std::string(p.head);
  std::ranges::replace(place, '.', '/');
  if (p.tail != "excess_risk")
    return at(result, json::json_pointer(place + "/" + std::string(p.tail)));
  const auto value = at(result, json::json_pointer(place + "/value"));
  const auto least =
      at(result,
         json::json_pointer(p.head.starts_with("population") ? "/population/minimum" : "/minimum"));
  if (!value || !least) return {};
  return *value - *least;
}

std::optional<double> start_metric(const json& result, std::string_view name) {
  if (const Named* n = derived_metric(name))
    return n->of_points.empty() ? std::nullopt : metric_of(result, n->of_points);
  const Parts p = split(name);
  if (p.head == "output") return metric_of(result, fmt::format("start.{}", p.tail));
  if (p.head == "population.output")
    return metric_of(result, fmt::format("population.start.{}", p.tail));
  return {};
}

std::string metric_label(std::string_view name) {
  check_metric(name);
  if (const Named* n = derived_metric(name)) return std::string(n->label);
  const Parts p = split(name);
  if (is_free(name)) return std::string(name.substr(name.find('.') + 1));
  return fmt::format("{} of the {}", label_in(quantities, p.tail), label_in(points, p.head));
}

}  // namespace dpsosp
