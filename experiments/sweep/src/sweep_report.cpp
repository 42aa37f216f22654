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
#include "dpsosp/experiments/used.hpp"

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

/// The metrics of a part; where it asks for no slope, as controls do, the level of the output and
/// the sweep's own metric.
std::vector<std::string> shown_metrics(const Sweep& sweep, const Part& part) {
  if (!part.fits.empty()) return metrics_of(part);
  std::vector<std::string> names{"output.sosp_level"};
  if (!sweep.metric.empty() && sweep.metric != names.front()) names.push_back(sweep.metric);
  return names;
}

std::string axis_label(std::string_view coordinate) {
  if (coordinate == "records") return "records n";
  if (coordinate == "dimension") return "dimension d";
  if (coordinate == "epsilon") return "ε";
  if (coordinate == "delta") return "δ";
  return std::string(coordinate.substr(coordinate.find('.') + 1));
}

/// The place of an arm among those that slopes are fitted to; the last style is that of guide
/// lines.
std::size_t style_of(const Sweep& sweep, std::size_t arm) {
  std::set<std::size_t> fitted;
  for (const Part& part : sweep.parts)
    if (!part.fits.empty()) fitted.insert(part.arms.begin(), part.arms.end());
  const auto before = std::distance(fitted.begin(), fitted.lower_bound(arm));
  return static_cast<std::size_t>(before) % (plots::styles - 1);
}

/// One metric of a part: every arm that a slope of it is fitted to.
/// \param promised  the schedules' α bounds this metric
plots::Panel slopes_panel(const Runs& runs,
                          const Sweep& sweep,
                          const Part& part,
                          const std::string& metric,
                          bool promised) {
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
              .label = claimed_exponent, .style = plots::styles - 1, .dashed = true};
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

/// What an arm used in the cells of a part.
struct UsedByArm {
  std::vector<UsedNumbers> clips{}, step_sizes{};
  std::vector<double> steps{};
  std::vector<std::string> outputs{};  ///< each once
  std::vector<std::string> labels{};   ///< of privacy, each once
  std::vector<double> clipped{};       ///< medians of the cells
  std::vector<double> cut_short{};     ///< steps of runs that the budget ended
  std::vector<double> spent{};         ///< share of ε, where it is guaranteed
};

void add_once(std::vector<std::string>& words, std::string word) {
  if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
}

UsedByArm used_in(const Runs& runs, const Sweep& sweep, const Part& part, std::size_t arm) {
  UsedByArm u;
  for (const dpsosp::Cell& c : cells_of(sweep, part)) {
    if (c.arm != arm) continue;
    for (const Job& job : c.runs)
      if (const RunResult* result = runs.result(job)) {
        Used used = used_by(job.run()->algorithm, *result);
        u.clips.push_back(std::move(used.clips));
        u.step_sizes.push_back(std::move(used.step_sizes));
        u.steps.push_back(static_cast<double>(result->algorithm.steps));
        add_once(u.outputs, std::move(used.output));
        const PrivacyResult& privacy = result->privacy;
        add_once(u.labels, std::string(to_string(privacy.label)));
        if (result->algorithm.status == Status::budget) u.cut_short.push_back(u.steps.back());
        if (privacy.label == PrivacyLabel::enforced && std::isfinite(privacy.guarantee))
          u.spent.push_back(privacy.spent / privacy.guarantee);
      }
    if (const auto share = measure(runs, c, "clipped").values; !share.empty())
      u.clipped.push_back(median(share));
  }
  return u;
}

std::string range_text(const std::vector<double>& values, std::string_view unit = "") {
  if (values.empty()) return "–";
  const auto text = [](double v) { return fmt::format("{:.3g}", v); };
  const std::string low = text(std::ranges::min(values)), high = text(std::ranges::max(values));
  return fmt::format("{}{}{}", low, low == high ? "" : " to " + high, unit);
}

