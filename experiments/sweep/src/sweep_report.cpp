// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/sweep_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/public_constants.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "shown_metrics.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using plots::Cell;

constexpr std::size_t slope_digits = 3;
constexpr const char* claimed_exponent = "claimed exponent";
constexpr const char* of_solved_alpha = ", solved α";

std::string exponent_text(double e) { return fmt::format("{:+.{}f}", e, slope_digits); }

/// The exponents that guide lines are drawn at.
std::vector<double> guide_exponents(const FitRequest& request) {
  if (!request.claimed) return {};
  if (request.claimed->low == request.claimed->high) return {request.claimed->high};
  return {request.claimed->low, request.claimed->high};
}

std::string fraction_text(double e) {
  for (int denominator = 1; denominator <= 14; ++denominator) {
    const double numerator = e * denominator;
    if (std::abs(numerator - std::round(numerator)) < 2e-3)
      return denominator == 1 ? fmt::format("{:+.0f}", numerator)
                              : fmt::format("{:+.0f}/{}", std::round(numerator), denominator);
  }
  return exponent_text(e);
}

std::string fraction_text(const ClaimedExponent& e) {
  if (e.low == e.high) return fraction_text(e.high);
  return fmt::format("{} to {}", fraction_text(e.low), fraction_text(e.high));
}

/// The metrics that a part is asked about, each once.
std::vector<std::string> metrics_of(const Part& part) {
  std::vector<std::string> names;
  for (const FitRequest& f : part.fits)
    if (std::ranges::find(names, f.metric) == names.end()) names.push_back(f.metric);
  return names;
}

std::string axis_label(std::string_view coordinate) {
  const std::string symbol = axis_symbol(coordinate);
  return coordinate == "records" || coordinate == "dimension"
             ? fmt::format("{} {}", coordinate, symbol)
             : symbol;
}

/// The place of an arm among those that slopes are fitted to.
std::size_t style_of(const Sweep& sweep, std::size_t arm) {
  std::set<std::size_t> fitted;
  for (const Part& part : sweep.parts)
    if (!part.fits.empty()) fitted.insert(part.arms.begin(), part.arms.end());
  const auto before = std::distance(fitted.begin(), fitted.lower_bound(arm));
  return static_cast<std::size_t>(before);
}

/// One metric of a part: every arm that a slope of it is fitted to.
/// \param promised  the schedules' α bounds this metric
plots::Panel slopes_panel(const Runs& runs, const Sweep& sweep, const Part& part,
                          const std::string& metric, bool promised) {
  const auto cells = cells_of(sweep, part);
  plots::Panel p;
  p.title = part.name;
  p.origin = {.sweep = sweep.name, .part = part.name, .metric = metric};
  p.y = {.label = metric_label(metric), .scale = plots::Scale::log};
  std::vector<plots::Series> guides;
  for (const FitRequest& request : part.fits) {
    if (request.metric != metric) continue;
    p.x = {.label = axis_label(request.axis), .scale = plots::Scale::log};
    for (const std::size_t arm : part.arms) {
      if (!request.arm.empty() && request.arm != sweep.arms[arm].name) continue;
      const std::vector<SweepSlice> slices = slices_of(cells, arm, part, request);
      for (const SweepSlice& slice : slices) {
        plots::Series s, alpha;
        std::vector<double> at;  // positions of its points on the fit's axis
        s.label = sweep.arms[arm].name;
        if (slices.size() > 1) s.label += " (" + to_text(slice.fixed) + ")";
        s.style = style_of(sweep, arm);
        s.algorithm = sweep.arms[arm].spec.algorithm;
        alpha.label = s.label + of_solved_alpha;
        alpha.style = s.style;
        alpha.dashed = true;
        for (const dpsosp::Cell* c : slice.cells) {
          const auto x = coordinate(c->at, request.axis);
          const CellMetric m = measure(runs, *c, metric);
          if (!x || m.values.empty() || !(median(m.values) > 0)) continue;
          s.x.push_back(*x);
          at.push_back(abscissa(*c, request));
          s.y.push_back(median(m.values));
          // Of a cell with both signs, the band begins where the axis can show it.
          double low = s.y.back();
          for (const double v : m.values)
            if (v > 0) low = std::min(low, v);
          s.low.push_back(low);
          s.high.push_back(std::ranges::max(m.values));
          const CellMetric solved = measure(runs, *c, "schedule.alpha");
          if (!solved.values.empty()) {
            alpha.x.push_back(*x);
            alpha.y.push_back(median(solved.values));
          }
        }
        if (s.x.empty()) continue;
        for (const double exponent : guide_exponents(request)) {
          plots::Series guide{
              .label = claimed_exponent, .style = plots::guide_style, .dashed = true};
          guide.x = s.x;
          for (const double x : at)
            guide.y.push_back(s.y.front() * std::pow(x / at.front(), exponent));
          guides.push_back(std::move(guide));
        }
        p.series.push_back(std::move(s));
        if (!alpha.x.empty() && promised && metric != "schedule.alpha")
          p.series.push_back(std::move(alpha));
      }
    }
  }
  p.series.insert(p.series.begin(), guides.begin(), guides.end());
  return p;
}

