// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_claims;
using namespace liu_talwar_2025_probe;

constexpr const char* tao_sweep = "tao-2025-ada-dp-spider";
constexpr const char* bounded_sweep = "liu-talwar-2025-bounded-domain";
/// What the methods are compared by; the claims 12 and 12-nonprivate are judged by the least.
constexpr const char* compared_metric = "trace.median_sosp_level";
using plots::guide_style;

const PrintedTable& introduction() {
  static const PrintedTable t = printed_table_of(liu_talwar_2025_texts(), "introduction");
  return t;
}

void add(std::vector<Job>& jobs, std::vector<Job> more) {
  for (Job& job : more) jobs.push_back(std::move(job));
}

void add(std::vector<Job>& jobs, const std::vector<JobCell>& cells) {
  for (const JobCell& cell : cells) add(jobs, cell.jobs);
}

const Part& part_of(const Sweep& sweep, std::string_view name) {
  return *std::ranges::find(sweep.parts, name, &Part::name);
}

bool has_part(const Sweep& sweep, std::string_view name) {
  return std::ranges::find(sweep.parts, name, &Part::name) != sweep.parts.end();
}

/// One curve of a part: the metric's median and range over seeds.
plots::Series curve(const Runs& runs, const Sweep& sweep, std::string_view part,
                    std::string_view axis, std::string_view arm, std::string_view metric,
                    std::string label, std::size_t style) {
  plots::Series s{.label = std::move(label), .style = style};
  for (const Cell& cell : cells_of(sweep, part_of(sweep, part))) {
    if (sweep.arms[cell.arm].name != arm) continue;
    const CellMetric m = measure(runs, cell, metric);
    if (m.values.empty() || std::ranges::min(m.values) <= 0) continue;
    s.x.push_back(coordinate(cell.at, axis).value());
    s.y.push_back(median(m.values));
    s.low.push_back(std::ranges::min(m.values));
    s.high.push_back(std::ranges::max(m.values));
  }
  return s;
}

plots::Series dashed(plots::Series s, std::string label, std::size_t style) {
  s.label = std::move(label);
  s.style = style;
  s.dashed = true;
  s.low.clear();
  s.high.clear();
  return s;
}

/// A line of the exponent through the curve's first point.
plots::Series guide(const plots::Series& s, double exponent, std::string label, std::size_t style) {
  plots::Series g{.label = std::move(label), .style = style, .dashed = true};
  for (const double x : s.x) {
    g.x.push_back(x);
    g.y.push_back(s.y.front() * std::pow(x / s.x.front(), exponent));
  }
  return g;
}

plots::Series probe_curve(const Runs& runs, const std::vector<JobCell>& cells,
                          std::string_view axis, const Number& number, std::string label,
                          std::size_t style) {
  Curve c = curve_of(runs, cells, axis, number);
  return {.label = std::move(label), .style = style, .x = std::move(c.x), .y = std::move(c.y)};
}

// ---------------------------------------------------------------------------------------- rates

std::vector<Job> rates_jobs(const Study& study) {
  return printed_table_jobs(introduction(), study);
}

/// Start, epsilon = infinity and noise alone, of the sweeps' parts "controls".
plots::Table controls_table(const Runs& runs, const Study& study) {
  plots::Table t;
  t.id = "controls";
  t.row_header = "run";
  t.column_groups.push_back({"sosp_level", {"start", "median over iterates", "output"}});
  for (const std::string_view name : {main_sweep, tao_sweep}) {
    const Sweep sweep = study.sweep(name);
    plots::RowGroup group{.label = sweep.title};
    for (const Cell& cell : cells_of(sweep, part_of(sweep, "controls"))) {
      plots::Row row{.label = sweep.arms[cell.arm].name};
      for (const char* metric : {"start.sosp_level", compared_metric, "output.sosp_level"})
        row.cells.push_back(spread_cell(measure(runs, cell, metric)));
      group.rows.push_back(std::move(row));
    }
    t.row_groups.push_back(std::move(group));
  }
  return t;
}