std::vector<double> percent(std::vector<double> shares) {
  for (double& s : shares) s *= 100;
  return shares;
}

/// Why the clip of an arm is to be looked at; empty: it is not.
std::string warning_of_clip(const UsedByArm& used, const std::string& arm) {
  const auto many =
      std::ranges::count_if(used.clipped, [](double share) { return share > most_clipped; });
  if (many == 0) return {};
  return fmt::format(
      "{}: {} of the contributions are clipped, more than {:.0f} % in {} of {} "
      "cells; its clip is {}",
      arm,
      range_text(percent(used.clipped), " %"),
      100 * most_clipped,
      many,
      used.clipped.size(),
      to_text(used.clips));
}

/// Whether a metric of the part looks at what is released.
bool looks_at_output(const Sweep& sweep, const Part& part) {
  return std::ranges::any_of(shown_metrics(sweep, part), [](const std::string& metric) {
    return metric.find("output.") != std::string::npos;
  });
}

/// Words of each arm, by its name.
using ByArm = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Which arms have what, where they differ; else empty.
std::string warning_where_they_differ(std::string_view what, const ByArm& arms) {
  std::map<std::string, std::vector<std::string>> by_word;
  for (const auto& [arm, words] : arms)
    for (const std::string& word : words) by_word[word].push_back(arm);
  if (by_word.size() < 2) return {};
  std::vector<std::string> words;
  for (const auto& [word, names] : by_word)
    words.push_back(fmt::format("{} ({})", word, fmt::join(names, ", ")));
  return fmt::format("the {} differ: {}", what, fmt::join(words, "; "));
}

/// What a comparison needs to be the same for all arms, and is not.
std::vector<std::string> warnings_of_terms(const Sweep& sweep, const Part& part) {
  ByArm problems, sizes, budgets, calibrators;
  std::size_t last = sweep.arms.size();
  for (const dpsosp::Cell& c : cells_of(sweep, part)) {
    if (c.arm == last) continue;  // the axes move all arms alike
    last = c.arm;
    const std::string& name = sweep.arms[c.arm].name;
    const RunDescription& d = c.first_run();
    std::string problem = d.problem;
    for (const auto& [setting, value] : d.problem_settings)
      problem += fmt::format(" {} = {}", setting, value);
    std::string size = fmt::format("n = {}", d.records);
    if (d.dimension) size += fmt::format(", d = {}", *d.dimension);
    problems.push_back({name, {std::move(problem)}});
    sizes.push_back({name, {std::move(size)}});
    budgets.push_back({name, {fmt::format("ε = {:g}, δ = {:g}", d.epsilon, d.delta)}});
    calibrators.push_back({name, {std::string(word_of(d.calibrator))}});
  }
  std::vector<std::string> warnings;
  for (std::string w : {warning_where_they_differ("problems", problems),
                        warning_where_they_differ("sizes", sizes),
                        warning_where_they_differ("budgets", budgets),
                        warning_where_they_differ("calibrators", calibrators)})
    if (!w.empty()) warnings.push_back(std::move(w));
  return warnings;
}

/// Below this share of ε a method has more noise than it need have.
constexpr double little_spent = 0.5;

/// Whether the budget ended runs of an arm, or was left; empty: neither.
std::string warning_of_budget(const UsedByArm& used, const std::string& arm) {
  if (!used.cut_short.empty())
    return fmt::format("{}: the budget ended {} of {} runs, after {} steps",
                       arm,
                       used.cut_short.size(),
                       used.steps.size(),
                       range_text(used.cut_short));
  if (used.spent.empty() || median(used.spent) >= little_spent) return {};
  return fmt::format("{}: its runs spend {} of ε", arm, range_text(percent(used.spent), " %"));
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
      s.style = place->second % (plots::styles - 1);
    }
}

}  // namespace

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
                             {"privacy",
                              "axis",
                              "metric",
                              "claimed",
                              "reference",
                              "measured",
                              "95 % interval",
                              "drift",
                              "cells",
                              "verdict"}});
  plots::RowGroup group;
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
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
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

