// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

constexpr const char* paper = "Ganesh, Liu, Oh, Thakurta 2023";
constexpr const char* excess_sweep = "ganesh-2023-excess-risk";

template <int K>
const PrintedTable& table() {
  static const PrintedTable t = printed_table_of(ganesh_2023_texts(), fmt::format("Table {}", K));
  return t;
}

template <int K>
std::vector<nlohmann::json> jobs(const Study& study) {
  return printed_table_jobs(table<K>(), study);
}

template <int K>
plots::Exhibit printed(const Runs& runs, const Study& study) {
  return printed_table_exhibit(
      runs, study, table<K>(), fmt::format("ganesh-2023-table-{}", K), paper);
}

/// Excess population risk of the three mechanisms in one dimension, where all of them can be run,
/// and the printed rates with all constants and G D at 1.
plots::Figure risk_figure(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(excess_sweep);
  plots::Panel p;
  p.x = {.label = "records n", .scale = plots::Scale::log};
  p.y = {.label = "excess population risk", .scale = plots::Scale::log};
  std::vector<double> n;
  for (const Part& part : sweep.parts) {
    if (part.name != "one-dimension") continue;
    for (const std::size_t arm : part.arms) {
      plots::Series s{.label = sweep.arms[arm].name, .style = p.series.size()};
      for (const Cell& c : cells_of(sweep, part)) {
        const CellMetric m = measure(runs, c, "population.output.excess_risk");
        if (c.arm != arm || m.values.empty()) continue;
        double sum = 0;
        for (const double v : m.values) sum += v;
        s.x.push_back(coordinate(c.at, "records").value());
        s.y.push_back(sum / static_cast<double>(m.values.size()));
      }
      if (s.x.size() > n.size()) n = s.x;
      p.series.push_back(std::move(s));
    }
  }
  const auto curve = [&](const char* label, auto&& rate) {
    plots::Series s{.label = label, .style = p.series.size(), .dashed = true};
    for (const double x : n) {
      s.x.push_back(x);
      s.y.push_back(rate(x));
    }
    p.series.push_back(std::move(s));
  };
  curve("d/(ε² ln n)", [](double x) { return 1.0 / std::log(x); });
  curve("d ln ln n/(ε ln n)", [](double x) { return std::log(std::log(x)) / std::log(x); });
  curve("lower bound d/(nε) + √(d/n)", [](double x) { return 1.0 / x + std::sqrt(1.0 / x); });
  plots::Figure f;
  f.id = "excess-risk";
  f.title = "Excess population risk on ripple-location, d = 1, ε = 1";
  f.caption =
      "Means over seeds. Dashed: the printed rates with all constants 1. The lower bound is that "
      "of "
      "the worst distribution; a smooth well may lie below it.";
  f.columns = 1;
  f.panels.push_back(std::move(p));
  return f;
}

plots::Exhibit table_1(const Runs& runs, const Study& study) {
  plots::Exhibit e = printed<1>(runs, study);
  e.paper_says = {
      "Table 1: α of second-order stationary points and excess risk, state of the art, the paper's "
      "own rates and lower bounds; logarithms omitted."};
  e.differences = {
      "Second-order methods run on quartic-saddle from half a unit beside its saddle, since its "
      "constants do not depend on d; the population's records are simulated and read once.",
      "The private part of the population rate is measured at epsilon = 1e-3, the statistical part "
      "at epsilon = 64; at moderate epsilon neither leads over two decades.",
      "The exponential mechanism is drawn by rejection, which is exact: at the printed inverse "
      "temperature the alternating sampler would need far more rounds for the same law."};
  e.figures.push_back(risk_figure(runs, study));
  return e;
}

plots::Exhibit table_2(const Runs& runs, const Study& study) {
  plots::Exhibit e = printed<2>(runs, study);
  e.paper_says = {
      "Table 2: first-order stationary points, empirical and population, as powers of n and d; no "
      "epsilon is printed."};
  e.differences = {
      "The gradient norm is the mean over the iterates, which is that of a uniformly random "
      "output; population columns take the gradient at one output.",
      "RRPSGD takes n² steps on single records and is measured at n up to 2000 with epsilon = 8; "
      "at the reference point it takes full batches."};
  return e;
}

plots::Exhibit table_3(const Runs& runs, const Study& study) {
  plots::Exhibit e = printed<3>(runs, study);
  e.paper_says = {
      "Table 3: second-order stationary points, empirical and population, as powers of n and d; no "
      "epsilon is printed."};
  e.differences = {
      "The levels of the baselines are those of their one output, that of Stochastic Spider the "
      "least among its iterates, as each of them claims; the level of its selected output stands "
      "beside it."};
  return e;
}

}  // namespace

std::vector<ExhibitEntry> ganesh_2023_exhibits() {
  return {
      {"ganesh-2023/table-1",
       "Table 1: second-order points and excess risk",
       paper,
       jobs<1>,
       table_1},
      {"ganesh-2023/table-2", "Table 2: first-order points", paper, jobs<2>, table_2},
      {"ganesh-2023/table-3", "Table 3: second-order points", paper, jobs<3>, table_3},
  };
}

}  // namespace dpsosp
