// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bounds.hpp"
#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/reproductions/lower_bounds.hpp"
#include "minimax.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace lower_bounds;

constexpr double small_delta = 1e-6;
constexpr std::array epsilons{0.25, 0.5, 1.0};
constexpr std::array record_counts{4, 8, 16, 32, 64};

/// Where the bounds for d > 1 are compared with the rate.
constexpr std::array many_records{1e3, 1e5, 1e7};
constexpr std::array dimensions{1.0, 10.0, 100.0, 1000.0, 10000.0};

struct Minimax {
  static constexpr ProbeName probe{"lower-bounds/minimax"};
  int records;
  double epsilon, delta;
  struct Result {
    double gradient_norm;
  };
};
DPSOSP_MEMBERS(Minimax, records, epsilon, delta);
DPSOSP_MEMBERS(Minimax::Result, gradient_norm);

Minimax::Result compute_minimax(const Minimax& p, std::uint64_t) {
  return {.gradient_norm = exact_minimax(p.records, p.epsilon, p.delta)};
}

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

double rate(double n, double d, double epsilon) { return std::sqrt(d) / (n * epsilon); }

plots::Table exact_table(const Runs& runs, const Study& study) {
  plots::Table t{.id = "exact", .row_header = "n"};
  for (const double epsilon : epsilons)
    t.column_groups.push_back(
        {fmt::format("ε = {:g}", epsilon),
         {"least worst-case norm", "times n ε", "two points, times n ε", "tracing, times n ε"}});
  plots::RowGroup group;
  for (const int n : record_counts) {
    plots::Row row{.label = std::to_string(n)};
    for (const double epsilon : epsilons) {
      const double exact = minimax_norm(runs, study, n, epsilon);
      row.cells.push_back(plots::number_cell(exact, 4));
      for (const double bound : {exact, two_point_bound(n, epsilon, small_delta),
                                 tracing_bound(n, 1, epsilon, small_delta)})
        row.cells.push_back(plots::number_cell(bound / rate(n, 1, epsilon)));
    }
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table dimension_table() {
  plots::Table t{.id = "dimensions", .row_header = "d"};
  for (const double n : many_records)
    t.column_groups.push_back({fmt::format("n = {:g}", n), {"lower bound", "noisy mean"}});
  plots::RowGroup group;
  for (const double d : dimensions) {
    plots::Row row{.label = fmt::format("{:g}", d)};
    for (const double n : many_records) {
      row.cells.push_back(
          plots::number_cell(empirical_bound(n, d, 1, 1 / (n * n)) / rate(n, d, 1)));
      row.cells.push_back(plots::number_cell(noisy_mean(n, d, 1, 1 / (n * n)) / rate(n, d, 1)));
    }
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
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

std::vector<JobCell> minimax_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double epsilon : epsilons)
    for (const int n : record_counts)
      cells.push_back(probe_cell(study,
                                 Minimax{.records = n, .epsilon = epsilon, .delta = small_delta},
                                 {{"records", static_cast<double>(n)}, {"epsilon", epsilon}}));
  return cells;
}

/// The least constant over n from 1e3 to 1e9, d from 1 to 1e4, ε from 0.01 to 1, δ = 1/n².
double least(double (*constant)(double n, double d, double epsilon, double delta)) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const double n : log_grid(1e3, 1e9, 13))
    for (const double d : log_grid(1, 1e4, 17))
      for (const double epsilon : log_grid(0.01, 1, 9)) {
        if (rate(n, d, epsilon) > 0.1) continue;  // the bound is at most 1/2
        smallest = std::min(smallest, constant(n, d, epsilon, 1 / (n * n)));
      }
  return smallest;
}

double empirical_constant(double n, double d, double epsilon, double delta) {
  return empirical_bound(n, d, epsilon, delta) / rate(n, d, epsilon);
}

/// The constant of the larger of the two bounds; the one for sampling needs no privacy.
double population_constant(double n, double d, double epsilon, double delta) {
  return std::max(tracing_bound(n, d, epsilon, delta), statistical_bound(n)) /
         (1 / std::sqrt(n) + rate(n, d, epsilon));
}

struct ExactLaw {
  bool bounds_are_below = true;  ///< the derived bounds, at every n and ε
  double slope = 0;              ///< in n, of the two largest at ε = 1
};

ExactLaw exact_law(const Evidence& e) {
  ExactLaw law;
  std::vector<double> n, norm;
  for (const JudgedCell& cell : e.cells) {
    const double records = cell.number_at("records"), epsilon = cell.number_at("epsilon");
    const double exact = cell.numbers(&Minimax::Result::gradient_norm).front();
    law.bounds_are_below =
        law.bounds_are_below &&
        exact >= empirical_bound(records, 1, epsilon, small_delta) * (1 - rounding);
    if (epsilon == epsilons.back()) {
      n.push_back(records);
      norm.push_back(exact);
    }
  }
  law.slope = log_slope({n.end()[-2], n.back()}, {norm.end()[-2], norm.back()});
  return law;
}

bool all_solved(const Evidence& e) {
  return std::ranges::all_of(e.cells, &JudgedCell::all_finished);
}

Finding empirical(const Evidence& e) {
  if (!all_solved(e)) return nothing_ran();
  const ExactLaw law = exact_law(e);
  const double constant = least(empirical_constant);
  return finding(
      law.bounds_are_below && constant >= 0.02,
      fmt::format("at least {:.3f} sqrt(d)/(n eps) for n = 1e3 to 1e9, d = 1 to 1e4, eps = 0.01 to "
                  "1; exact at d = 1: n^{:.3f} from n = {} to {}",
                  constant, law.slope, record_counts.end()[-2], record_counts.back()),
      law.bounds_are_below ? "the constant is below 0.02"
                           : "a derived bound lies above the exact value");
}

Finding population(const Evidence&) {
  const double constant = least(population_constant);
  return finding(
      constant >= 0.02,
      fmt::format("at least {:.3f} (n^(-1/2) + sqrt(d)/(n eps)) for n = 1e3 to 1e9, d = 1 to 1e4, "
                  "eps = 0.01 to 1",
                  constant),
      "the constant is below 0.02");
}

Finding both(const Evidence& e) {
  Finding first = empirical(e);
  const Finding second = population(e);
  if (first.verdict != Verdict::holds) return first;
  if (second.verdict != Verdict::holds) return second;
  first.measured += "; population: " + second.measured;
  return first;
}

}  // namespace

Reproduction lower_bounds_reproduction() {
  return {
      .texts = lower_bounds_texts(),
      .probes = {probe_entry<compute_minimax>()},
      .predicates = {{"ganesh-2023/table-1-lower-bound-empirical", minimax_cells, empirical},
                     {"ganesh-2023/table-1-lower-bound-population",
                      [](const Study&) { return std::vector<JobCell>{}; }, population},
                     {"lowy-2024/lower-bound", minimax_cells, both}},
      .exhibits = {exhibit_entry(lower_bounds_texts(), "lower-bounds/stationarity", jobs, render)}};
}

}  // namespace dpsosp
