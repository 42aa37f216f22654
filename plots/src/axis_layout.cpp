// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/axis_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

namespace dpsosp::plots {
namespace {

constexpr int wanted_ticks = 6;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (std::isnan(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void include(const std::vector<double>& values) {
    for (const double value : values) include(value);
  }
};

std::pair<double, double> padded(Extent e, Scale scale, double margin) {
  if (!(e.low <= e.high)) e.low = e.high = 1;  // nothing to show
  if (scale == Scale::log) {
    const double low = std::log10(e.low);
    const double high = std::log10(e.high);
    const double pad = high - low > 1e-9 ? margin * (high - low) : 0.5;
    return {std::pow(10, low - pad), std::pow(10, high + pad)};
  }
  const double flat = e.low == 0 ? 1 : 0.1 * std::abs(e.low);
  const bool spread = e.high - e.low > 1e-9 * std::max(std::abs(e.low), std::abs(e.high));
  const double pad = spread ? margin * (e.high - e.low) : flat;
  return {e.low - pad, e.high + pad};
}

std::string signed_label(double value, const std::string& digits) {
  return (value < 0 ? "−" : "") + digits;
}

std::string power_label(double mantissa, int exponent) {
  const std::string power = fmt::format("10^{{{}{}}}", exponent < 0 ? "−" : "", std::abs(exponent));
  return mantissa == 1 ? power : fmt::format("{}×{}", mantissa, power);
}

// Multiples of 1, 2 or 5 times a power of ten, about `wanted_ticks` of them.
std::vector<Tick> linear_ticks(double low, double high) {
  const double rough = (high - low) / wanted_ticks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  const int exponent = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  const double largest = std::max(std::abs(low), std::abs(high));
  const bool scientific = largest >= 1e5 || largest < 1e-3;
  const int leading = static_cast<int>(std::floor(std::log10(largest)));
  std::vector<Tick> ticks;
  for (auto k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    const double value = k * step;
    const double size = std::abs(value);
    std::string digits = "0";
    if (k != 0 && scientific) {
      digits = fmt::format("{:.{}f}×10^{{{}{}}}",
                           size / std::pow(10, leading),
                           std::max(0, leading - exponent),
                           leading < 0 ? "−" : "",
                           std::abs(leading));
    } else if (k != 0) {
      digits = fmt::format("{:.{}f}", size, std::max(0, -exponent));
    }
    ticks.push_back({k == 0 ? 0 : value, signed_label(k, digits)});
  }
  return ticks;
}

// Decades; below two of them also 2 and 5 times each; within one, as on a linear axis.
std::vector<Tick> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  if (decades < 0.7) return linear_ticks(low, high);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / wanted_ticks)));
  const bool short_numbers = low >= 1e-3 && high < 1e4;
  std::vector<Tick> ticks;
  for (int e = static_cast<int>(std::floor(std::log10(low))); std::pow(10, e) <= high; ++e) {
    for (int m = 1; m <= 9; ++m) {
      const double value = m * std::pow(10, e);
      if (value < low * (1 - 1e-12) || value > high * (1 + 1e-12) || (m > 1 && every > 1)) continue;
      Tick tick{.value = value};
      if (e % every == 0 && (m == 1 || (decades < 2 && (m == 2 || m == 5))))
        tick.label =
            short_numbers ? fmt::format("{:.{}f}", value, std::max(0, -e)) : power_label(m, e);
      ticks.push_back(tick);
    }
  }
  return ticks;
}

AxisLayout layout(const Axis& axis, const Extent& extent, double margin) {
  AxisLayout result;
  std::tie(result.low, result.high) = axis.range ? *axis.range : padded(extent, axis.scale, margin);
  result.ticks = axis.scale == Scale::log ? log_ticks(result.low, result.high)
                                          : linear_ticks(result.low, result.high);
  return result;
}

}  // namespace

AxisLayout layout_x(const Panel& panel) {
  Extent extent;
  for (const Series& s : panel.series) extent.include(s.x);
  for (const Marker& m : panel.markers) extent.include(m.x);
  for (const ReferenceLine& line : panel.lines)
    if (line.direction == Direction::vertical) extent.include(line.value);
  return layout(panel.x, extent, 0.025);
}

AxisLayout layout_y(const Panel& panel) {
  Extent extent;
  for (const Series& s : panel.series) {
    extent.include(s.y);
    extent.include(s.low);
    extent.include(s.high);
  }
  for (const Marker& m : panel.markers) extent.include(m.y);
  for (const ReferenceLine& line : panel.lines)
    if (line.direction == Direction::horizontal) extent.include(line.value);
  return layout(panel.y, extent, 0.05);
}

}  // namespace dpsosp::plots