plots::Figure rates_figure(const Runs& runs, const Study& study) {
  plots::Figure f;
  f.id = "levels";
  f.columns = 2;
  const Sweep adaptive = study.sweep(main_sweep), tao = study.sweep(tao_sweep);
  struct Shown {
    const char *part, *axis, *symbol, *title, *adaptive_arm, *tao_arm;
    double adaptive_exponent, tao_exponent;
  };
  for (const Shown& p : {Shown{"n", "records", "records n", "ε = 1e-4: private part",
                               "adaptive batches", "Ada-DP-SPIDER", -0.5, -0.4},
                         Shown{"d", "dimension", "dimension d", "ε = 1e-4, n = 1e11",
                               "adaptive batches", "Ada-DP-SPIDER", 0.25, 0.2},
                         Shown{"epsilon", "epsilon", "privacy ε", "n = 1e11, d = 16",
                               "adaptive batches", "Ada-DP-SPIDER", -0.5, -0.4},
                         Shown{"statistical-n", "records", "records n", "ε = 64: statistical part",
                               "adaptive batches, large epsilon", "Ada-DP-SPIDER, large epsilon",
                               -1.0 / 3, -1.0 / 3}}) {
    if (!has_part(adaptive, p.part) || !has_part(tao, p.part)) continue;
    plots::Panel panel{.title = p.title,
                       .x = {.label = p.symbol, .scale = plots::Scale::log},
                       .y = {.label = "sosp_level, population (F/X)", .scale = plots::Scale::log}};
    const auto a = curve(runs, adaptive, p.part, p.axis, p.adaptive_arm, compared_metric,
                         "adaptive batches", 0);
    const auto t = curve(runs, tao, p.part, p.axis, p.tao_arm, compared_metric, "Ada-DP-SPIDER", 1);
    if (!a.x.empty())
      panel.series.push_back(
          guide(a, p.adaptive_exponent, "claimed, adaptive batches", guide_style));
    if (!t.x.empty())
      panel.series.push_back(guide(t, p.tao_exponent, "claimed, Ada-DP-SPIDER", guide_style - 1));
    panel.series.push_back(
        dashed(curve(runs, adaptive, p.part, p.axis, p.adaptive_arm, "schedule.alpha", "", 0),
               "adaptive batches, solved α", 0));
    panel.series.push_back(
        dashed(curve(runs, tao, p.part, p.axis, p.tao_arm, "schedule.alpha", "", 1),
               "Ada-DP-SPIDER, solved α", 1));
    panel.series.push_back(a);
    panel.series.push_back(t);
    f.panels.push_back(std::move(panel));
  }
  return f;
}

plots::Exhibit rates(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  e.tables = {printed_table(runs, study, introduction()), controls_table(runs, study)};
  std::vector<Slope> all;
  for (const std::string_view name : {main_sweep, tao_sweep, bounded_sweep}) {
    const Sweep sweep = study.sweep(name);
    const std::vector<Slope> slopes = slopes_of(runs, sweep);
    all.insert(all.end(), slopes.begin(), slopes.end());
    e.tables.push_back(slopes_table(slopes, fmt::format("slopes-{}", name), sweep.title));
    for (const Part& part : sweep.parts)
      if (!part.fits.empty())
        e.tables.push_back(cells_table(runs, sweep, part, fmt::format("{}-{}", name, part.name)));
  }
  e.figures = {rates_figure(runs, study)};
  e.verdict = exponents_label(all, liu_talwar_2025_texts());
  return e;
}

// ------------------------------------------------------------------------------------- ablation

/// Saddles by their curvature, for both methods and both kinds of error.
struct EscapeCurve {
  const char *method, *error, *label;
};
constexpr EscapeCurve escape_curves[] = {
    {"hessian_power", "benign", "Hessian powers, benign error"},
    {"isotropic", "benign", "isotropic kick, benign error"},
    {"hessian_power", "adversarial", "Hessian powers, adversarial error"},
    {"isotropic", "adversarial", "isotropic kick, adversarial error"}};

