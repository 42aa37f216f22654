// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "dpsosp/plots/axis_layout.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/markup.hpp"

namespace dpsosp::plots {
namespace {

// All lengths are pixels of the SVG; the script turns them into fractions of the canvas.
constexpr double font_size = 14;
constexpr double plot_width = 300;
constexpr double plot_height = 250;
constexpr double top = 34;
constexpr double bottom = 64;
constexpr double right = 18;
constexpr double outer = 8;
constexpr double legend_row = 25;
constexpr double sample_width = 38;

// Okabe & Ito's palette for colour-blind readers, without yellow, which is faint on white.
constexpr std::array colours = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
constexpr std::array dashes = {
    "solid", "(14,5)", "(3,4)", "(14,4,3,4)", "(14,4,3,4,3,4)", "(7,4)", "(22,5)"};
constexpr std::array shapes = {7, 5, 9, 13, 11, 15, 2, 6, 4, 8, 12, 10, 14, 1};
constexpr std::array line_dashes = {"(2,4)", "(8,3,2,3)", "(16,4)", "(5,3)"};
static_assert(shapes.size() == styles && 2 * colours.size() == styles);

const char* colour_of(std::size_t style) { return colours[style % colours.size()]; }

std::string stroke_of(std::size_t style, bool dashed) {
  const std::size_t round = style / colours.size();
  const char* dash = dashed ? "(5,4)" : dashes[(style + 3 * round) % dashes.size()];
  return fmt::format("lc rgb '{}' lw {} dt {}", colour_of(style), dashed ? 1.3 : 2.2, dash);
}

std::string point_of(std::size_t style, double size) {
  return fmt::format("pt {} ps {} lc rgb '{}' lw 1.5", shapes[style], size, colour_of(style));
}

std::string ring(double size) { return fmt::format("pt 6 ps {} lc rgb '#222222' lw 1.6", size); }

double text_width(const std::string& text) {
  const std::string plain = plain_text(text);
  const auto characters = std::ranges::count_if(
      plain, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return 0.58 * font_size * static_cast<double>(characters);
}

bool is_gap(const Series& s, std::size_t i) {
  return std::isnan(s.y[i]) || (!s.low.empty() && (std::isnan(s.low[i]) || std::isnan(s.high[i])));
}

// A line needs two neighbouring points; an isolated point would not be drawn.
bool is_lonely(const Series& s, std::size_t i) {
  return !is_gap(s, i) && (i == 0 || is_gap(s, i - 1)) && (i + 1 == s.x.size() || is_gap(s, i + 1));
}

// Which points carry the shape of the curve's style: all of a short curve, else a few, shifted from
// style to style so that curves which lie on each other stay apart.
std::vector<std::size_t> shape_points(const Series& s) {
  std::vector<std::size_t> points;
  const std::size_t n = s.x.size();
  const std::size_t spacing = n <= 16 ? 1 : n / 5;
  const std::size_t first = spacing * (2 * (s.style % colours.size()) + 1) / (2 * colours.size());
  for (std::size_t i = 0; i < n; ++i) {
    const bool carries = !s.dashed && i % spacing == first && !is_gap(s, i);
    if (carries || is_lonely(s, i)) points.push_back(i);
  }
  return points;
}

// The blocks of the data file, which the plot commands address by their index.
class DataFile {
 public:
  // The curve with its band; a gap ends a piece. Nothing if there is no point.
  std::optional<std::size_t> add_curve(const std::string& name, const Series& s) {
    std::string rows;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (is_gap(s, i)) {
        if (!rows.empty() && !rows.ends_with("\n\n")) rows += '\n';
        continue;
      }
      rows += fmt::format("{:.17g} {:.17g}", s.x[i], s.y[i]);
      if (!s.low.empty()) rows += fmt::format(" {:.17g} {:.17g}", s.low[i], s.high[i]);
      rows += '\n';
    }
    if (rows.ends_with("\n\n")) rows.pop_back();
    return add(name + (s.low.empty() ? ": x y" : ": x y low high"), rows);
  }

  std::optional<std::size_t> add_shapes(const std::string& name, const Series& s) {
    std::string rows;
    for (const std::size_t i : shape_points(s))
      rows += fmt::format("{:.17g} {:.17g}\n", s.x[i], s.y[i]);
    return add(name + ", points with its shape: x y", rows);
  }

  std::optional<std::size_t> add_point(const std::string& name, double x, double y) {
    return add(name + ": x y", fmt::format("{:.17g} {:.17g}\n", x, y));
  }

  const std::string& text() const { return text_; }

 private:
  std::optional<std::size_t> add(std::string name, const std::string& rows) {
    if (rows.empty()) return {};
    std::ranges::replace_if(
        name, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text_ += fmt::format("{}# index {}, {}\n{}", count_ > 0 ? "\n\n" : "", count_, name, rows);
    return count_++;
  }

  std::string text_;
  std::size_t count_ = 0;
};

// The elements of one panel's plot command in drawing order; adds their numbers to the data file.
std::vector<std::string> plot_elements(const Panel& panel, std::size_t number, DataFile& data) {
  std::vector<std::string> bands, curves, points;
  const auto name = [number](const std::string& label) {
    return fmt::format("panel {}, {}", number, plain_text(label));
  };
  for (const Series& s : panel.series) {
    if (const auto index = data.add_curve(name(s.label), s)) {
      if (!s.low.empty())
        bands.push_back(
            fmt::format("index {} using 1:3:4 with filledcurves fc rgb '{}' "
                        "fs transparent solid 0.16 noborder",
                        *index,
                        colour_of(s.style)));
      curves.push_back(
          fmt::format("index {} using 1:2 with lines {}", *index, stroke_of(s.style, s.dashed)));
    }
    if (const auto index = data.add_shapes(name(s.label), s))
      points.push_back(
          fmt::format("index {} using 1:2 with points {}", *index, point_of(s.style, 0.9)));
  }
  for (const Marker& m : panel.markers) {
    const auto index = data.add_point(name(m.label), m.x, m.y);
    points.push_back(
        fmt::format("index {} using 1:2 with points {}", *index, point_of(m.style, 1)));
    points.push_back(fmt::format("index {} using 1:2 with points {}", *index, ring(1.8)));
  }
  std::ranges::copy(curves, std::back_inserter(bands));
  std::ranges::copy(points, std::back_inserter(bands));
  return bands;
}

enum class Sample { curve, line, marker };

struct LegendEntry {
  std::string label;
  Sample sample;
  std::size_t style = 0;  // of a reference line: its place among them
  bool dashed = false;
};

// Curves, reference lines, markers, each in the order in which they first appear.
std::vector<LegendEntry> legend_entries(const Figure& figure) {
  std::vector<LegendEntry> curves, lines, markers;
  const auto add = [](std::vector<LegendEntry>& entries, LegendEntry entry) {
    if (entry.label.empty()) return;
    if (std::ranges::find(entries, entry.label, &LegendEntry::label) == entries.end())
      entries.push_back(std::move(entry));
  };
  for (const Panel& panel : figure.panels) {
    for (const Series& s : panel.series) add(curves, {s.label, Sample::curve, s.style, s.dashed});
    for (const ReferenceLine& line : panel.lines)
      add(lines, {line.label, Sample::line, lines.size()});
    for (const Marker& m : panel.markers) add(markers, {m.label, Sample::marker});
  }
  std::ranges::copy(lines, std::back_inserter(curves));
  std::ranges::copy(markers, std::back_inserter(curves));
  return curves;
}

std::string line_stroke(std::size_t place) {
  return fmt::format("lc rgb '#555555' lw 1.4 dt {}", line_dashes[place % line_dashes.size()]);
}

double entry_width(const LegendEntry& entry) {
  return sample_width + 8 + text_width(entry.label) + 24;
}

std::vector<std::vector<LegendEntry>> legend_rows(const std::vector<LegendEntry>& entries,
                                                  double width) {
  std::vector<std::vector<LegendEntry>> rows;
  double used = 0;
  for (const LegendEntry& entry : entries) {
    if (rows.empty() || used + entry_width(entry) > width) {
      rows.emplace_back();
      used = 0;
    }
    used += entry_width(entry);
    rows.back().push_back(entry);
  }
  return rows;
}

// The layout of the canvas.
struct Canvas {
  std::size_t columns = 1;
  std::vector<double> lefts{};  // width left of the axes, one per column of panels
  std::vector<std::vector<LegendEntry>> legend{};
  double width = 0;
  double height = 0;
};

Canvas arrange(const Figure& figure) {
  Canvas canvas{.columns = std::min(figure.columns, figure.panels.size())};
  canvas.lefts.assign(canvas.columns, 0);
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    double widest = 0;
    for (const Tick& tick : layout_y(figure.panels[k]).ticks)
      widest = std::max(widest, text_width(tick.label));
    double& left = canvas.lefts[k % canvas.columns];
    left = std::max(left, std::ceil(widest) + 44);
  }
  canvas.width = 2 * outer;
  for (const double left : canvas.lefts) canvas.width += left + plot_width + right;
  const auto entries = legend_entries(figure);
  for (const LegendEntry& entry : entries)
    canvas.width = std::max(canvas.width, std::ceil(entry_width(entry)) + 2 * outer);
  canvas.legend = legend_rows(entries, canvas.width - 2 * outer);
  const std::size_t rows = (figure.panels.size() + canvas.columns - 1) / canvas.columns;
  canvas.height = static_cast<double>(rows) * (top + plot_height + bottom) +
                  legend_row * static_cast<double>(canvas.legend.size()) + outer;
  return canvas;
}

std::string tick_list(const std::vector<Tick>& ticks) {
  std::string out;
  for (const Tick& tick : ticks)
    out += fmt::format("{}{} {:.17g} {}",
                       out.empty() ? "" : ", ",
                       gnuplot_text(tick.label),
                       tick.value,
                       tick.label.empty() ? 1 : 0);
  return out;
}

std::string axis_commands(char name, const Axis& axis, const AxisLayout& layout) {
  std::string out = fmt::format("{}set logscale {}\n", axis.scale == Scale::log ? "" : "un", name);
  out += fmt::format("set {}range [{:.17g}:{:.17g}]\n", name, layout.low, layout.high);
  return out + fmt::format("set {}tics ({})\n", name, tick_list(layout.ticks));
}

std::string margins(
    const Canvas& canvas, double left, double right_edge, double above, double below) {
  return fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
      left / canvas.width,
      right_edge / canvas.width,
      1 - above / canvas.height,
      1 - below / canvas.height);
}

// Axis labels as free text: where gnuplot would put them depends on how it guesses widths.
std::string axis_labels(
    const Canvas& canvas, const Panel& panel, double outer_left, double left, double above) {
  const double middle = left + plot_width / 2;
  const double side = outer_left + 12;
  return fmt::format(
      "set label {} at screen {:.6f},{:.6f} center\n"
      "set label {} at screen {:.6f},{:.6f} center rotate by 90\n",
      gnuplot_text(panel.x.label),
      middle / canvas.width,
      1 - (above + plot_height + 44) / canvas.height,
      gnuplot_text(panel.y.label),
      side / canvas.width,
      1 - (above + plot_height / 2) / canvas.height);
}

std::string reference_lines(const Panel& panel, const std::vector<LegendEntry>& entries) {
  std::string out;
  for (const ReferenceLine& line : panel.lines) {
    const auto entry = std::ranges::find_if(entries, [&](const LegendEntry& e) {
      return e.sample == Sample::line && e.label == line.label;
    });
    const std::string ends =
        line.direction == Direction::horizontal
            ? fmt::format("graph 0, first {0:.17g} to graph 1, first {0:.17g}", line.value)
            : fmt::format("first {0:.17g}, graph 0 to first {0:.17g}, graph 1", line.value);
    out += fmt::format("set arrow from {} nohead {}\n",
                       ends,
                       line_stroke(entry == entries.end() ? 0 : entry->style));
  }
  return out;
}

std::string plot_command(const std::string& id, const std::vector<std::string>& elements) {
  if (elements.empty()) return "plot NaN notitle\n";
  std::string out = "plot";
  for (std::size_t k = 0; k < elements.size(); ++k)
    out += fmt::format("{} '{}.dat' {} notitle", k == 0 ? "" : ", \\\n ", id, elements[k]);
  return out + "\n";
}

// An empty plot over the strip below the panels, whose coordinates are pixels.
std::string legend_commands(const Canvas& canvas) {
  const double height = legend_row * static_cast<double>(canvas.legend.size());
  std::string out = "\n# legend\nreset\n";
  out += margins(canvas, 0, canvas.width, canvas.height - height - outer, canvas.height - outer);
  out += fmt::format(
      "unset border\nunset tics\nset xrange [0:{}]\nset yrange [0:{}]\n", canvas.width, height);
  for (std::size_t r = 0; r < canvas.legend.size(); ++r) {
    double width = -24;
    for (const LegendEntry& entry : canvas.legend[r]) width += entry_width(entry);
    double x = std::max(outer, (canvas.width - width) / 2);
    const double y = height - legend_row * (static_cast<double>(r) + 0.5);
    for (const LegendEntry& entry : canvas.legend[r]) {
      const double middle = x + sample_width / 2;
      if (entry.sample != Sample::marker)
        out += fmt::format("set arrow from {:.1f},{:.1f} to {:.1f},{:.1f} nohead {}\n",
                           x,
                           y,
                           x + sample_width,
                           y,
                           entry.sample == Sample::line ? line_stroke(entry.style)
                                                        : stroke_of(entry.style, entry.dashed));
      if (entry.sample == Sample::curve && !entry.dashed)
        out += fmt::format(
            "set label '' at {:.1f},{:.1f} point {}\n", middle, y, point_of(entry.style, 0.9));
      if (entry.sample == Sample::marker)
        out += fmt::format("set label '' at {:.1f},{:.1f} point {}\n", middle, y, ring(1.8));
      out += fmt::format("set label {} at {:.1f},{:.1f} left\n",
                         gnuplot_text(entry.label),
                         x + sample_width + 8,
                         y);
      x += entry_width(entry);
    }
  }
  return out + "plot NaN notitle\n";
}

std::string head(const Figure& figure, const Canvas& canvas) {
  const double w = canvas.width;
  const double h = canvas.height;
  std::string out = fmt::format(
      "# Redraw with: gnuplot -c {0}.gp svg (or pdf, png)\n"
      "format = ARGC > 0 ? ARG1 : 'svg'\n"
      "set encoding utf8\n",
      figure.id);
  out += fmt::format(
      "if (format eq 'svg') set terminal svg size {},{} enhanced font 'DejaVu Sans,{}' "
      "rounded background '#ffffff'\n",
      w,
      h,
      font_size);
  out += fmt::format(
      "if (format eq 'pdf') set terminal pdfcairo size {:.4f}in,{:.4f}in enhanced "
      "font 'DejaVu Sans,{}' fontscale 0.5625 linewidth 1.5 rounded\n",
      w / 96,
      h / 96,
      font_size);
  out += fmt::format(
      "if (format eq 'png') set terminal pngcairo size {},{} enhanced "
      "font 'DejaVu Sans,{}' fontscale 1.5 linewidth 2 pointscale 2 dashlength 2 rounded\n",
      2 * w,
      2 * h,
      font_size);
  return out + fmt::format("set output '{}.'.format\nset multiplot\n", figure.id);
}

}  // namespace

