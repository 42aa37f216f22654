// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/reproductions/tracked_descent.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

constexpr const char* rates_sweep = "tracked-descent-rates";
constexpr const char* ablation_sweep = "tracked-descent-ablation";

std::vector<Job> rates_jobs(const Study& study) { return jobs_of(study.sweep(rates_sweep)); }

/// What a cell of the method's own schedule says of its floor and of its bound.
plots::Row bound_row(const Runs& runs, const Cell& cell, int& covered, int& all) {
  std::vector<double> over_floor, over_gradient;
  int here = 0;
  for (const Job& job : cell.runs) {
    const RunResult* r = runs.result(job);
    if (r == nullptr) continue;
    const double clip = metric_of(*r, "parameters.clip").value();
    const double bound = 1e-6 * clip * metric_of(*r, "counts.bound_per_million").value();
    const double gradient = metric_of(*r, "output.gradient_norm").value();
    over_floor.push_back(metric_of(*r, "output.sosp_level").value() /
                         metric_of(*r, "schedule.alpha").value());
    over_gradient.push_back(bound / gradient);
    here += gradient <= bound;
  }
  covered += here;
  all += static_cast<int>(over_floor.size());
  return {.label = to_text(cell.at),
          .cells = {plots::spread_cell(over_floor),
                    plots::text_cell(fmt::format("{} of {}", here, over_floor.size())),
                    plots::spread_cell(over_gradient)}};
}

plots::Exhibit rates(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(rates_sweep);
  const std::vector<Slope> slopes = slopes_of(runs, sweep);
  plots::Table bounds;
  bounds.id = "bound";
  bounds.row_header = "cell";
  bounds.column_groups.push_back({"", {"level over f", "covered", "loose"}});
  int covered = 0, all = 0;
  plots::Exhibit e;
  e.tables.push_back(slopes_table(slopes, "slopes", sweep.title));
  for (const Part& part : sweep.parts) {
    plots::RowGroup group{.label = fmt::format("against {}", axis_symbol(part.fits.front()))};
    for (const Cell& cell : cells_of(sweep, part))
      if (cell.arm == 0) group.rows.push_back(bound_row(runs, cell, covered, all));
    bounds.row_groups.push_back(std::move(group));
    e.tables.push_back(cells_table(runs, sweep, part, fmt::format("cells-{}", part.name)));
  }
  e.tables.push_back(std::move(bounds));
  e.figures.push_back(slopes_figure(runs, sweep, "levels", "Levels of tracked descent"));
  const auto as_sketched = std::ranges::count_if(
      slopes, [](const Slope& s) { return headline_of(s.verdict) == Headline::confirmed; });
  e.verdict = {fmt::format("{} of {} exponents are those of the sketch; {} of {} bounds cover",
                           as_sketched, slopes.size(), covered, all),
               plots::Tone::neutral};
  return e;
}

std::vector<Job> ablation_jobs(const Study& study) { return jobs_of(study.sweep(ablation_sweep)); }

/// In the order of the sweep's parts and of their cells.
constexpr std::array<std::string_view, 11> variants{"tracked descent",
                                                    "gain 1, the last point of noisy descent",
                                                    "gain 1/10",
                                                    "gain 1/100",
                                                    "gains of SPIDER, period 10",
                                                    "gains of SPIDER, period 100",
                                                    "without gears",
                                                    "scalar, without gears",
                                                    "last point",
                                                    "noisy descent, average of the last 90 %",
                                                    "DP-SPIDER, its schedule"};
constexpr std::size_t first_gain = 1, last_gain = 5, averaged = 9;

plots::Exhibit ablation(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(ablation_sweep);
  const std::size_t problems = sweep.parts.front().arms.size();
  std::vector<plots::Row> rows;
  std::vector<std::vector<double>> medians;  // [row][problem]
  for (const Part& part : sweep.parts) {
    const std::vector<Cell> cells = cells_of(sweep, part);
    const std::size_t points = cells.size() / problems;
    for (std::size_t k = 0; k < points; ++k) {
      plots::Row row;
      medians.emplace_back();
      for (std::size_t problem = 0; problem < problems; ++problem) {
        const CellMetric level = measure(runs, cells[problem * points + k], sweep.metric);
        row.cells.push_back(spread_cell(level));
        medians.back().push_back(median(level.values));
      }
      row.label = variants.at(rows.size());
      rows.push_back(std::move(row));
    }
  }
  int ahead = 0, compared = 0;
  for (std::size_t k = first_gain; k <= last_gain; ++k)
    for (std::size_t problem = 0; problem < problems; ++problem, ++compared)
      ahead += medians[0][problem] < medians[k][problem];
  plots::Table t;
  t.id = "variants";
  t.row_header = "variant";
  t.column_groups.push_back({"sosp_level", {}});
  for (const std::size_t arm : sweep.parts.front().arms)
    t.column_groups.back().columns.push_back(sweep.arms[arm].name);
  t.row_groups.push_back({.rows = std::move(rows)});
  plots::Exhibit e;
  e.tables.push_back(std::move(t));
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t problem = 0; problem < problems; ++problem) {
    const double ratio = medians[averaged][problem] / medians[0][problem];
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  e.verdict = {fmt::format("the optimal gain has a smaller median than another gain in {} of {} "
                           "comparisons; noisy descent averaged has {:.2f} to {:.2f} times its",
                           ahead, compared, least, most),
               plots::Tone::neutral};
  return e;
}

}  // namespace

Reproduction tracked_descent_reproduction() {
  const Texts& texts = tracked_descent_texts();
  return {.texts = texts,
          .exhibits = {exhibit_entry(texts, "tracked-descent/rates", rates_jobs, rates),
                       exhibit_entry(texts, "tracked-descent/ablation", ablation_jobs, ablation)}};
}

}  // namespace dpsosp