/// Gives curves that are one of several slices of their arm styles after those of the arms, one a
/// label.
void give_slices_styles(plots::Figure& figure, const Sweep& sweep) {
  const std::string of_alpha = of_solved_alpha;
  std::map<std::string, std::size_t> by_label;
  for (plots::Panel& panel : figure.panels)
    for (plots::Series& s : panel.series) {
      const std::string curve = s.label.ends_with(of_alpha)
                                    ? s.label.substr(0, s.label.size() - of_alpha.size())
                                    : s.label;
      if (curve == claimed_exponent ||
          std::ranges::find(sweep.arms, curve, &Arm::name) != sweep.arms.end())
        continue;
      const auto place = by_label.emplace(curve, sweep.arms.size() + by_label.size()).first;
      s.style = place->second;
    }
}

}  // namespace

std::vector<std::string> shown_metrics(const Sweep& sweep, const Part& part) {
  if (!part.fits.empty()) return metrics_of(part);
  std::vector<std::string> names{"output.sosp_level"};
  if (!sweep.metric.empty() && sweep.metric != names.front()) names.push_back(sweep.metric);
  return names;
}

std::string to_text(const Slope& s) {
  std::string text = fmt::format("{}, {}", s.part, s.arm);
  if (!s.slice.empty()) text += " at " + to_text(s.slice);
  const std::string axis = s.request.in_noise ? "sqrt(rho(epsilon, delta))" : s.request.axis;
  if (s.fit) {
    text += fmt::format(": {} ~ {}^{}", s.request.metric, axis, to_text(*s.fit));
    if (s.fit->drifting) text += fmt::format(", drifts by {}", exponent_text(s.fit->drift));
  } else {
    text += fmt::format(": {} along {}, no slope", s.request.metric, axis);
  }
  if (s.request.claimed)
    text +=
        fmt::format("; claimed {}: {}", to_text(*s.request.claimed), to_string(s.verdict.verdict));
  if (!s.verdict.reason.empty()) text += " (" + s.verdict.reason + ")";
  if (s.request.reference)
    text += fmt::format("; reference {}", exponent_text(*s.request.reference));
  for (const std::string& why : s.left_out) text += "; left out " + why;
  return text;
}

json to_json(ClaimedExponent e) { return e.low == e.high ? json(e.high) : json{e.low, e.high}; }

