// SPDX-License-Identifier: Apache-2.0
#include "sample_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpsosp::plots {
namespace {

constexpr std::size_t steps = 400;

struct Method {
  const char* name;
  double phi;  // at the end, published or invented
  double gradient;
  double lambda;
};

constexpr Method methods[] = {
    {"DP-RGDA", 0.9119, 0.4251, -4.8504e-2},
    {"Sto-SPIDER", 13.7046, 3.4505, -2.1862e-1},
    {"Ada-DP-SPIDER", 8.0751, 2.2753, -1.4378e-1},
    {"PrivateDiff", 0.6546, 0.3344, -4.3622e-2},
    {"DP-SGDA", 2.31, 0.91, -0.081},
    {"x_{0}", 0.0014, 0.0010, -0.0018},
    {"x = 0", 0.0013, 0, -0.0021},
    {"DP-RGDA, ε = ∞", 0.43, 0.12, -0.02},
    {"noise only", 1.29, 0.55, -0.062},
};

Spread around(double value, double width, Index failed = 0) {
  const double a = value * (1 - width);
  const double b = value * (1 + 1.6 * width);
  return {.median = value,
          .low = std::min(a, b),
          .high = std::max(a, b),
          .count = 20,
          .failed = failed,
          .failure = failed > 0 ? "not_finite" : "",
          .format = {.digits = 3}};
}

std::vector<Cell> measured(double value, bool published, bool control) {
  std::vector<Cell> cells(4);
  if (published)
    cells[0].content = Number{value, {.digits = 5, .scientific = std::abs(value) < 0.3}};
  cells[1].content = around(1.4 * value, 0.4, published && value > 5 ? 2 : 0);
  if (!control) cells[2].content = around(6 * value, 0.5);
  cells[3].content = around(0.01 * value, 0.2);
  cells[3].strong = published && std::abs(value) < 0.7;
  if (published && value > 13)
    cells[2] = {.content = Spread{.count = 20, .failed = 20, .failure = "not_finite"},
                .footnotes = {0}};
  return cells;
}

Series curve(const Method& method, std::size_t style, double end, double power, double sign) {
  Series s{.label = method.name, .style = style};
  for (std::size_t t = 0; t < steps; ++t) {
    const auto time = static_cast<double>(t);
    const double wave = 1 + 0.06 * std::sin(0.11 * time + static_cast<double>(style));
    const double value = end * std::pow((time + 4) / 403, power) * wave;
    const double width = 1.15 + 0.9 * time / 400;
    s.x.push_back(time);
    s.y.push_back(value);
    s.low.push_back(sign > 0 ? value / width : value * width);
    s.high.push_back(sign > 0 ? value * width : value / width);
  }
  return s;
}

}  // namespace

Table sample_table() {
  Table table{
      .id = "table-2",
      .title = "Table 2.",
      .caption =
          "Values at t = 399: the published single run beside the median [min, max] of 20 "
          "seeds in three settings.",
      .row_header = "Method",
      .column_groups = {},
      .row_groups = {{.label = "Methods"}, {.label = "Controls"}},
      .footnotes = {"Every run met a value that is not finite before t = 399."},
      .notes = {"A published value is one run with seed 0. ‖∇Φ(x_{t})‖ is exact, λ_{min} by "
                "Lanczos with residual below 10^{−8}."},
  };
  for (const char* label : {"Φ", "‖∇Φ‖", "λ_{min}"})
    table.column_groups.push_back(
        {.label = label, .columns = {"published", "as-published", "ledgered", "where-it-works"}});
  table.column_groups.push_back({.label = "Labels", .columns = {"privacy", "utility"}});
  for (std::size_t k = 0; k < std::size(methods); ++k) {
    const Method& m = methods[k];
    const bool published = k < 4;
    const bool control = k > 4;
    Row row{.label = m.name};
    for (const double value : {m.phi, m.gradient, m.lambda})
      for (Cell& cell : measured(value, published, control)) row.cells.push_back(std::move(cell));
    row.cells.push_back({.labels = {k == 0  ? Label{"violated", Tone::bad}
                                    : k < 5 ? Label{"enforced", Tone::good}
                                            : Label{"none", Tone::neutral}}});
    row.cells.push_back({.labels = {k == 3 ? Label{"heuristic", Tone::caution}
                                           : Label{"outside-theory", Tone::neutral}}});
    table.row_groups[control ? 1 : 0].rows.push_back(std::move(row));
  }
  return table;
}

Figure sample_figure(const std::string& id, double growth) {
  Figure figure{
      .id = id,
      .title = "Figure 1, " + id.substr(id.rfind('-') + 1) + ".",
      .caption =
          "Median over 20 seeds, band from smallest to largest; ringed points are the "
          "published values at t = 399.",
      .alternative =
          "Three panels over the iterations 0 to 399: Φ, the norm of its gradient and "
          "the smallest eigenvalue grow in size for all five methods.",
  };
  Panel phi{.title = "(a) Φ(x_{t})",
            .x = {.label = "iteration t"},
            .y = {.label = "Φ", .scale = Scale::log}};
  Panel gradient{.title = "(b) ‖∇Φ(x_{t})‖",
                 .x = {.label = "iteration t"},
                 .y = {.label = "gradient norm", .scale = Scale::log}};
  Panel lambda{.title = "(c) λ_{min}(x_{t})",
               .x = {.label = "iteration t"},
               .y = {.label = "λ_{min}"},
               .lines = {{.label = "α-SOSP: λ_{min} = −(ρα)^{1/2}", .value = -0.05}}};
  for (std::size_t k = 0; k < 5; ++k) {
    const Method& m = methods[k];
    phi.series.push_back(curve(m, k, growth * m.phi, 1.9, 1));
    gradient.series.push_back(curve(m, k, growth * m.gradient, 1.4, 1));
    lambda.series.push_back(curve(m, k, growth * m.lambda, 1, -1));
    if (k == 4) continue;
    phi.markers.push_back({.label = "published", .style = k, .x = 399, .y = m.phi});
    gradient.markers.push_back({.label = "published", .style = k, .x = 399, .y = m.gradient});
    lambda.markers.push_back({.label = "published", .style = k, .x = 399, .y = m.lambda});
  }
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t t = 260; t < steps; ++t) phi.series[4].y[t] = gap;
  figure.panels = {phi, gradient, lambda};
  return figure;
}

}  // namespace dpsosp::plots
