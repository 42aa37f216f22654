// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cells.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/study.hpp"
#include "matrix_sensing.hpp"
#include "parts.hpp"

/// Claims about the experiment of xu-2026, Section 5: Table 2 and Figure 1.
namespace dpsosp {
namespace {

using namespace xu_2026_exhibit;

double curvature(const Method& m, const Runs& runs, const Study& study) {
  return std::abs(
      median_of(cell(runs, m, Setting::as_published, Control::none, study), at_the_end[2]));
}

double final_value(const Method& m, Setting setting, const Runs& runs, const Study& study) {
  return median_of(cell(runs, m, setting, Control::none, study), at_the_end[0]);
}

/// What holds with settings that were chosen to fit and not with those that are printed decides
/// nothing: the paper leaves the others open.
Finding fitted_alone(bool as_printed, bool fitted, std::string measured) {
  if (as_printed || !fitted)
    return finding(as_printed, std::move(measured), "with no setting that was tried");
  return {.verdict = Verdict::inconclusive,
          .measured = std::move(measured),
          .reason = "reproduced with fitted settings only"};
}

/// The rivals of DP-RGDA with the period of Appendix D, which the paper gives to SPIDERs alone.
const std::array<std::pair<const char*, const char*>, 3> printed_period{
    {{"Sto-SPIDER", "Sto-SPIDER (period 10)"},
     {"Ada-DP-SPIDER", "Ada-DP-SPIDER (period 10)"},
     {"PrivateDiff", "PrivateDiff (period 10)"}}};

Finding x5(const Runs& runs, const Study& study) {
  // A number of the same law lies outside the range of 20 others with probability 2/21.
  constexpr int expected_outside = 3;  // at most so many of 12 with probability 0.97
  const auto reproduced = [](const Coverage& c) {
    return c.all - c.within <= expected_outside && c.farthest <= 1.5;
  };
  const Coverage fitted = coverage(runs, Setting::as_published, study);
  Coverage printed;
  std::vector<std::string> rows;
  add_coverage(printed, cell(runs, printed_rgda(), Setting::as_published, Control::none, study),
               *printed_rgda().published);
  for (const auto& [rival, periodic] : printed_period) {
    const CellRuns c = cell(runs, labelled(periodic), Setting::as_published, Control::none, study);
    const Published& published = *labelled(rival).published;
    add_coverage(printed, c, published);
    rows.push_back(
        fmt::format("{} {:.3g} for {:.4g}", rival, median_of(c, at_the_end[0]), published.value));
  }
  return fitted_alone(
      reproduced(printed), reproduced(fitted),
      fmt::format("with Appendix D's SPIDER period of 10 for each rival {} of {} numbers inside "
                  "the range of seeds, the "
                  "farthest off by the factor {:.3g}, and the final Φ are {}; with thresholds, "
                  "step and period chosen to fit {} of {}, the farthest off by {:.4g}",
                  printed.within, printed.all, printed.farthest, fmt::join(rows, ", "),
                  fitted.within, fitted.all, fitted.farthest));
}

/// One reading of what the paper does not print: the size of X* and the range of the argmin.
struct Reading {
  std::string words;
  Method method;
};

std::vector<Reading> readings_of_progress() {
  std::vector<Reading> all;
  for (const auto& [size, problem] :
       std::vector<std::pair<std::string, std::map<std::string, std::string>>>{
           {"‖X*‖ = 1", {{"planted_scale", "frobenius"}, {"planted_norm", "1"}}},
           {"X*/√r", {{"planted_scale", "over_sqrt_rank"}}},
           {"X* as drawn", {{"planted_scale", "none"}}}})
    for (const auto& [range, selection] : std::vector<std::pair<std::string, std::string>>{
             {"k from 0", "argmin_from_start"}, {"k from 1", "argmin_of_proof"}}) {
      Method m = with_selection(selection);
      m.problem = problem;
      m.seeds = 20;
      all.push_back({fmt::format("{}, {}", size, range), std::move(m)});
    }
  return all;
}

std::vector<JobCell> exhibit_cells(const Study& study) {
  return {{.at = {}, .jobs = xu_2026_jobs(study)}};
}

void append_runs(std::vector<JobCell>& cells, const Method& m, Control control,
                 const Study& study) {
  const auto runs = runs_of(m, Setting::as_published, control, study);
  cells.push_back({.at = {}, .jobs = {runs.begin(), runs.end()}});
}

std::vector<JobCell> x5_progress_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const Reading& r : readings_of_progress())
    for (const Control control : {Control::none, Control::no_data})
      append_runs(cells, r.method, control, study);
  return cells;
}

