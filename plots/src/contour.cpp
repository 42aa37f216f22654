// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/contour.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/markup.hpp"
#include "render.hpp"

namespace dpsosp::plots {
namespace {

constexpr int level_count = 26;

void check(const ContourMap& map) {
  check_id("contour map", map.id);
  if (map.x.size() < 2 || map.y.size() < 2 || map.values.rows() != map.y.size() ||
      map.values.cols() != map.x.size())
    throw InputError(fmt::format("contour map '{}': {} x {} values for {} x and {} y",
                                 map.id,
                                 map.values.rows(),
                                 map.values.cols(),
                                 map.x.size(),
                                 map.y.size()));
  if (!map.values.allFinite())
    throw InputError(fmt::format("contour map '{}': a value is not finite", map.id));
}

/// Distinct quantiles of the values, lowest and highest left out.
std::vector<double> levels(const Matrix& values) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  std::ranges::sort(sorted);
  std::vector<double> all;
  for (int k = 1; k <= level_count; ++k) {
    const auto place = static_cast<std::size_t>(k) * sorted.size() / (level_count + 1);
    if (all.empty() || sorted[place] > all.back()) all.push_back(sorted[place]);
  }
  return all;
}

/// The value as a number of levels below it, linear between two: equal steps mean equal area.
double height(const std::vector<double>& at, double value) {
  if (at.size() < 2) return value;
  const auto above = std::clamp(std::ranges::upper_bound(at, value), at.begin() + 1, at.end() - 1);
  const double below = *(above - 1);
  return static_cast<double>(above - at.begin()) + (value - below) / (*above - below);
}

/// Labels with their styles, in the order of their first points.
std::vector<std::pair<std::string, std::size_t>> legend(const ContourMap& map) {
  std::vector<std::pair<std::string, std::size_t>> all;
  for (const MapPoint& p : map.points)
    if (std::ranges::none_of(all, [&](const auto& entry) { return entry.first == p.label; }))
      all.emplace_back(p.label, p.style);
  return all;
}

std::string script(const ContourMap& map) {
  std::string discrete;
  const auto at = levels(map.values);
  std::string ticks;
  for (std::size_t k = 0; k < at.size(); ++k) {
    discrete += fmt::format("{}{}", k == 0 ? "" : ",", k + 1);
    if (k % 5 == 0) ticks += fmt::format("{}'{:.3g}' {}", k == 0 ? "" : ",", at[k] + 0.0, k + 1);
  }
  std::string out = fmt::format(
      "format = ARG1\n"
      "set encoding utf8\n"
      "set terminal svg size 560,460 enhanced font 'DejaVu Sans,12' rounded background '#ffffff'\n"
      "set contour base\nunset surface\nset cntrparam levels discrete {1}\n"
      "set table $lines\nsplot '{0}.dat' index 0 nonuniform matrix using 1:2:3\nunset table\n"
      "set output '{0}.'.format\n"
      "set xlabel {2}\nset ylabel {3}\nset cblabel 'F'\nset cbtics ({8})\n"
      "set xrange [{4}:{5}]\nset yrange [{6}:{7}]\nset tics out nomirror scale 0.6\n"
      "set border 3 lc rgb '#444444'\nset bmargin 5\nset key at screen 0.45,screen 0.035 center "
      "horizontal\n"
      "set palette defined (0 '#0b2a6b', 0.5 '#3a8f8f', 1 '#d9a441')\n",
      map.id,
      discrete,
      gnuplot_text(map.x_label),
      gnuplot_text(map.y_label),
      map.x[0],
      map.x[map.x.size() - 1],
      map.y[0],
      map.y[map.y.size() - 1],
      ticks);
  out += "plot $lines using 1:2:3 with lines lc palette lw 1.4 notitle";
  int index = 0;
  constexpr std::array shapes{7, 13, 9, 5, 11, 15};
  constexpr std::array colours{"#c0392b", "#111111", "#7d3c98", "#1e8449", "#884400", "#555555"};
  for (const auto& [label, style] : legend(map)) {
    const std::size_t k = style % shapes.size();
    out += fmt::format(
        ", \\\n  '{}.dat' index {} using 1:2 with points pt {} ps 1.1 lc rgb '{}' title {}",
        map.id,
        ++index,
        shapes[k],
        colours[k],
        gnuplot_text(label));
  }
  return out + "\nunset output\n";
}

/// Index 0: a nonuniform matrix; then one index a label.
std::string data(const ContourMap& map) {
  const auto at = levels(map.values);
  std::string out = fmt::format("{}", map.x.size());
  for (const double x : map.x) out += fmt::format(" {:.9g}", x);
  out += '\n';
  for (Index i = 0; i < map.y.size(); ++i) {
    out += fmt::format("{:.9g}", map.y[i]);
    for (Index j = 0; j < map.x.size(); ++j)
      out += fmt::format(" {:.9g}", height(at, map.values(i, j)));
    out += '\n';
  }
  for (const auto& [label, style] : legend(map)) {
    out += "\n\n";
    for (const MapPoint& p : map.points)
      if (p.label == label) out += fmt::format("{:.9g} {:.9g}\n", p.x, p.y);
  }
  return out;
}

}  // namespace

std::filesystem::path write_contour_map(const ContourMap& map,
                                        const std::filesystem::path& folder,
                                        const std::string& gnuplot) {
  check(map);
  const auto files =
      draw({map.id, script(map), data(map), map.title, map.title}, {"svg"}, folder, gnuplot);
  const auto target = folder / (map.id + ".svg");
  write_file(target, files.front());
  return target;
}

}  // namespace dpsosp::plots
