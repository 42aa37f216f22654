// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/figure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/markup.hpp"

namespace dpsosp::plots {
namespace {

void check_axis(const std::string& where, const Axis& axis) {
  if (!axis.range) return;
  const auto [low, high] = *axis.range;
  if (!(std::isfinite(low) && std::isfinite(high) && low < high))
    reject(where, "range", fmt::format("[{}, {}]", low, high),
           "two finite numbers, the smaller first");
  if (axis.scale == Scale::log && !(low > 0)) reject(where, "range", low, "> 0 on a log axis");
  if (!(high - low > 1e-9 * std::max(std::abs(low), std::abs(high))))
    reject(where, "range", fmt::format("[{}, {}]", low, high), "wider than rounding");
}

// What is drawn needs room above the values.
void check_value(const std::string& where, std::string_view name, double value, const Axis& axis) {
  if (!(std::abs(value) < 1e300)) reject(where, name, value, "a finite number below 1e300 in size");
  if (axis.scale == Scale::log && !(value > 1e-300))
    reject(where, name, value, "> 0 (and above 1e-300) on a log axis");
}

void check_length(const std::string& where, std::string_view name, std::size_t n, std::size_t x) {
  if (n != x)
    reject(where, fmt::format("length of {}", name), fmt::format("{}", n), fmt::format("{}", x));
}

void check_series(const std::string& where, const Series& s, const Panel& panel) {
  check_length(where, "y", s.y.size(), s.x.size());
  check_length(where, "high", s.high.size(), s.low.size());
  if (!s.low.empty()) check_length(where, "low", s.low.size(), s.x.size());
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    check_value(where, fmt::format("x[{}]", i), s.x[i], panel.x);
    if (!std::isnan(s.y[i])) check_value(where, fmt::format("y[{}]", i), s.y[i], panel.y);
    if (s.low.empty()) continue;
    if (!std::isnan(s.low[i])) check_value(where, fmt::format("low[{}]", i), s.low[i], panel.y);
    if (!std::isnan(s.high[i])) check_value(where, fmt::format("high[{}]", i), s.high[i], panel.y);
    if (s.low[i] > s.high[i])
      reject(where, fmt::format("low[{}]", i), s.low[i],
             fmt::format("at most high = {}", s.high[i]));
  }
}

void check_inside(const std::string& where, std::string_view name, double value, const Axis& axis) {
  check_value(where, name, value, axis);
  if (axis.range && !(axis.range->first <= value && value <= axis.range->second))
    reject(where, name, value, fmt::format("in [{}, {}]", axis.range->first, axis.range->second));
}

void check_panel(const std::string& where, const Panel& panel) {
  check_axis(where + ", x axis", panel.x);
  check_axis(where + ", y axis", panel.y);
  for (const Series& s : panel.series)
    check_series(fmt::format("{}, series '{}'", where, s.label), s, panel);
  for (const Marker& m : panel.markers) {
    const std::string in_marker = fmt::format("{}, marker '{}'", where, m.label);
    check_inside(in_marker, "x", m.x, panel.x);
    check_inside(in_marker, "y", m.y, panel.y);
  }
  for (const ReferenceLine& line : panel.lines) {
    const bool horizontal = line.direction == Direction::horizontal;
    check_inside(fmt::format("{}, line '{}'", where, line.label), "value", line.value,
                 horizontal ? panel.y : panel.x);
  }
}

// All panels share a legend, so a label must have one style and a style one label.
void check_labels(const std::string& where, const Figure& figure) {
  using Look = std::pair<std::size_t, bool>;
  std::map<std::string, Look> look_of;
  std::map<Look, std::string> label_of;
  for (const Panel& panel : figure.panels) {
    for (const Series& s : panel.series) {
      if (s.label.empty()) continue;
      const Look look{s.style, s.dashed};
      const auto [known, first] = look_of.emplace(s.label, look);
      if (!first && known->second != look)
        reject(where, fmt::format("style of '{}'", s.label), fmt::format("{}", s.style),
               "one style a label");
      const auto [other, free] = label_of.emplace(look, s.label);
      if (!free && other->second != s.label)
        reject(where, fmt::format("style of '{}'", s.label), fmt::format("{}", s.style),
               fmt::format("another one, '{}' has it", other->second));
    }
  }
}

}  // namespace

void check(const Figure& figure) {
  check_id("figure", figure.id);
  const std::string where = fmt::format("figure '{}'", figure.id);
  if (figure.panels.empty()) reject(where, "panels", "0", "at least one");
  if (figure.columns == 0) reject(where, "columns", "0", "at least one");
  for (std::size_t k = 0; k < figure.panels.size(); ++k)
    check_panel(fmt::format("{}, panel {}", where, k + 1), figure.panels[k]);
  check_labels(where, figure);
}

}  // namespace dpsosp::plots