/// A column of the runs of one cell, by the seeds that both cells have.
std::array<std::vector<double>, 2> paired(const CellRuns& a, Value x, const CellRuns& b, Value y) {
  std::array<std::vector<double>, 2> values;
  for (std::size_t k = 0; k < a.seeds.size(); ++k) {
    const auto found = std::ranges::find(b.seeds, a.seeds[k]);
    if (found == b.seeds.end()) continue;
    values[0].push_back(x(*a.finished[k]));
    values[1].push_back(y(*b.finished[static_cast<std::size_t>(found - b.seeds.begin())]));
  }
  return values;
}

bool better(const PairedComparison& c) { return c.ratio < 1 && c.adjusted_p < 0.05; }

Finding x5_progress(const Runs& runs, const Study& study) {
  std::vector<PairedComparison> comparisons;  // two a reading: start, noise alone
  std::vector<std::string> words;
  for (const Reading& r : readings_of_progress()) {
    const auto of = [&](Control control) {
      return cell(runs, r.method, Setting::as_published, control, study);
    };
    const CellRuns ours = of(Control::none), noise = of(Control::no_data);
    if (ours.finished.empty() || noise.finished.empty()) return nothing_ran();
    const auto start = paired(ours, at_the_end[0], ours, at_the_start[0]);
    const auto alone = paired(ours, at_the_end[0], noise, at_the_end[0]);
    comparisons.push_back(compare(r.words, start[0], start[1]));
    comparisons.push_back(compare(r.words, alone[0], alone[1]));
    words.push_back(fmt::format("{}: Φ {:.3g}, start {:.3g}, noise alone {:.3g}", r.words,
                                median_of(ours, at_the_end[0]), median_of(ours, at_the_start[0]),
                                median_of(noise, at_the_end[0])));
  }
  adjust(comparisons);
  bool any = false;
  for (std::size_t k = 0; k < comparisons.size(); k += 2)
    any = any || (better(comparisons[k]) && better(comparisons[k + 1]));
  double best = printed_rgda().published->value;
  for (const Method& m : methods())
    if (m.published) best = std::min(best, m.published->value);
  return finding(any,
                 fmt::format("medians with the noise of Appendix D: {}; the best published Φ is "
                             "{:.4g}",
                             fmt::join(words, "; "), best),
                 "with that noise no reading ends below both its start and noise alone");
}

std::vector<JobCell> x5_data_cells(const Study& study) {
  std::vector<JobCell> cells = exhibit_cells(study);
  for (const Control control : {Control::none, Control::swapped})
    append_runs(cells, with_selection("argmin_of_proof"), control, study);
  return cells;
}

/// DP-RGDA as published under each range of the argmin.
std::vector<Reading> readings_of_argmin() {
  return {{"k from 0 to K - 1", printed_rgda()},
          {"k from 1 to K - 1", after_start_rgda()},
          {"k from 1 to K", with_selection("argmin_of_proof")}};
}

Finding x5_data(const Runs& runs, const Study& study) {
  bool any = false;
  std::vector<std::string> words;
  for (const Reading& r : readings_of_argmin()) {
    const Swap s = swap_of(runs, r.method, Setting::as_published, study);
    if (s.pairs == 0) return nothing_ran();
    const auto differ = std::ranges::count_if(s.distances, [](double d) { return d > 1e-3; });
    any = any || 10 * differ >= 9 * s.pairs;
    const CellRuns c = cell(runs, r.method, Setting::as_published, Control::none, study);
    words.push_back(fmt::format(
        "{}: identical in every bit on {} of {} seeds, more than 1e-3 apart on {} (median {:.2g} "
        "at a norm of {:.3g}), median Φ {:.3g}",
        r.words, s.identical, s.pairs, differ, median(s.distances), median(s.norms),
        median_of(c, at_the_end[0])));
  }
  return finding(any, fmt::format("{}", fmt::join(words, "; ")), "under no range");
}

Method half_step() {
  Method m = printed_rgda();
  for (const char* step : {"descent_step", "escape_step"})
    m.settings[step] = fmt::format("{:g}", 0.5 * std::stod(m.settings.at(step)));
  return m;
}