json to_json(const Slope& s) {
  json j{{"part", s.part},
         {"arm", s.arm},
         {"axis", s.request.axis},
         {"unit", s.request.in_noise ? "noise" : ""},
         {"metric", s.request.metric},
         {"at", json::object()},
         {"left_out", s.left_out},
         {"cells", json::array()}};
  for (const auto& [name, value] : s.slice) j["at"][name] = value;
  for (const FitCell& c : s.cells)
    j["cells"].push_back(
        {{"x", c.x}, {"median", median(c.values)}, {"values", c.values}, {"failed", c.failed}});
  if (s.fit) {
    j["slope"] = s.fit->slope;
    j["interval"] = {s.fit->interval.low, s.fit->interval.high};
    j["drift"] = s.fit->drift;
    j["drift_interval"] = {s.fit->drift_interval.low, s.fit->drift_interval.high};
    j["drifting"] = s.fit->drifting;
    j["off_line"] = s.fit->off_line;
    j["bent"] = s.fit->bent;
    j["ends"] = {{s.fit->first.low, s.fit->first.high}, {s.fit->last.low, s.fit->last.high}};
    j["mean_slope"] = s.fit->mean_slope;
    j["mean_interval"] = {s.fit->mean_interval.low, s.fit->mean_interval.high};
    j["local_slopes"] = json::array();
    for (const LocalSlope& l : s.fit->local) j["local_slopes"].push_back({l.x, l.slope});
  }
  if (s.request.claimed) {
    j["claimed"] = to_json(*s.request.claimed);
    const Interval zone = zone_of(*s.request.claimed, s.request.rivals);
    j["zone"] = {zone.low, zone.high};
    j["verdict"] = to_string(s.verdict.verdict);
    j["bound"] = to_string(s.verdict.bound);
    j["reason"] = s.verdict.reason;
  }
  if (s.request.reference) j["reference"] = *s.request.reference;
  return j;
}

std::string axis_symbol(const FitRequest& request) {
  return request.in_noise ? "√ρ(ε)" : axis_symbol(request.axis);
}

std::string axis_symbol(std::string_view coordinate) {
  if (coordinate == "records") return "n";
  if (coordinate == "dimension") return "d";
  if (coordinate == "epsilon") return "ε";
  if (coordinate == "delta") return "δ";
  return std::string(coordinate.substr(coordinate.find('.') + 1));
}

plots::Label verdict_label(const SlopeVerdict& v) {
  using enum Verdict;
  plots::Tone tone = plots::Tone::caution;
  if (confirms(v.verdict) || v.verdict == holds) tone = plots::Tone::good;
  if (v.verdict == worse_than_claimed || v.verdict == fails) tone = plots::Tone::bad;
  return {std::string(to_string(v.verdict)), tone};
}

plots::Cell spread_cell(const CellMetric& metric) {
  return plots::spread_cell(metric.values, metric.failed, metric.failure);
}

plots::Table slopes_table(const std::vector<Slope>& slopes, std::string id, std::string title) {
  plots::Table t;
  t.id = std::move(id);
  t.title = std::move(title);
  t.caption =
      "Slope of the logarithm of the metric on the logarithm of the axis (Huber regression over "
      "all "
      "runs), 95 % interval over seeds, verdict against the claimed exponent.";
  t.row_header = "algorithm";
  t.column_groups.push_back({"",
                             {"privacy", "axis", "metric", "claimed", "reference", "measured",
                              "95 % interval", "drift", "cells", "verdict"}});
  for (const Slope& s : slopes) {
    plots::Row row;
    row.label = s.arm + (s.slice.empty() ? "" : " (" + to_text(s.slice) + ")");
    row.cells.push_back(plots::text_cell(fmt::format("{}", fmt::join(s.privacy, ", "))));
    row.cells.push_back(
        plots::text_cell(s.request.in_noise ? "√ρ(ε, δ)" : axis_label(s.request.axis)));
    row.cells.push_back(plots::text_cell(metric_label(s.request.metric)));
    row.cells.push_back(
        plots::text_cell(s.request.claimed ? fraction_text(*s.request.claimed) : "–"));
    row.cells.push_back(
        plots::text_cell(s.request.reference ? exponent_text(*s.request.reference) : "–"));
    if (s.fit) {
      row.cells.push_back(plots::text_cell(exponent_text(s.fit->slope)));
      row.cells.push_back(plots::text_cell(to_text(s.fit->interval)));
      row.cells.push_back(plots::text_cell(
          fmt::format("{}{}", exponent_text(s.fit->drift), s.fit->drifting ? ", drifts" : "")));
    } else {
      for (int k = 0; k < 3; ++k) row.cells.push_back(plots::text_cell("–"));
    }
    row.cells.push_back(plots::text_cell(
        fmt::format("{} of {}", s.cells.size(), s.cells.size() + s.left_out.size())));
    plots::Cell verdict = plots::text_cell(s.verdict.reason);
    if (s.request.claimed) verdict.labels.push_back(verdict_label(s.verdict));
    if (!s.left_out.empty()) {
      std::string note = fmt::format("{}, {}, {}:", s.arm, s.part, axis_label(s.request.axis));
      for (const std::string& why : s.left_out) note += " " + why + ";";
      note.back() = '.';
      verdict.footnotes.push_back(t.footnotes.size());
      t.footnotes.push_back("Cells that do not count. " + note);
    }
    row.cells.push_back(std::move(verdict));
    t.add(std::move(row));
  }
  return t;
}

