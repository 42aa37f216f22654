// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "chart.hpp"
#include "dpsosp/plots/markup.hpp"
#include "svg.hpp"

namespace dpsosp::report {

Html picture_svg(const Picture& picture) {
  constexpr double side = 360, left = 40, top = 8;
  const std::size_t rows = picture.bands.size();
  if (rows == 0) return {};
  const std::size_t columns = picture.bands.front().size();
  const double w = side / static_cast<double>(columns), h = side / static_cast<double>(rows);
  std::map<int, std::string> paths;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns;) {
      std::size_t end = c + 1;
      while (end < columns && picture.bands[r][end] == picture.bands[r][c]) ++end;
      paths[picture.bands[r][c]] += fmt::format("M{} {}h{}v{}h-{}z",
                                                px(left + static_cast<double>(c) * w),
                                                px(top + side - static_cast<double>(r + 1) * h),
                                                px(static_cast<double>(end - c) * w + 0.3),
                                                px(h + 0.3),
                                                px(static_cast<double>(end - c) * w + 0.3));
      c = end;
    }
  Html inside;
  const double most = std::max(1, paths.rbegin()->first);
  for (const auto& [band, d] : paths)
    inside += empty_element(
        "path",
        {{"class", "level"},
         {"style", fmt::format("fill-opacity:{:.2f}", 0.05 + 0.75 * (1 - band / most))},
         {"d", d}});
  const auto at_x = [&](double v) {
    return left + (v - picture.x_low) / (picture.x_high - picture.x_low) * side;
  };
  const auto at_y = [&](double v) {
    return top + side - (v - picture.y_low) / (picture.y_high - picture.y_low) * side;
  };
  for (const Picture::Point& p : picture.points)
    inside +=
        element("g",
                {{"data-tip", p.kind}, {"class", p.kind == "minimiser" ? "c0 mini" : "c0 saddle"}},
                p.kind == "minimiser"
                    ? mark(0, at_x(p.x), at_y(p.y), 5)
                    : trusted(fmt::format("<path class=\"cross\" d=\"M{} {}l8 8m0-8l-8 8\"/>",
                                          px(at_x(p.x) - 4),
                                          px(at_y(p.y) - 4))));
  for (const double v : {picture.x_low, picture.x_high})
    inside += svg_text(
        at_x(v), top + side + 16, text(short_number(v)), v == picture.x_low ? "start" : "end");
  for (const double v : {picture.y_low, picture.y_high})
    inside +=
        svg_text(left - 5, at_y(v) + (v == picture.y_low ? 0 : 10), text(short_number(v)), "end");
  inside += svg_text(left + side / 2, top + side + 16, svg_markup(picture.x_label), "middle");
  inside += svg_text(left - 8, top + side / 2, svg_markup(picture.y_label), "end");
  return element("svg",
                 {{"viewBox", "0 0 410 394"},
                  {"role", "img"},
                  {"aria-label", plots::plain_text(picture.caption)}},
                 inside);
}

}  // namespace dpsosp::report