std::string gnuplot_script(const Figure& figure) {
  check(figure);
  const Canvas canvas = arrange(figure);
  const std::vector<LegendEntry> entries = legend_entries(figure);
  DataFile data;
  std::string out = head(figure, canvas);
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const Panel& panel = figure.panels[k];
    const std::size_t column = k % canvas.columns;
    double left = outer;
    for (std::size_t c = 0; c < column; ++c) left += canvas.lefts[c] + plot_width + right;
    const double outer_left = left;
    left += canvas.lefts[column];
    const std::size_t row = k / canvas.columns;
    const double above = static_cast<double>(row) * (top + plot_height + bottom) + top;
    out += fmt::format("\n# panel {}\n", k + 1);
    out += margins(canvas, left, left + plot_width, above, above + plot_height);
    out +=
        "set border 3 lc rgb '#444444' lw 1\nset tics nomirror out scale 0.6\n"
        "set grid back lc rgb '#dddddd' lw 1 dt solid\nunset arrow\nunset label\n";
    out += fmt::format("set title {} offset 0,-0.3\n", gnuplot_text(panel.title));
    out +=
        axis_commands('x', panel.x, layout_x(panel)) + axis_commands('y', panel.y, layout_y(panel));
    out += axis_labels(canvas, panel, outer_left, left, above) + reference_lines(panel, entries);
    out += plot_command(figure.id, plot_elements(panel, k + 1, data));
  }
  if (!canvas.legend.empty()) out += legend_commands(canvas);
  return out + "unset multiplot\nunset output\n";
}

std::string gnuplot_data(const Figure& figure) {
  check(figure);
  DataFile data;
  for (std::size_t k = 0; k < figure.panels.size(); ++k)
    plot_elements(figure.panels[k], k + 1, data);
  return data.text();
}

}  // namespace dpsosp::plots
