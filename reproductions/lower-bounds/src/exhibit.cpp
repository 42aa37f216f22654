// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/lower_bounds.hpp"
#include "dpsosp/lemmas/lower_bounds/bounds.hpp"
#include "dpsosp/lemmas/lower_bounds/probe.hpp"
#include "dpsosp/reproductions/lower_bounds.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace lower_bounds;

/// Where the bounds for d > 1 are compared with the rate.
constexpr std::array many_records{1e3, 1e5, 1e7};
constexpr std::array dimensions{1.0, 10.0, 100.0, 1000.0, 10000.0};

Job minimax_job(const Study& study, int records, double epsilon) {
  return study.probe(Minimax{.records = records, .epsilon = epsilon, .delta = small_delta});
}

double minimax_norm(const Runs& runs, const Study& study, int records, double epsilon) {
  return read_result<Minimax>(runs.at(minimax_job(study, records, epsilon)).result).gradient_norm;
}

std::vector<Job> jobs(const Study& study) {
  std::vector<Job> list;
  for (const double epsilon : epsilons)
    for (const int n : record_counts) list.push_back(minimax_job(study, n, epsilon));
  return list;
}

plots::Table exact_table(const Runs& runs, const Study& study) {
  plots::Table t{.id = "exact", .row_header = "n"};
  for (const double epsilon : epsilons)
    t.column_groups.push_back(
        {fmt::format("ε = {:g}", epsilon),
         {"least worst-case norm", "times n ε", "two points, times n ε", "tracing, times n ε"}});
  for (const int n : record_counts) {
    plots::Row row{.label = std::to_string(n)};
    for (const double epsilon : epsilons) {
      const double exact = minimax_norm(runs, study, n, epsilon);
      row.cells.push_back(plots::number_cell(exact, 4));
      for (const double bound : {exact, two_point_bound(n, epsilon, small_delta),
                                 tracing_bound(n, 1, epsilon, small_delta)})
        row.cells.push_back(plots::number_cell(bound / rate(n, 1, epsilon)));
    }
    t.add(std::move(row));
  }
  return t;
}

plots::Table dimension_table() {
  plots::Table t{.id = "dimensions", .row_header = "d"};
  for (const double n : many_records)
    t.column_groups.push_back({fmt::format("n = {:g}", n), {"lower bound", "noisy mean"}});
  for (const double d : dimensions) {
    plots::Row row{.label = fmt::format("{:g}", d)};
    for (const double n : many_records) {
      row.cells.push_back(
          plots::number_cell(empirical_bound(n, d, 1, 1 / (n * n)) / rate(n, d, 1)));
      row.cells.push_back(plots::number_cell(noisy_mean(n, d, 1, 1 / (n * n)) / rate(n, d, 1)));
    }
    t.add(std::move(row));
  }
  return t;
}

plots::Figure figure(const Runs& runs, const Study& study) {
  plots::Figure f{.id = "stationarity", .columns = 2};
  plots::Panel one{.title = "d = 1, ε = 1",
                   .x = {.label = "n", .scale = plots::Scale::log},
                   .y = {.label = "gradient norm / G", .scale = plots::Scale::log}};
  plots::Series exact{.label = "exact", .style = 0}, two{.label = "two points", .style = 1},
      mean{.label = "noisy mean", .style = 2};
  for (const int n : record_counts) {
    for (plots::Series* s : {&exact, &two, &mean}) s->x.push_back(n);
    exact.y.push_back(minimax_norm(runs, study, n, 1));
    two.y.push_back(two_point_bound(n, 1, small_delta));
    mean.y.push_back(noisy_mean(n, 1, 1, small_delta));
  }
  one.series = {exact, two, mean};
  constexpr double records = 1e6;
  plots::Panel many{.title = "n = 10⁶, ε = 1",
                    .x = {.label = "d", .scale = plots::Scale::log},
                    .y = {.label = "gradient norm / G", .scale = plots::Scale::log}};
  plots::Series bound{.label = "lower bound", .style = 3}, above{.label = "noisy mean", .style = 2};
  for (const double d : log_grid(1, 1e4, 17)) {
    bound.x.push_back(d);
    above.x.push_back(d);
    bound.y.push_back(empirical_bound(records, d, 1, 1 / (records * records)));
    above.y.push_back(noisy_mean(records, d, 1, 1 / (records * records)));
  }
  many.series = {bound, above};
  f.panels = {one, many};
  return f;
}

plots::Exhibit render(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  e.tables = {exact_table(runs, study), dimension_table()};
  e.figures = {figure(runs, study)};
  e.verdict = {"the published lower bounds hold with explicit constants", plots::Tone::good};
  return e;
}

}  // namespace

Reproduction lower_bounds_reproduction() {
  return {
      .texts = lower_bounds_texts(),
      .probes = lower_bounds_probes(),
      .predicates = lower_bounds_predicates(),
      .exhibits = {exhibit_entry(lower_bounds_texts(), "lower-bounds/stationarity", jobs, render)}};
}

}  // namespace dpsosp