plots::Table used_table(const Runs& runs, const Sweep& sweep, const Part& part, std::string id) {
  plots::Table t;
  t.id = std::move(id);
  t.title = fmt::format("What each method used: {}", part.name);
  t.caption =
      "From the smallest to the largest over cells and seeds. Clipped: medians of the cells of the "
      "share of contributions that the clip shortened.";
  t.row_header = "method";
  t.column_groups.push_back(
      {"", {"parameters", "clip", "step size", "steps", "output", "clipped"}});
  std::vector<std::pair<std::string, UsedByArm>> arms;
  for (const std::size_t arm : part.arms)
    arms.emplace_back(sweep.arms[arm].name, used_in(runs, sweep, part, arm));
  const auto warn = [&](const std::string& warning) -> std::vector<std::size_t> {
    if (warning.empty()) return {};
    t.footnotes.push_back(warning + ".");
    return {t.footnotes.size() - 1};
  };
  ByArm outputs, labels;
  for (const auto& [arm, used] : arms) {
    outputs.emplace_back(arm, used.outputs);
    labels.emplace_back(arm, used.labels);
  }
  const auto of_outputs = looks_at_output(sweep, part)
                              ? warn(warning_where_they_differ("output rules", outputs))
                              : std::vector<std::size_t>{};
  std::vector<std::size_t> of_terms = warn(warning_where_they_differ("privacy labels", labels));
  for (const std::string& warning : warnings_of_terms(sweep, part))
    std::ranges::copy(warn(warning), std::back_inserter(of_terms));
  plots::RowGroup group;
  for (std::size_t k = 0; k < arms.size(); ++k) {
    const auto& [name, used] = arms[k];
    const RunSpec& spec = sweep.arms[part.arms[k]].spec;
    plots::Row row{.label = name};
    row.cells = {
        plots::text_cell(fmt::format(
            "{}{}",
            spec.schedule == Schedule::none ? "settings"
                                            : fmt::format("schedule {}", word_of(spec.schedule)),
            spec.noise == NoiseRule::schedule ? ""
                                              : fmt::format(", noise {}", word_of(spec.noise)))),
        plots::text_cell(to_text(used.clips)),
        plots::text_cell(to_text(used.step_sizes)),
        plots::text_cell(range_text(used.steps)),
        plots::text_cell(used.outputs.empty() ? "–"
                                              : fmt::format("{}", fmt::join(used.outputs, "; "))),
        plots::text_cell(range_text(percent(used.clipped), " %"))};
    row.cells[0].footnotes = of_terms;
    row.cells[3].footnotes = warn(warning_of_budget(used, name));
    row.cells[4].footnotes = of_outputs;
    row.cells[5].footnotes = warn(warning_of_clip(used, name));
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Figure slopes_figure(const Runs& runs,
                            const Sweep& sweep,
                            std::string id,
                            std::string title) {
  plots::Figure f;
  f.id = std::move(id);
  f.title = std::move(title);
  f.caption =
      "Lines are medians over seeds, bands run from the smallest to the largest seed. Dashed: the "
      "accuracy that the schedule solved for, and a guide line at each claimed exponent through "
      "the "
      "first cell. Cells that do not count for the slope are drawn all the same.";
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

std::vector<plots::Figure> in_legible_parts(const plots::Figure& figure) {
  constexpr std::size_t most_curves = plots::styles - 1;  // guide lines have a look of their own
  std::vector<std::string> curves;
  std::set<std::size_t> looks;
  for (const plots::Panel& panel : figure.panels)
    for (const plots::Series& s : panel.series)
      if (!s.dashed && std::ranges::find(curves, s.label) == curves.end()) {
        curves.push_back(s.label);
        looks.insert(s.style);
      }
  if (looks.size() == curves.size()) return {figure};
  std::vector<plots::Figure> parts;
  for (std::size_t first = 0; first < curves.size(); first += most_curves) {
    plots::Figure part = figure;
    if (first > 0) part.id += fmt::format("-{}", first / most_curves + 1);
    for (plots::Panel& panel : part.panels) {
      std::vector<plots::Series> kept;
      const auto place_of = [&](std::string label) {
        if (label.ends_with(of_solved_alpha))
          label.resize(label.size() - std::string_view(of_solved_alpha).size());
        return static_cast<std::size_t>(std::ranges::find(curves, label) - curves.begin());
      };
      for (plots::Series& s : panel.series) {
        if (s.label == claimed_exponent) continue;
        const std::size_t place = place_of(s.label) - first;
        if (place >= most_curves) continue;
        s.style = place;
        kept.push_back(s);
      }
      // A guide goes through the first point of its curve.
      std::erase_if(panel.series, [&](const plots::Series& guide) {
        return guide.label != claimed_exponent ||
               std::ranges::none_of(kept, [&](const plots::Series& s) {
                 return !s.dashed && s.x == guide.x && s.y.front() == guide.y.front();
               });
      });
      std::ranges::move(kept, std::back_inserter(panel.series));
    }
    std::erase_if(part.panels, [](const plots::Panel& panel) { return panel.series.empty(); });
    parts.push_back(std::move(part));
  }
  return parts;
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

namespace {

std::string csv_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{:.17g}", *value) : "";
}

std::string csv_value(const json& value) {
  if (value.is_number()) return csv_number(value.get<double>());
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string csv_row(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string cells_csv(const Runs& runs, const Sweep& sweep, const Part& part) {
  const std::vector<std::string> metrics = shown_metrics(sweep, part);
  constexpr std::array others{
      "schedule.alpha", "estimate.median", "steps", "records_used", "evaluations", "privacy.spent"};
  std::vector<std::string> names{"arm"};
  for (const Axis& axis : part.axes)
    for (const auto& [name, unused] : axis.front()) names.push_back(csv_field(name));
  for (const std::string& m : metrics)
    for (const char* what : {"median", "low", "high", "n"})
      names.push_back(csv_field(fmt::format("{}.{}", m, what)));
  names.emplace_back("start");
  names.insert(names.end(), others.begin(), others.end());
  names.insert(names.end(), {"runs", "failed", "failure"});
  std::string csv = csv_row(names);
  for (const dpsosp::Cell& c : cells_of(sweep, part)) {
    std::vector<std::string> row{csv_field(sweep.arms[c.arm].name)};
    for (const auto& [unused, value] : c.at) row.push_back(csv_value(value));
    CellMetric last;
    for (const std::string& m : metrics) {
      last = measure(runs, c, m);
      const bool any = !last.values.empty();
      row.push_back(csv_number(median(last.values)));
      row.push_back(any ? csv_number(std::ranges::min(last.values)) : "");
      row.push_back(any ? csv_number(std::ranges::max(last.values)) : "");
      row.push_back(std::to_string(last.values.size()));
    }
    row.push_back(csv_number(measure_start(runs, c, metrics.front())));
    for (const char* name : others)
      row.push_back(csv_number(median(measure(runs, c, name).values)));
    row.push_back(std::to_string(c.runs.size()));
    row.push_back(std::to_string(last.failed));
    row.push_back(csv_field(last.failure));
    csv += csv_row(row);
  }
  return csv;
}

std::string slopes_csv(const std::vector<Slope>& slopes) {
  std::vector<std::string> fixed;  // coordinates that a slope is at one value of
  for (const Slope& s : slopes)
    for (const auto& [name, unused] : s.slice)
      if (std::ranges::find(fixed, name) == fixed.end()) fixed.push_back(name);
  std::vector<std::string> names{"part", "arm", "axis", "unit", "metric"};
  for (const std::string& name : fixed) names.push_back(csv_field(name));
  names.insert(names.end(),
               {"claimed_low",
                "claimed_high",
                "reference",
                "slope",
                "low",
                "high",
                "drift",
                "drifting",
                "cells",
                "cells_left_out",
                "seeds",
                "verdict",
                "bound",
                "reason",
                "privacy"});
  std::string csv = csv_row(names);
  for (const Slope& s : slopes) {
    std::vector<std::string> row{csv_field(s.part),
                                 csv_field(s.arm),
                                 csv_field(s.request.axis),
                                 s.request.in_noise ? "noise" : "",
                                 csv_field(s.request.metric)};
    for (const std::string& name : fixed) {
      const auto at = std::ranges::find(s.slice, name, &Coordinates::value_type::first);
      row.push_back(at == s.slice.end() ? "" : csv_value(at->second));
    }
    const auto& claimed = s.request.claimed;
    const auto of_claim = [&](double ClaimedExponent::*end) {
      return claimed ? csv_number((*claimed).*end) : "";
    };
    const auto of_fit = [&](const auto& value) { return s.fit ? csv_number(value(*s.fit)) : ""; };
    row.push_back(of_claim(&ClaimedExponent::low));
    row.push_back(of_claim(&ClaimedExponent::high));
    row.push_back(csv_number(s.request.reference));
    row.push_back(of_fit([](const SlopeFit& f) { return f.slope; }));
    row.push_back(of_fit([](const SlopeFit& f) { return f.interval.low; }));
    row.push_back(of_fit([](const SlopeFit& f) { return f.interval.high; }));
    row.push_back(of_fit([](const SlopeFit& f) { return f.drift; }));
    row.push_back(!s.fit ? "" : s.fit->drifting ? "true" : "false");
    row.push_back(std::to_string(s.cells.size()));
    row.push_back(std::to_string(s.left_out.size()));
    row.push_back(of_fit([](const SlopeFit& f) { return static_cast<double>(f.seeds); }));
    row.push_back(claimed ? csv_field(to_string(s.verdict.verdict)) : "");
    row.push_back(claimed ? csv_field(to_string(s.verdict.bound)) : "");
    row.push_back(csv_field(s.verdict.reason));
    row.push_back(csv_field(fmt::format("{}", fmt::join(s.privacy, ", "))));
    csv += csv_row(row);
  }
  return csv;
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
      moving.push_back(fmt::format("{} from {:.3g} to {:.3g}, exponent {}",
                                   name,
                                   value,
                                   other->second,
                                   exponent_text(std::log(other->second / value) / range)));
    }
    if (moving.empty()) return {};
    return fmt::format("constants of {} move along {}: {}",
                       arm->spec.problem,
                       slope.request.axis,
                       fmt::join(moving, "; "));
  }
  return {};
}

std::string timings_csv(const Store& store, const Sweep& sweep) {
  std::set<std::string> wanted;
  for (const Sweep& phase : {search_of(sweep), sweep})
    for (const Job& job : jobs_of(phase)) wanted.insert(job.hash());
  std::string timings = "run,cpu_seconds\r\n";
  for (const StoredCost& c : store.costs())
    if (wanted.contains(c.hash)) timings += fmt::format("{},{}\r\n", c.hash, c.cpu_seconds);
  return timings;
}

std::string runs_csv(const Sweep& sweep) {
  std::string rows = "run,part,arm,use\r\n";
  const auto add = [&](const Sweep& phase, const char* use) {
    for (const Part& part : phase.parts)
      for (const dpsosp::Cell& cell : cells_of(phase, part))
        for (const Job& job : cell.runs)
          rows += fmt::format(
              "{},{},{},{}\r\n", job.hash(), part.name, csv_field(phase.arms[cell.arm].name), use);
  };
  add(search_of(sweep), "tuning");
  add(sweep, "result");
  return rows;
}

}  // namespace dpsosp
