// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A figure of results, which dpsosp.plots draws. Texts use the markup of markup.hpp.
namespace dpsosp::plots {

enum class Scale { linear, log };

struct Axis {
  std::string label{};
  Scale scale = Scale::linear;
  std::optional<std::pair<double, double>> range{};  ///< default: all data, with a small margin
};

/// One curve. A NaN in y, low or high is a gap; nothing is drawn across it.
struct Series {
  std::string label{};  ///< in the legend; empty: not listed
  /// Colour, dash pattern and point shape, by number. A method keeps its own in every figure.
  std::size_t style = 0;
  bool dashed = false;         ///< a thin dashed line without points: a fit, a control
  std::string algorithm{};     ///< registry key of the method that it shows, if it shows one
  std::vector<double> x{};     ///< finite
  std::vector<double> y{};     ///< as long as x
  std::vector<double> low{};   ///< lower edge of the band, as long as x, or empty
  std::vector<double> high{};  ///< upper edge of the band, as long as x, or empty
};

/// A single value that was not measured here, such as a published one: a ringed point.
struct Marker {
  std::string label{};  ///< in the legend, once for all markers of that label
  std::size_t style = 0;
  double x = 0;
  double y = 0;
};

enum class Direction { horizontal, vertical };

struct ReferenceLine {
  std::string label{};
  Direction direction = Direction::horizontal;
  double value = 0;
};

/// Where the numbers of a panel come from.
struct Origin {
  std::string sweep{};
  std::string part{};
  std::string metric{};
};

struct Panel {
  std::string title{};
  Origin origin{};  ///< of a panel of a sweep, whose series are arms
  Axis x{};
  Axis y{};
  std::vector<Series> series{};
  std::vector<Marker> markers{};
  std::vector<ReferenceLine> lines{};
};

struct Figure {
  std::string id{};  ///< file stem and anchor, as Table::id
  std::string title{};
  std::string caption{};
  std::string alternative{};  ///< for readers who cannot see it; default: the caption
  std::vector<Panel> panels{};
  std::size_t columns = 3;  ///< panels a row
};

inline constexpr std::size_t guide_style = 1000;  ///< of a line that belongs to no curve

/// \throws InputError if a value on a log axis is not positive, a value is infinite, an x is not
///   finite, lengths differ, a band is upside down, a marker lies outside a given range, or one
///   label goes with two styles or two labels with one.
void check(const Figure& figure);

}  // namespace dpsosp::plots