std::vector<JobCell> escape_series(const EscapeCurve& c, const Study& study) {
  return escapes_by_curvature("quartic-saddle", c.method, c.error, 0.01, 16, study);
}

std::vector<Job> ablation_jobs(const Study& study) {
  std::vector<Job> jobs = jobs_of(study.sweep(ablation_sweep));
  add(jobs, jobs_of(study.sweep(main_sweep)));
  for (const auto& v : ablations())
    for (const double epsilon : {small_epsilon, no_privacy})
      add(jobs, solved_alpha(study, v.name, epsilon).jobs);
  for (const EscapeCurve& c : escape_curves) add(jobs, escape_series(c, study));
  return jobs;
}

plots::Exhibit ablation(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  plots::Table t;
  t.id = "variants";
  t.row_header = "variant";
  t.column_groups = {{"", {"what it is"}},
                     {"private part", {"predicted", "solved", "measured"}},
                     {"statistical part", {"predicted", "solved"}}};
  const Sweep sweep = study.sweep(ablation_sweep);
  std::vector<Slope> slopes = slopes_of(runs, sweep);
  for (Slope& s : slopes_of(runs, study.sweep(main_sweep)))
    if (s.part == "n") slopes.push_back(std::move(s));
  plots::Figure f;
  f.id = "ablation";
  f.caption = fmt::format(
      "First two panels: the α that each variant's schedule solves for at d = 16 and unit "
      "constants. Last two: share of {} escapes that leave a ball of radius √(α/ρ) around a "
      "quartic saddle of curvature −λ within the schedule's steps (α = 0.01, d = 16, errors of "
      "norm α/4), and F's mean change up to λ = √(ρα).",
      escape_seeds(study));
  f.columns = 2;
  plots::Panel small{.title = "solved α, ε = 1e-4",
                     .x = {.label = "records n", .scale = plots::Scale::log},
                     .y = {.label = "solved α (F/X)", .scale = plots::Scale::log}};
  plots::Panel large = small;
  large.title = "solved α without privacy";
  int near = 0, all = 0;
  for (std::size_t k = 0; k < ablations().size(); ++k) {
    const auto& v = ablations()[k];
    plots::Row row{.label = v.name};
    row.cells.push_back(plots::text_cell(v.what));
    const auto solved = [&](double epsilon, double predicted, plots::Panel& panel) {
      const JobCell cell = solved_alpha(study, v.name, epsilon);
      const Curve found = solved_curve(JudgedCell(cell, runs));
      panel.series.push_back({.label = v.name, .style = k, .x = found.x, .y = found.y});
      const double slope = found.slope();
      ++all;
      near += std::abs(slope - predicted) <= slope_tolerance;
      row.cells.push_back(plots::text_cell(fmt::format("{:+.3f}", predicted)));
      row.cells.push_back(plots::text_cell(fmt::format("{:+.3f}", slope)));
    };
    solved(small_epsilon, v.private_exponent, small);
    const auto measured = std::ranges::find_if(slopes, [&](const Slope& s) {
      return (s.arm == v.name || (v.name == "V4" && s.arm == "adaptive batches")) &&
             s.request.metric == compared_metric;
    });
    plots::Cell c = plots::text_cell("–");
    if (measured != slopes.end()) {
      c = plots::text_cell(measured->fit ? to_text(*measured->fit) : measured->verdict.reason);
      if (measured->request.claimed) c.labels.push_back(verdict_label(measured->verdict));
    }
    row.cells.push_back(std::move(c));
    solved(no_privacy, v.statistical_exponent, large);
    t.add(std::move(row));
  }

  plots::Panel left{.title = "escapes that leave",
                    .x = {.label = "curvature λ/√(ρα)", .scale = plots::Scale::log},
                    .y = {.label = "share of seeds", .range = {{-0.05, 1.05}}}};
  plots::Panel fall{.title = "mean change of F", .x = left.x, .y = {.label = "ΔF √ρ/α^{3/2}"}};
  for (std::size_t k = 0; k < std::size(escape_curves); ++k) {
    const auto cells = escape_series(escape_curves[k], study);
    const auto shown = [&](const Number& number) {
      return probe_curve(runs, cells, "curvature", number, escape_curves[k].label, 7 + k);
    };
    plots::Series share = shown(number_of(&Escapes::Result::left)),
                  change = shown(number_of(&Escapes::Result::change));
    const Curve unit =
        curve_of(runs, cells, "curvature", number_of(&Escapes::Result::unit_decrease));
    for (double& y : share.y) y /= escape_seeds(study);
    for (std::size_t j = 0; j < change.y.size(); ++j) change.y[j] /= unit.y[j];
    // Steep saddles fall by far more than the guarantee and would hide it.
    for (std::size_t j = 0; j < change.x.size(); ++j)
      if (change.x[j] > 1) change.y[j] = std::numeric_limits<double>::quiet_NaN();
    left.series.push_back(std::move(share));
    fall.series.push_back(std::move(change));
  }
  f.panels = {small, large, left, fall};
  e.tables.push_back(std::move(t));
  e.tables.push_back(slopes_table(slopes, "slopes", "Measured slopes, private part"));
  e.tables.push_back(cells_table(runs, sweep, part_of(sweep, "n"), "cells"));
  e.figures.push_back(std::move(f));
  const auto measured = [&](Headline headline) {
    return std::ranges::count_if(slopes, [&](const Slope& s) {
      return is_rate(s.request) && headline_of(s.verdict) == headline;
    });
  };
  e.verdict = {fmt::format("of the variants measured {} are as predicted and {} keep the bound; {} "
                           "of {} solved exponents are within 0.05 of the prediction",
                           measured(Headline::confirmed), measured(Headline::bound_met), near, all),
               near == all ? plots::Tone::good : plots::Tone::caution};
  return e;
}

