// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A figure of results and its gnuplot back end. Texts use the markup of markup.hpp.
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
  /// Colour, dash pattern and point shape, in [0, styles). A method keeps its own in every figure.
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

inline constexpr std::size_t styles = 14;  ///< seven colours, twice, with other dashes and shapes

/// The alternative text; without one the caption, else the title, as plain text.
std::string alternative_text(const Figure& figure);

/// \throws InputError if a value on a log axis is not positive, a value is infinite, an x is not
///   finite, lengths differ, a band is upside down, a marker lies outside a given range, a style is
///   out of range, or one label goes with two styles or two labels with one.
void check(const Figure& figure);

/// The commands that draw ID.svg, ID.pdf and ID.png from ID.dat, all in the current folder.
std::string gnuplot_script(const Figure& figure);

/// The numbers of the curves and markers, one gnuplot index each, 17 significant digits.
std::string gnuplot_data(const Figure& figure);

/// A check for callers that compute for long before they draw. \param folder  exists, is writable
/// \throws InputError if gnuplot cannot be run
void require_gnuplot(const std::filesystem::path& folder, const std::string& gnuplot = "gnuplot");

struct FigureFiles {
  std::filesystem::path svg, pdf, png, script, data;
};

/// Writes ID.svg, .pdf, .png, .gp and .dat into the folder, each in one step. The same figure gives
/// the same bytes on the same machine.
/// \param gnuplot  name or path of the program.
/// \throws InputError if the figure is bad, the folder cannot be written or gnuplot is missing.
FigureFiles write_figure(const Figure& figure,
                         const std::filesystem::path& folder,
                         const std::string& gnuplot = "gnuplot");

/// Writes ID.pdf alone. \throws as write_figure
std::filesystem::path write_pdf(const Figure& figure,
                                const std::filesystem::path& folder,
                                const std::string& gnuplot = "gnuplot");

}  // namespace dpsosp::plots
