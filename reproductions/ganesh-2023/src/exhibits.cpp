// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

constexpr const char* excess_sweep = "ganesh-2023-excess-risk";

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
  f.columns = 1;
  f.panels.push_back(std::move(p));
  return f;
}

/// The printed table of that number; the page of Table 1 shows the excess risk too.
ExhibitEntry entry(int number) {
  const PrintedTable table = printed_table_of(ganesh_2023_texts(), fmt::format("Table {}", number));
  return exhibit_entry(
      ganesh_2023_texts(), fmt::format("ganesh-2023/table-{}", number),
      [table](const Study& study) { return printed_table_jobs(table, study); },
      [table, number](const Runs& runs, const Study& study) {
        plots::Exhibit e = printed_table_exhibit(runs, study, table, ganesh_2023_texts());
        if (number == 1) e.figures.push_back(risk_figure(runs, study));
        return e;
      });
}

}  // namespace

std::vector<ExhibitEntry> ganesh_2023_exhibits() { return {entry(1), entry(2), entry(3)}; }

}  // namespace dpsosp
