// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/used.hpp"
#include "shown_metrics.hpp"

namespace dpsosp {
namespace {

/// Settings that an arm used in the cells of a part.
struct UsedByArm {
  std::vector<UsedNumbers> clips{}, step_sizes{};
  std::vector<double> steps{};
  std::vector<std::string> outputs{};  ///< each once
  std::vector<std::string> labels{};   ///< of privacy, each once
  std::vector<double> clipped{};       ///< medians of the cells
  std::vector<double> longest{};       ///< contributions, as a share of their clip
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
        if (const double longest = result->evaluation_log.largest_norm_over_limit;
            longest > 0 && clipped_share(*result))
          u.longest.push_back(longest);
        const PrivacyResult& privacy = result->privacy;
        add_once(u.labels, std::string(to_string(privacy.label)));
        if (result->algorithm.status == Status::budget) u.cut_short.push_back(u.steps.back());
        if (on_records(privacy.label) == PrivacyLabel::enforced && std::isfinite(privacy.guarantee))
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
  if (!used.longest.empty() && std::ranges::max(used.longest) < least_reached)
    return fmt::format(
        "{}: no contribution is longer than {:.2g} % of its clip, by which the noise goes; its "
        "clip is {}",
        arm, 100 * std::ranges::max(used.longest), to_text(used.clips));
  const auto many =
      std::ranges::count_if(used.clipped, [](double share) { return share > most_clipped; });
  if (many == 0) return {};
  return fmt::format(
      "{}: {} of the contributions are clipped, more than {:.0f} % in {} of {} "
      "cells; its clip is {}",
      arm, range_text(percent(used.clipped), " %"), 100 * most_clipped, many, used.clipped.size(),
      to_text(used.clips));
}

/// True if a metric of the part looks at what is released.
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

/// Differences between arms that a comparison should not have.
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
  for (std::string w :
       {warning_where_they_differ("problems", problems), warning_where_they_differ("sizes", sizes),
        warning_where_they_differ("budgets", budgets),
        warning_where_they_differ("calibrators", calibrators)})
    if (!w.empty()) warnings.push_back(std::move(w));
  return warnings;
}

/// Below this part of what another arm spends, a method has more noise than it need have beside it.
constexpr double little_spent = 0.5;

/// Warning that the budget ended runs of an arm, or was left; empty: neither.
/// \param most  share of ε that an arm of the part spends
std::string warning_of_budget(const UsedByArm& used, const std::string& arm, double most) {
  if (!used.cut_short.empty())
    return fmt::format("{}: the budget ended {} of {} runs, after {} steps", arm,
                       used.cut_short.size(), used.steps.size(), range_text(used.cut_short));
  if (used.spent.empty() || median(used.spent) >= little_spent * most) return {};
  return fmt::format("{}: its runs spend {} of ε, those of another arm {:.3g} %", arm,
                     range_text(percent(used.spent), " %"), 100 * most);
}

}  // namespace

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
  double most_spent = 0;
  for (const auto& [arm, used] : arms) {
    if (!used.spent.empty()) most_spent = std::max(most_spent, median(used.spent));
    outputs.emplace_back(arm, used.outputs);
    labels.emplace_back(arm, used.labels);
  }
  const auto of_outputs = looks_at_output(sweep, part)
                              ? warn(warning_where_they_differ("output rules", outputs))
                              : std::vector<std::size_t>{};
  std::vector<std::size_t> of_terms = warn(warning_where_they_differ("privacy labels", labels));
  for (const std::string& warning : warnings_of_terms(sweep, part))
    std::ranges::copy(warn(warning), std::back_inserter(of_terms));
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
    row.cells[3].footnotes = warn(warning_of_budget(used, name, most_spent));
    row.cells[4].footnotes = of_outputs;
    row.cells[5].footnotes = warn(warning_of_clip(used, name));
    t.add(std::move(row));
  }
  return t;
}

}  // namespace dpsosp