namespace {

/// That records are simulated, and the sizes where they are beyond those of data sets.
std::string simulated_note(const Sweep& sweep, const Part& part) {
  bool simulated = false;
  Index most = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const dpsosp::Cell& c : cells_of(sweep, part)) {
    const auto& settings = sweep.arms[c.arm].spec.problem_settings;
    const auto sampling = settings.find("sampling");
    if (sampling == settings.end() || (sampling->second != "whole" && sampling->second != "stream"))
      continue;
    simulated = true;
    for (const Job& job : c.runs) {
      most = std::max(most, job.run()->records);
      least = std::min(least, job.run()->epsilon);
    }
  }
  if (!simulated) return "";
  const bool many = most > 1'000'000'000, private_beyond = least < 0.01;
  if (!many && !private_beyond) return " Records are simulated.";
  return fmt::format(" Records are simulated{}{}, beyond any data set.",
                     many ? fmt::format(", up to n = {:g}", static_cast<double>(most)) : "",
                     private_beyond ? fmt::format(", down to ε = {:g}", least) : "");
}

}  // namespace

plots::Table cells_table(const Runs& runs, const Sweep& sweep, const Part& part, std::string id) {
  const std::vector<std::string> metrics = shown_metrics(sweep, part);
  plots::Table t;
  t.id = std::move(id);
  t.title = fmt::format("{}: {}", sweep.title, part.name);
  t.sweep = sweep.name;
  t.caption = "Median [smallest, largest] over seeds." + simulated_note(sweep, part);
  if (!part.note.empty()) t.caption += " " + part.note;
  t.row_header = "cell";
  plots::ColumnGroup columns{"", {"solved α", "estimate's error"}};
  for (const std::string& m : metrics) columns.columns.push_back(metric_label(m));
  for (const char* name : {"start", "steps", "records used", "evaluations", "ε spent"})
    columns.columns.emplace_back(name);
  t.column_groups.push_back(columns);
  for (const std::size_t arm : part.arms) {
    plots::RowGroup group;
    group.label = sweep.arms[arm].name;
    for (const dpsosp::Cell& c : cells_of(sweep, part)) {
      if (c.arm != arm) continue;
      plots::Row row;
      row.label = to_text(c.at);
      const auto middle = [&](const char* name) {
        return plots::number_cell(median(measure(runs, c, name).values));
      };
      row.cells.push_back(middle("schedule.alpha"));
      row.cells.push_back(middle("estimate.median"));
      for (const std::string& m : metrics) row.cells.push_back(spread_cell(measure(runs, c, m)));
      const auto start = metrics.empty() ? std::nullopt : measure_start(runs, c, metrics.front());
      row.cells.push_back(start ? plots::number_cell(*start) : plots::text_cell("–"));
      for (const char* name : {"steps", "records_used", "evaluations", "privacy.spent"})
        row.cells.push_back(middle(name));
      group.rows.push_back(std::move(row));
    }
    t.row_groups.push_back(std::move(group));
  }
  return t;
}