Finding x7(const Runs& runs, const Study& study) {
  const double ours = curvature(printed_rgda(), runs, study),
               fitted = curvature(labelled("PrivateDiff"), runs, study),
               periodic = curvature(labelled("PrivateDiff (period 10)"), runs, study),
               halved = curvature(half_step(), runs, study);
  const auto factor = [](double a, double b) { return std::max(a, b) / std::min(a, b); };
  return fitted_alone(
      factor(ours, periodic) <= 1.5, factor(ours, fitted) <= 1.5,
      fmt::format(
          "|λ_{{min}}| {:.3g} of DP-RGDA; of PrivateDiff {:.3g} with the SPIDERs' period of "
          "10, the factor {:.3g}, and {:.3g} with step and period chosen to fit, the "
          "factor {:.3g}, or {:.3g} where DP-RGDA's step is halved",
          ours, periodic, factor(ours, periodic), fitted, factor(ours, fitted),
          factor(halved, fitted)));
}

/// At scale smoke the exhibits' runs have 20 steps.
Predicate on_exhibits(std::string claim, Finding (*judge)(const Runs&, const Study&),
                      std::function<std::vector<JobCell>(const Study&)> cells = exhibit_cells) {
  return {.claim = std::move(claim),
          .cells = std::move(cells),
          .judge = [judge](const Evidence& e) -> Finding {
            if (e.study.scale == Scale::smoke)
              return {.verdict = Verdict::inconclusive,
                      .reason = "needs runs of 400 steps: scale quick or full"};
            return judge(e.runs, e.study);
          }};
}

std::vector<JobCell> x7_cells(const Study& study) {
  std::vector<JobCell> cells = exhibit_cells(study);
  append_runs(cells, half_step(), Control::none, study);
  return cells;
}

/// Every metric of DP-RGDA against two rivals, under each range of the argmin that is run.
std::vector<PairedComparison> against(std::initializer_list<const char*> rivals, Setting setting,
                                      const std::vector<Reading>& readings, const Runs& runs,
                                      const Study& study) {
  std::vector<PairedComparison> comparisons;
  for (const Reading& r : readings) {
    const CellRuns ours = cell(runs, r.method, setting, Control::none, study);
    for (const char* rival : rivals) {
      const CellRuns theirs = cell(runs, labelled(rival), setting, Control::none, study);
      for (const Value value : at_the_end) {
        auto values = paired(ours, value, theirs, value);
        if (values[0].empty()) continue;
        for (auto& side : values)
          for (double& v : side) v = std::abs(v);
        comparisons.push_back(compare(rival, values[0], values[1]));
      }
    }
  }
  adjust(comparisons);
  return comparisons;
}

std::ptrdiff_t won(const std::vector<PairedComparison>& c) {
  return std::ranges::count_if(c, better);
}

Finding x6(const Runs& runs, const Study& study) {
  const auto periodic = against({"Sto-SPIDER (period 10)", "Ada-DP-SPIDER (period 10)"},
                                Setting::as_published, readings_of_argmin(), runs, study);
  const auto fitted = against({"Sto-SPIDER", "Ada-DP-SPIDER"}, Setting::as_published,
                              readings_of_argmin(), runs, study);
  if (periodic.empty() || fitted.empty()) return nothing_ran();
  return finding(
      won(periodic) == std::ssize(periodic) && won(fitted) == std::ssize(fitted),
      fmt::format("by the paper's composition {} of {} comparisons with Appendix D's period (3 "
                  "metrics, 2 rivals, 3 ranges of k), where the rivals run away, and {} of {} with "
                  "thresholds chosen to fit, so that it could hardly fail",
                  won(periodic), periodic.size(), won(fitted), fitted.size()),
      "not below both");
}

Finding x6_one_accountant(const Runs& runs, const Study& study) {
  const auto comparisons = against({"Sto-SPIDER", "Ada-DP-SPIDER"}, Setting::ledgered,
                                   {{"printed", printed_rgda()}}, runs, study);
  if (comparisons.empty()) return nothing_ran();
  const auto values = [&](Setting setting, std::initializer_list<const char*> of) {
    std::vector<std::string> words;
    for (const char* label : of)
      words.push_back(
          fmt::format("{} {:.3g}", label, final_value(labelled(label), setting, runs, study)));
    return fmt::format("{}", fmt::join(words, ", "));
  };
  return finding(
      won(comparisons) == std::ssize(comparisons),
      fmt::format("at ε = 2, n = 400, {} of {} comparisons; Φ there: {}; at n = 25600: {}",
                  won(comparisons), comparisons.size(),
                  values(Setting::ledgered,
                         {"DP-RGDA (printed, argmin from k = 0)", "Sto-SPIDER", "Ada-DP-SPIDER"}),
                  values(Setting::where_it_works,
                         {"DP-RGDA (printed, argmin from k = 0)", "DP-RGDA (minimal repair)",
                          "DP-RGDA (repaired)", "Sto-SPIDER", "Ada-DP-SPIDER"})),
      "not below both");
}

