// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "chart.hpp"
#include "svg.hpp"

namespace dpsosp::report {

Html levels_svg(const LeagueCell& cell, const Site& site, bool narrow) {
  constexpr std::size_t narrow_name = 21;
  const double row = 18, top = 44, width = narrow ? 370 : 600, left = narrow ? 142 : 280;
  const double height = top + row * static_cast<double>(cell.levels.size()) + 34;
  double low = cell.start, high = cell.start;
  for (const LeagueCell::Level& l : cell.levels) {
    if (l.low > 0) low = std::min(low, l.low);
    high = std::max(high, l.median);
  }
  const double from = std::log10(low) - 0.05, to = std::log10(high) + 0.12;
  const auto at = [&](double v) {
    return left + (std::clamp(std::log10(v), from, to) - from) / (to - from) * (width - left - 10);
  };
  Html inside = svg_text(0,
                         13,
                         text(fmt::format("{}: ε = {:g}, n = {}, d = {:g}",
                                          cell.board,
                                          cell.epsilon,
                                          short_number(cell.n),
                                          cell.d)),
                         "start",
                         "lab") +
                svg_text(0, 30, text(cell.problem + " from its start"));
  double last = -100;
  for (int e = -8; e < 8; ++e)
    for (const int m : {1, 2, 5}) {
      const double v = m * std::pow(10, e), x = at(v);
      if (std::log10(v) < from || std::log10(v) > to || x - last < 34) continue;
      inside += line(x, top - 6, x, height - 30, "grid") +
                svg_text(x, height - 15, text(fmt::format("{:g}", v)), "middle");
      last = x;
    }
  inside += line(at(cell.start), top - 8, at(cell.start), height - 30, "guide") +
            svg_text(at(cell.start) - 4, top - 10, text("start"), "end");
  double y = top + 4;
  for (const LeagueCell::Level& l : cell.levels) {
    const Look look = look_of(l.algorithm, site);
    const bool whole = !narrow || l.algorithm.size() <= narrow_name;
    const std::string name = whole ? l.algorithm : l.algorithm.substr(l.algorithm.find('/') + 1);
    std::string tip = fmt::format("{}\nmedian {}, range [{}, {}], {} seeds",
                                  l.algorithm,
                                  short_number(l.median),
                                  short_number(l.low),
                                  short_number(l.high),
                                  l.seeds);
    if (l.failed > 0) tip += fmt::format(", {} failed", l.failed);
    inside +=
        element("g",
                {{"class", colour_class(look)}, {"data-tip", tip}},
                empty_element("rect",
                              {{"class", "hit"},
                               {"x", "0"},
                               {"y", px(y - 8)},
                               {"width", px(width)},
                               {"height", "16"}}) +
                    svg_text(left - 10, y + 4, text(cut(name, narrow ? narrow_name : 40)), "end") +
                    line(at(std::max(l.low, 1e-12)), y, at(std::max(l.high, 1e-12)), y, "s") +
                    mark(look.shape, at(std::max(l.median, 1e-12)), y, 4));
    y += row;
  }
  inside +=
      svg_text(width - 8, height - 1, text("sosp_level of the output; lower is better"), "end");
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {} {}", px(width), px(height))},
                  {"role", "img"},
                  {"aria-label",
                   fmt::format("{} at epsilon {:g}, n {}: sosp_level of {} algorithms",
                               cell.board,
                               cell.epsilon,
                               short_number(cell.n),
                               cell.levels.size())}},
                 inside);
}

Html rank_svg(const LeagueRank& rank, std::string_view algorithm, const Site& site) {
  constexpr double width = 380, most = 30;
  const auto at = [&](double v) {
    return 8 + std::log10(std::clamp(v, 1.0, most)) / std::log10(most) * (width - 16);
  };
  Html inside = line(8, 52, width - 8, 52, "axis");
  for (const int t : {1, 2, 5, 10, 20})
    inside += line(at(t), 52, at(t), 57, "axis") +
              svg_text(at(t), 70, text(fmt::format("{}×", t)), "middle");
  for (const auto& [key, ratio] : rank.all) {
    const std::string tip =
        fmt::format("{}\n{:.2f} times the best, geometric mean over cells", key, ratio);
    const bool own = key == algorithm;
    const Look look = own ? look_of(key, site) : Look{};
    inside +=
        element("g",
                {{"class", colour_class(look)}, {"data-tip", tip}},
                own ? mark(look.shape, at(ratio), 44, 6) : line(at(ratio), 36, at(ratio), 52, "s"));
  }
  return element("svg",
                 {{"viewBox", "0 0 380 78"},
                  {"role", "img"},
                  {"aria-label",
                   fmt::format("Ratio to the best of every algorithm of {}; {} is number {} of {}",
                               rank.board,
                               algorithm,
                               rank.rank,
                               rank.of)}},
                 inside);
}

Html cells_svg(const WhichPage& which) {
  double n_low = which.n, n_high = which.n;
  std::vector<double> epsilons;
  std::vector<std::string> boards;
  for (const LeagueCell& c : which.cells) {
    n_low = std::min(n_low, c.n);
    n_high = std::max(n_high, c.n);
    if (std::ranges::find(epsilons, c.epsilon) == epsilons.end()) epsilons.push_back(c.epsilon);
    if (std::ranges::find(boards, c.board) == boards.end()) boards.push_back(c.board);
  }
  if (std::ranges::find(epsilons, which.epsilon) == epsilons.end())
    epsilons.push_back(which.epsilon);
  std::ranges::sort(epsilons);
  const double height = 60 + 46 * static_cast<double>(epsilons.size());
  const auto x_of = [&](double n) {
    const double span = std::max(1.0, std::log10(n_high / n_low));
    return 90 + std::log10(n / n_low) / span * 270;
  };
  const auto y_of = [&](double e) {
    const auto k = std::ranges::find(epsilons, e) - epsilons.begin();
    return height - 50 - 46 * static_cast<double>(k);
  };
  Html inside = svg_text(0, 12, text("Cells that have run"), "start", "lab");
  for (const double e : epsilons)
    inside += line(70, y_of(e), 400, y_of(e), "grid") +
              svg_text(60, y_of(e) + 4, text(fmt::format("ε = {:g}", e)), "end");
  for (int e = static_cast<int>(std::ceil(std::log10(n_low) - 1e-9));
       e <= std::log10(n_high) + 1e-9;
       ++e)
    inside += svg_text(x_of(std::pow(10, e)), height - 8, text(power_of_ten(e)), "middle");
  inside += svg_text(400, height - 8, text("n"), "end");
  for (const LeagueCell& c : which.cells) {
    const auto k = std::ranges::find(boards, c.board) - boards.begin();
    inside += empty_element(
        "circle",
        {{"class", k == 0 ? "dot" : "ring"},
         {"cx", px(x_of(c.n))},
         {"cy", px(y_of(c.epsilon))},
         {"r", px(k == 0 ? 4.0 : 4.0 + 3.2 * static_cast<double>(k))},
         {"data-tip",
          fmt::format(
              "{}: ε = {:g}, n = {}, d = {:g}", c.board, c.epsilon, short_number(c.n), c.d)}});
  }
  inside += empty_element("circle",
                          {{"class", "question"},
                           {"cx", px(x_of(which.n))},
                           {"cy", px(y_of(which.epsilon))},
                           {"r", "17"}});
  return element("svg",
                 {{"viewBox", fmt::format("0 0 410 {}", px(height))},
                  {"role", "img"},
                  {"aria-label", "Cells of the league in n and epsilon, and the question"}},
                 inside);
}

}  // namespace dpsosp::report