plots::Figure slopes_figure(const Runs& runs, const Sweep& sweep, std::string id,
                            std::string title) {
  plots::Figure f;
  f.id = std::move(id);
  f.title = std::move(title);
  f.caption =
      "Lines are medians over seeds, bands run from the smallest to the largest seed. Dashed: the "
      "accuracy that the schedule solved for; dotted: each claimed exponent through the first "
      "cell. Cells that do not count for the slope are drawn all the same.";
  for (const Part& part : sweep.parts) {
    std::vector<std::string> metrics;
    for (const FitRequest& request : part.fits)
      if (std::ranges::find(metrics, request.metric) == metrics.end())
        metrics.push_back(request.metric);
    if (metrics.size() > 1) std::erase(metrics, "schedule.alpha");  // every panel shows it
    for (const std::string& metric : metrics) {
      plots::Panel panel = slopes_panel(runs, sweep, part, metric, metric == metrics.front());
      if (!panel.series.empty()) f.panels.push_back(std::move(panel));
    }
  }
  give_slices_styles(f, sweep);
  return f;
}

std::string undrawn_text(const Runs& runs, const Sweep& sweep, const Part& part) {
  std::map<std::string, std::size_t> reasons;
  std::size_t cells = 0;
  for (const FitRequest& request : part.fits)
    for (const dpsosp::Cell& c : cells_of(sweep, part)) {
      if (!request.arm.empty() && request.arm != sweep.arms[c.arm].name) continue;
      ++cells;
      const CellMetric m = measure(runs, c, request.metric);
      if (m.values.empty() && m.missing == 0)
        ++reasons[fmt::format("all runs failed{}", m.failure.empty() ? "" : ", " + m.failure)];
      else if (m.values.empty())
        ++reasons[fmt::format("no run has {}", request.metric)];
      else if (!(median(m.values) > 0))
        ++reasons[fmt::format("the median {} is not above 0, which a logarithmic axis cannot show",
                              request.metric)];
    }
  std::vector<std::string> texts;
  for (const auto& [why, count] : reasons)
    texts.push_back(fmt::format("{} of {} cells: {}", count, cells, why));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string directions_text(const std::vector<Slope>& slopes) {
  const auto judged = [&](bool along_epsilon) {
    return std::ranges::any_of(slopes, [&](const Slope& s) {
      return s.request.claimed && (s.request.axis == "epsilon") == along_epsilon;
    });
  };
  if (!judged(true) || !judged(false)) return {};
  return "Along ε a smaller exponent than claimed is worse, along all other axes a larger one: "
         "privacy is costly where ε goes to 0. So one slope may be better in n and worse in ε.";
}

std::string moving_constants_text(const Sweep& sweep, const Slope& slope) {
  if (slope.request.axis == "epsilon" || slope.request.axis == "delta") return {};
  const auto part = std::ranges::find(sweep.parts, slope.part, &Part::name);
  const auto arm = std::ranges::find(sweep.arms, slope.arm, &Arm::name);
  if (part == sweep.parts.end() || arm == sweep.arms.end()) return {};
  const std::vector<dpsosp::Cell> cells = cells_of(sweep, *part);
  const auto of_arm = static_cast<std::size_t>(arm - sweep.arms.begin());
  for (const SweepSlice& slice : slices_of(cells, of_arm, *part, slope.request)) {
    if (slice.fixed != slope.slice) continue;
    const auto [first, last] = std::ranges::minmax(
        slice.cells, {}, [&](const dpsosp::Cell* c) { return abscissa(*c, slope.request); });
    const double range = std::log(abscissa(*last, slope.request) / abscissa(*first, slope.request));
    if (!(range > 0)) return {};
    const auto before = public_constants(first->first_run()),
               after = public_constants(last->first_run());
    std::vector<std::string> moving;
    for (const auto& [name, value] : before) {
      const auto other = after.find(name);
      constexpr double same = 1e-6;
      if (other == after.end() || !(value > 0 && other->second > 0) ||
          std::abs(other->second - value) <= same * value)
        continue;
      moving.push_back(fmt::format("{} from {:.3g} to {:.3g}, exponent {}", name, value,
                                   other->second,
                                   exponent_text(std::log(other->second / value) / range)));
    }
    if (moving.empty()) return {};
    return fmt::format("constants of {} move along {}: {}", arm->spec.problem, slope.request.axis,
                       fmt::join(moving, "; "));
  }
  return {};
}

}  // namespace dpsosp