// --------------------------------------------------------------------------------------- claims

constexpr std::string_view claim_prefix = "liu-talwar-2025/";

const std::vector<Claim>& own_claims() {
  static const std::vector<Claim> all =
      parse_claims(liu_talwar_2025_texts().claims, "liu-talwar-2025/claims.toml");
  return all;
}

/// In the order of the claims.
std::vector<Predicate> own_predicates() {
  const auto all = liu_talwar_2025_predicates();
  std::vector<Predicate> own;
  for (const Claim& c : own_claims())
    if (const auto found = std::ranges::find(all, c.id, &Predicate::claim); found != all.end())
      own.push_back(*found);
  return own;
}

std::vector<Job> claims_jobs(const Study& study) {
  std::vector<Job> jobs;
  for (const Predicate& p : own_predicates()) add(jobs, jobs_of(p, study));
  return jobs;
}

plots::Figure claims_figure(const Runs& runs, const Study& study) {
  plots::Figure f;
  f.id = "lemmas";
  const auto panel = [](std::string title, std::string x, std::string y) {
    return plots::Panel{.title = std::move(title),
                        .x = {.label = std::move(x), .scale = plots::Scale::log},
                        .y = {.label = std::move(y), .scale = plots::Scale::log}};
  };
  plots::Panel tree = panel("Theorem 2.2: tree noise", "leaves Σ", "largest norm / σ√d");
  const auto noise = probe_curve(runs, tree_noise(study), "leaves",
                                 number_of(&TreeNoise::Result::mean_largest), "measured", 0);
  plots::Series levels = dashed(noise, "√log_{2} Σ", 12);
  for (std::size_t k = 0; k < levels.x.size(); ++k) levels.y[k] = std::sqrt(std::log2(levels.x[k]));
  tree.series = {noise, levels};

  plots::Panel batch =
      panel("Lemma 3.11: batches", "records in the batch", "95 % quantile of error");
  for (std::size_t oracle = 0; oracle < 4; ++oracle) {
    plots::Series s = probe_curve(runs, oracle_errors_by_batch(study), "batch", quantile_of(oracle),
                                  fmt::format("O{}", oracle + 1), 1 + oracle);
    if (oracle == 0) batch.series.push_back(guide(s, -0.5, "exponent -1/2", 13));
    batch.series.push_back(std::move(s));
  }

  const std::vector<JobCell> by_alpha = escapes_by_alpha(study);
  plots::Panel steps = panel("Theorem 3.4: steps to leave", "α (F/X)", "steps");
  const auto taken =
      probe_curve(runs, by_alpha, "alpha", number_of(&Escapes::Result::steps), "measured", 0);
  steps.series = {taken, dashed(probe_curve(runs, by_alpha, "alpha",
                                            number_of(&Escapes::Result::allowed_steps), "", 0),
                                "Γ of the schedule", 11)};
  plots::Panel drop = panel("Theorem 3.4: decrease", "α (F/X)", "-ΔF (F)");
  auto fallen =
      probe_curve(runs, by_alpha, "alpha", number_of(&Escapes::Result::change), "measured", 0);
  for (double& y : fallen.y) y = y < 0 ? -y : std::numeric_limits<double>::quiet_NaN();
  drop.series = {fallen};
  if (std::isfinite(fallen.y.front()))
    drop.series.push_back(guide(fallen, 1.5, "exponent 3/2", 10));

  plots::Panel ramp = panel("Proposition 3.10: ramp of slope 4γ", "γ (F/X)", "steps");
  const auto walked = probe_curve(runs, ramp_steps_by_gamma(study), "gamma",
                                  number_of(&RampSteps::Result::steps), "measured", 0);
  ramp.series = {walked, guide(walked, -2, "exponent -2", 9)};
  plots::Panel gap = panel("Theorem C.1: uniform gap", "records n", "largest gradient gap (F/X)");
  const auto gaps = probe_curve(runs, uniform_gap_by_records(study), "records",
                                number_of(&UniformGap::Result::gap), "measured", 0);
  gap.series = {gaps, guide(gaps, -0.5, "exponent -1/2", 13)};
  f.panels = {tree, batch, steps, drop, ramp, gap};
  return f;
}

