// SPDX-License-Identifier: Apache-2.0
#include "matrix_sensing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "cells.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/study.hpp"
#include "findings.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace dpsosp {

using namespace xu_2026_exhibit;

namespace {

constexpr std::array controls{Control::none, Control::no_noise, Control::no_data, Control::swapped};

/// Median and range over seeds of one column of the traces. A run that ended earlier stays where it
/// ended.
plots::Series curve(const CellRuns& c, double TraceRow::*column) {
  plots::Series s;
  if (c.finished.empty()) return s;
  const auto longest = std::ranges::max_element(
      c.finished, {}, [](const RunResult* r) { return r->algorithm.steps; });
  for (const TraceRow& row : (*longest)->trace.value()) {
    const auto t = static_cast<double>(row.t);
    std::vector<double> values;
    for (const RunResult* r : c.finished) values.push_back(seen_at(*r, t, column));
    s.x.push_back(t);
    s.low.push_back(std::ranges::min(values));
    s.high.push_back(std::ranges::max(values));
    s.y.push_back(median(std::move(values)));
  }
  return s;
}

plots::Figure figure_of(const Runs& runs, Setting setting, const Study& study) {
  plots::Figure f;
  f.id = fmt::format("figure-1-{}", to_string(setting));
  f.title = fmt::format("Figure 1, {}", to_string(setting));
  f.caption = fmt::format(
      "{}: (a) Φ, (b) gradient norm and (c) smallest Hessian eigenvalue along the run. Lines are "
      "medians over seeds, bands run from the smallest to the largest seed{}. (a) is on a log axis "
      "here so that all methods can be read.",
      to_string(setting),
      setting == Setting::as_published ? ", ringed points are the published values at t = 399"
      : setting == Setting::where_it_works && study.scale == Scale::quick
          ? fmt::format(", over {} seeds of repaired DP-RGDA and {} of the others",
                        seeds(setting, Control::none, repaired_rgda(), study),
                        seeds(setting, Control::none, printed_rgda(), study))
          : "");
  const std::array<std::string, 3> axis_labels{"Φ(x_{t})", "‖∇Φ(x_{t})‖", "λ_{min}(x_{t})"};
  constexpr std::array columns{&TraceRow::value, &TraceRow::gradient_norm, &TraceRow::lambda_min};
  const std::array<std::string, 3> titles{"(a) value", "(b) gradient norm", "(c) curvature"};
  for (std::size_t k = 0; k < 3; ++k) {
    plots::Panel p;
    p.title = titles[k];
    p.x.label = "iteration t";
    p.y.label = axis_labels[k];
    if (k < 2) p.y.scale = plots::Scale::log;
    for (std::size_t m = 0; m < methods().size(); ++m) {
      const Method& method = methods()[m];
      if (!is_run(setting, Control::none, method) || method.clips_batch_mean) continue;
      const CellRuns c = cell(runs, method, setting, Control::none, study);
      plots::Series s = curve(c, columns[k]);
      s.label = method.label;
      s.style = m;
      s.dashed = method.algorithm.starts_with("reference/");
      p.series.push_back(std::move(s));
      if (setting == Setting::as_published && method.published) {
        const std::array<double, 3> published{
            method.published->value, method.published->gradient_norm, method.published->lambda_min};
        p.markers.push_back({"published, t = 399", m, 399.0, published[k]});
      }
    }
    f.panels.push_back(std::move(p));
  }
  return f;
}

}  // namespace

std::vector<Job> xu_2026_jobs(const Study& study) {
  std::vector<Job> jobs;
  for (const Setting setting : settings)
    for (const Method& m : methods())
      for (const Control control : controls)
        for (const RunDescription& run : runs_of(m, setting, control, study))
          jobs.emplace_back(run);
  return jobs;
}

plots::Exhibit xu_2026_table_2(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  e.verdict = verdict(runs, study);
  e.differences = table_findings(runs, study);
  e.tables = {main_table(runs, study), privacy_table(runs, study), swap_table(runs, study),
              fingerprint_table(runs, study)};
  return e;
}

plots::Exhibit xu_2026_figure_1(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  e.verdict = verdict(runs, study);
  e.differences = figure_findings(runs, study);
  for (const Setting s : settings) e.figures.push_back(figure_of(runs, s, study));
  return e;
}

}  // namespace dpsosp