/// DP-RGDA with the refresh rules that the drift thresholds of Table 2 come to at steps of 0.2: 0.7
/// is passed every 18 steps and 0.01 at every step. Only the first tests for a saddle.
struct EqualSteps {
  const char* label;
  const char* period;
  bool escapes;
};
constexpr std::array equal_steps{EqualSteps{"period 10 and escapes", "10", true},
                                 EqualSteps{"period 18", "18", false},
                                 EqualSteps{"period 1", "1", false}};

JobCell equal_steps_cell(const EqualSteps& method, const Study& study) {
  constexpr Index n = 12800;
  RunSpec spec;
  spec.algorithm = "xu-2026/dp-rgda";
  spec.problem = "matrix-sensing";
  spec.records = n;
  spec.epsilon = 2;
  spec.delta = 1e-6;
  spec.settings = repaired_rgda().settings;
  spec.settings["steps"] = fmt::format("{}", steps(study));
  spec.settings["alpha"] = method.escapes ? "0.01" : "1e-300";
  spec.settings["period"] = method.period;
  spec.settings["inner_steps"] = "1";
  spec.settings["horizon_rule"] = "last";
  spec.settings["sampling"] = "poisson";
  spec.settings["refresh_batch"] = fmt::format("{}", n / 2);
  spec.settings["increment_batch"] = fmt::format("{}", n / 8);
  spec.schedule = Schedule::none;
  spec.noise = NoiseRule::calibrated;
  spec.calibrator = Calibrator::rdp;
  spec.observations = 0;
  return seeded_cell(std::move(spec), 20, {{"method", method.label}});
}

std::vector<JobCell> x6_equal_steps_cells(const Study& study) {
  std::vector<JobCell> cells;
  if (study.scale == Scale::smoke) return cells;  // a minute
  for (const EqualSteps& method : equal_steps) cells.push_back(equal_steps_cell(method, study));
  return cells;
}

Finding x6_equal_steps(const Evidence& e) {
  if (e.cells.empty())
    return {.verdict = Verdict::inconclusive, .reason = "runs only at scale quick or full"};
  std::vector<std::vector<double>> values;
  std::vector<std::string> medians;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.all_finished()) return nothing_ran();
    values.push_back(cell.metric("output.value"));
    medians.push_back(fmt::format("{} {:.3g}", cell.text_at("method"), median(values.back())));
  }
  std::vector<PairedComparison> comparisons;
  for (const std::size_t other : {1UL, 2UL})
    comparisons.push_back(compare(e.cells[other].text_at("method"), values[0], values[other]));
  adjust(comparisons);
  bool holds = true;
  std::vector<std::string> ratios;
  for (const PairedComparison& c : comparisons) {
    holds = holds && c.ratio < 1 && c.adjusted_p < 0.05;
    ratios.push_back(fmt::format("{:.3g} of {}'s (p = {:.2g})", c.ratio, c.name, c.adjusted_p));
  }
  return finding(holds,
                 fmt::format("medians of Φ: {}; {}, {} pairs", fmt::join(medians, ", "),
                             fmt::join(ratios, ", "), comparisons.front().pairs),
                 "not below both");
}

}  // namespace

std::vector<Predicate> xu_2026_experiment_predicates() {
  return {
      on_exhibits("xu-2026/x5", x5),
      on_exhibits("xu-2026/x5-progress", x5_progress, x5_progress_cells),
      on_exhibits("xu-2026/x5-data", x5_data, x5_data_cells),
      on_exhibits("xu-2026/x6", x6, x5_data_cells),
      on_exhibits("xu-2026/x6-one-accountant", x6_one_accountant),
      {"xu-2026/x6-equal-steps", x6_equal_steps_cells, x6_equal_steps},
      on_exhibits("xu-2026/x7", x7, x7_cells),
  };
}

}  // namespace dpsosp