plots::Exhibit claims_exhibit(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  plots::Table t;
  t.id = "claims";
  t.row_header = "claim";
  t.column_groups.push_back({"", {"place", "our reading", "holds if", "measured", "verdict"}});
  std::map<Headline, int> counts;
  int others = 0;
  for (const Predicate& p : own_predicates()) {
    const auto claim = std::ranges::find(own_claims(), p.claim, &Claim::id);
    const Finding found = judge(p, runs, study);
    const Headline headline = headline_of(*claim, found.verdict);
    if (claim->of == ClaimOf::paper)
      ++counts[headline];
    else
      ++others;
    plots::Row row{.label = p.claim.substr(claim_prefix.size())};
    row.cells = {plots::text_cell(claim->place), plots::text_cell(claim->reading),
                 plots::text_cell(claim->holds_if), plots::text_cell(found.measured),
                 plots::text_cell(found.reason)};
    row.cells.back().labels.push_back(headline_label(headline));
    t.add(std::move(row));
  }
  e.tables.push_back(std::move(t));
  e.figures.push_back(claims_figure(runs, study));
  std::vector<std::string> words;
  for (const auto& [headline, count] : counts)
    words.push_back(fmt::format("{} {}", count, to_string(headline)));
  e.verdict = {fmt::format("of the printed statements {}; and {} of this suite or of cited work",
                           fmt::join(words, "; "), others),
               plots::Tone::neutral};
  return e;
}

}  // namespace

std::vector<ExhibitEntry> liu_talwar_2025_exhibits() {
  const Texts& texts = liu_talwar_2025_texts();
  return {exhibit_entry(texts, "liu-talwar-2025/rates", rates_jobs, rates),
          exhibit_entry(texts, "liu-talwar-2025/ablation", ablation_jobs, ablation),
          exhibit_entry(texts, "liu-talwar-2025/claims", claims_jobs, claims_exhibit)};
}

}  // namespace dpsosp
