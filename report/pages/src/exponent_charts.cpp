// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "chart.hpp"
#include "dpsosp/plots/markup.hpp"
#include "svg.hpp"

namespace dpsosp::report {
namespace {

/// The range of exponents that one column of the forest shows.
struct Column {
  std::string axis;
  double low = 0, high = 0;

  std::string at(double v) const {
    return fmt::format("{:.2f}%", (std::clamp(v, low, high) - low) / (high - low) * 100);
  }
};

constexpr double largest_deviation = 0.3;

std::string deviation_at(double v) {
  const double clamped = std::clamp(v, -largest_deviation, largest_deviation);
  return fmt::format("{:.2f}%", (clamped + largest_deviation) / (2 * largest_deviation) * 100);
}

bool is_small_end(const Rate& r) { return r.axis == "ε" || r.in_noise; }

/// Measured minus claimed; in ε the other way round, so that worse is to the right.
double deviation(const Rate& r, double v) {
  return is_small_end(r) ? r.claimed_low - v : v - r.claimed_high;
}

Html rate_mark(std::string_view word, const std::string& x, double y, double r = 3.9) {
  const std::string css = fmt::format("k-{}", word_class(word));
  if (word == "refuted" || word == "slip")
    return element("svg",
                   {{"x", x}, {"y", px(y)}, {"overflow", "visible"}},
                   empty_element("rect",
                                 {{"class", css},
                                  {"x", px(-r)},
                                  {"y", px(-r)},
                                  {"width", px(2 * r)},
                                  {"height", px(2 * r)},
                                  {"stroke-width", "1.8"}}));
  if (word == "open")
    return element("svg",
                   {{"x", x}, {"y", px(y)}, {"overflow", "visible"}},
                   empty_element("path", {{"class", css}, {"d", "M0-5 5 3.8H-5Z"}}));
  return empty_element("circle",
                       {{"class", css},
                        {"cx", x},
                        {"cy", px(y)},
                        {"r", px(word == "confirmed" ? r : r - 0.5)},
                        {"stroke-width", "2"}});
}

Html vertical(std::string_view type, const std::string& x, double y1, double y2) {
  return empty_element(
      "line", {{"class", std::string(type)}, {"x1", x}, {"x2", x}, {"y1", px(y1)}, {"y2", px(y2)}});
}

Html horizontal(std::string_view type, const std::string& x1, const std::string& x2, double y) {
  return empty_element(
      "line", {{"class", std::string(type)}, {"x1", x1}, {"x2", x2}, {"y1", px(y)}, {"y2", px(y)}});
}

Html zone_rect(double from, double to) {
  return element(
      "svg",
      {{"x", fmt::format("{:.2f}%", from)},
       {"width", fmt::format("{:.2f}%", std::max(0.0, to - from))},
       {"height", "21"}},
      empty_element(
          "rect",
          {{"class", "zone"}, {"y", "2"}, {"width", "100%"}, {"height", "17"}, {"rx", "2"}}));
}

std::vector<double> ticks_of(const Column& c) {
  std::vector<double> ticks;
  const double step = c.high - c.low > 2.6 ? 1 : 0.5;
  for (double t = std::ceil(c.low / step + 0.2) * step; t <= c.high - 0.05; t += step)
    ticks.push_back(t);
  return ticks;
}

Html absolute_marks(const Column& c, const Rate* r) {
  Html inside;
  for (const double t : ticks_of(c)) inside += vertical("grid", c.at(t), 0, 21);
  if (r != nullptr) {
    const auto percent = [&](double v) {
      return (std::clamp(v, c.low, c.high) - c.low) / (c.high - c.low) * 100;
    };
    inside += zone_rect(percent(r->zone_low), percent(r->zone_high));
    inside += vertical("tick", c.at(r->claimed_low), 2, 19);
    if (r->claimed_low != r->claimed_high) {
      inside += vertical("tick", c.at(r->claimed_high), 2, 19);
      inside += horizontal("tick thin", c.at(r->claimed_low), c.at(r->claimed_high), 2.8);
    }
    if (r->value) {
      inside += horizontal(
          fmt::format("ci ci-{}", word_class(r->word)), c.at(r->low), c.at(r->high), 10.5);
      inside += rate_mark(r->word, c.at(*r->value), 10.5);
    }
  }
  return inside;
}

Html absolute_cell(const Column& c, const Rate* r) {
  return element("svg", {{"class", "abs"}, {"aria-hidden", "true"}}, absolute_marks(c, r));
}

Html deviation_cell(const Rate* r) {
  Html inside;
  for (const double t : {-0.2, 0.0, 0.2}) inside += vertical("grid", deviation_at(t), 0, 21);
  if (r != nullptr && r->value) {
    const double a = deviation(*r, r->zone_low), b = deviation(*r, r->zone_high);
    const auto percent = [](double v) {
      return (std::clamp(v, -largest_deviation, largest_deviation) + largest_deviation) /
             (2 * largest_deviation) * 100;
    };
    inside += zone_rect(percent(std::min(a, b)), percent(std::max(a, b)));
    inside += vertical("tick", deviation_at(0), 2, 19);
    inside += horizontal(fmt::format("ci ci-{}", word_class(r->word)),
                         deviation_at(deviation(*r, r->low)),
                         deviation_at(deviation(*r, r->high)),
                         10.5);
    const double v = deviation(*r, *r->value);
    if (std::abs(v) > largest_deviation)
      inside += element("svg",
                        {{"x", deviation_at(v)}, {"y", "10.5"}, {"overflow", "visible"}},
                        empty_element("path",
                                      {{"class", fmt::format("k-{}", word_class(r->word))},
                                       {"d", v < 0 ? "M0 0 9-5 9 5Z" : "M0 0-9-5-9 5Z"}}));
    else
      inside += rate_mark(r->word, deviation_at(v), 10.5);
  }
  return element("svg", {{"class", "dev"}, {"aria-hidden", "true"}}, inside);
}

std::string axis_class(std::string_view axis) {
  if (axis == "n") return "n";
  return axis == "ε" ? "e" : "d";
}

std::string rate_tip(const Rate& r) {
  std::string tip = rate_text(r);
  tip += fmt::format("\n{} · {} · {}", r.word, r.verdict, r.bound);
  tip += fmt::format("\n{}", plots::plain_text(r.metric));
  return tip;
}

Html forest_cell(const Column& c, const Rate* r) {
  const std::string css = fmt::format("fc {}{}", axis_class(c.axis), r == nullptr ? " none" : "");
  Html inside = absolute_cell(c, r) + deviation_cell(r);
  if (r == nullptr) return element("span", {{"class", css}}, inside);
  inside +=
      element("span", {{"class", "vh"}}, text(fmt::format("{}; {}.", rate_text(*r), r->word)));
  if (r->value)
    inside += element(
        "span",
        {{"class", "num"},
         {"aria-hidden", "true"},
         {"style",
          fmt::format("--x:{};--y:{}", c.at(*r->value), deviation_at(deviation(*r, *r->value)))}},
        text(fmt::format("{} {}", signed_number(*r->value), interval_text(r->low, r->high))));
  return element("span", {{"class", css}, {"data-tip", rate_tip(*r)}}, inside);
}

Html forest_head(const Column& c) {
  Html absolute = svg_text(0, 12, text(fmt::format("exponent in {}", c.axis)), "start", "lab");
  for (const double t : ticks_of(c))
    absolute += element(
        "text", {{"x", c.at(t)}, {"y", "29"}, {"text-anchor", "middle"}}, text(exponent(t)));
  const char* what = c.axis == "ε" ? "ε: claimed − measured" : "measured − claimed";
  Html dev = svg_text(
      0, 12, text(c.axis == "ε" ? what : fmt::format("{}: {}", c.axis, what)), "start", "lab");
  dev += element("text", {{"x", "100%"}, {"y", "12"}, {"text-anchor", "end"}}, text("worse →"));
  for (const double t : {-0.2, 0.0, 0.2})
    dev += element("text",
                   {{"x", deviation_at(t)}, {"y", "29"}, {"text-anchor", "middle"}},
                   text(t == 0 ? "0" : signed_number(t, 1)));
  return element("div",
                 {{"class", fmt::format("fc {}", axis_class(c.axis))}},
                 element("svg", {{"class", "abs"}, {"aria-hidden", "true"}}, absolute) +
                     element("svg", {{"class", "dev"}, {"aria-hidden", "true"}}, dev));
}

/// An axis that is no ε and no n stands in the column of d, under its own name in the tip.
bool in_column(const Rate& r, std::string_view axis) {
  return axis_class(r.axis) == axis_class(axis);
}

std::vector<Column> columns_of(const std::vector<ForestGroup>& groups) {
  std::vector<Column> columns{{"n"}, {"d"}, {"ε"}};
  for (Column& c : columns) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const ForestGroup& g : groups)
      for (const ForestRow& row : g.rows)
        for (const Rate& r : row.rates) {
          if (!in_column(r, c.axis)) continue;
          low = std::min({low, r.zone_low, r.value.value_or(low)});
          high = std::max({high, r.zone_high, r.value.value_or(high)});
        }
    if (!(low < high)) low = -1, high = 0;
    c.low = low - 0.12;
    c.high = high + 0.12;
  }
  return columns;
}

const Rate* rate_in(const ForestRow& row, std::string_view axis) {
  for (const Rate& r : row.rates)
    if (in_column(r, axis)) return &r;
  return nullptr;
}

}  // namespace

Html forest_html(const std::vector<ForestGroup>& groups, const Place& place, std::string_view id) {
  const std::vector<Column> columns = columns_of(groups);
  Html head = element("b", text("method")) + element("b", text("word"));
  std::string widths;
  for (const Column& c : columns) {
    head += forest_head(c);
    widths += fmt::format(" {:.2f}fr", std::max(0.8, c.high - c.low));
  }
  Html out = element("div", {{"class", "fhead"}}, head);
  for (const ForestGroup& g : groups) {
    Html rows;
    for (const ForestRow& row : g.rows) {
      Html name = text(row.method);
      const bool conditional = std::ranges::any_of(row.rates, [](const Rate& r) {
        return std::ranges::find(r.privacy, "conditional") != r.privacy.end();
      });
      if (conditional) name += text(" ") + element("small", text("conditional"));
      std::string papers = row.paper, axes;
      for (const std::string& claim : row.also) {
        const std::string paper = claim.substr(0, claim.find('/'));
        if (papers.find(paper) == std::string::npos) papers += " " + paper;
      }
      for (const Rate& r : row.rates) axes += axis_class(r.axis);
      Html cells = element("span", {{"class", "fn"}}, name) +
                   element("span", {{"class", "fw"}}, word_label(row.word));
      for (const Column& c : columns) cells += forest_cell(c, rate_in(row, c.axis));
      rows += element("a",
                      {{"class", "frow"},
                       {"href", place.link(place.address_of_claim(row.claim))},
                       {"data-p", papers},
                       {"data-w", std::string(word_class(row.word))},
                       {"data-ax", axes}},
                      cells);
    }
    const Html title =
        element("h3", text(g.paper) + text(" ") + element("span", text("· " + g.quantity)));
    out += element("div", {{"class", "fgroup"}}, title + rows);
  }
  return element(
      "div",
      {{"class", "forest"}, {"id", std::string(id)}, {"style", fmt::format("--axes:{}", widths)}},
      out);
}

namespace {

/// Three pixels of the drawing an hundredth of an exponent, or fewer where a rate lies far off.
struct DeviationScale {
  double left = 0, width = 0, most = 0.08;
  double at(double v) const {
    return left + (std::clamp(v, -most, most) + most) / (2 * most) * width;
  }
};

double widest(const std::vector<Rate>& rates) {
  double most = 0.07;
  for (const Rate& r : rates) {
    if (!r.value || !is_claimed(r)) continue;
    for (const double v : {r.low, r.high}) most = std::max(most, 1.05 * std::abs(deviation(r, v)));
  }
  return std::min(most, 0.6);
}

}  // namespace

Html interval_svg(const std::vector<Rate>& rates) {
  const double row = 36;
  const double height = 24 + row * static_cast<double>(rates.size()) + 20;
  const DeviationScale s{.left = 120, .width = 220, .most = widest(rates)};
  Html inside;
  double y = 20;
  for (const Rate& r : rates) {
    const std::string label = r.arm.empty() ? "" : cut(r.arm, 15);
    inside += svg_text(0, y + 4, text(fmt::format("{} in {}", label, r.axis)), "start", "lab");
    if (r.value && is_claimed(r)) {
      const double a = deviation(r, r.zone_low), b = deviation(r, r.zone_high);
      inside += empty_element("rect",
                              {{"class", "zone"},
                               {"x", px(s.at(std::min(a, b)))},
                               {"y", px(y - 12)},
                               {"width", px(s.at(std::max(a, b)) - s.at(std::min(a, b)))},
                               {"height", "24"},
                               {"rx", "2"}});
      inside += line(s.at(0), y - 12, s.at(0), y + 12, "tick");
      inside += line(s.at(deviation(r, r.low)),
                     y,
                     s.at(deviation(r, r.high)),
                     y,
                     fmt::format("ci ci-{}", word_class(r.word)));
      inside += rate_mark(r.word, px(s.at(deviation(r, *r.value))), y, 5);
      if (r.plan)
        inside += empty_element(
            "path",
            {{"class", "plan"},
             {"d", fmt::format("M{} {}l-4.5 7h9z", px(s.at(deviation(r, *r.plan))), px(y + 12))}});
      inside += svg_text(
          500,
          y + 4,
          text(fmt::format("{} {}", signed_number(*r.value), interval_text(r.low, r.high))),
          "end",
          "lab");
    } else {
      inside += svg_text(500, y + 4, text("no slope"), "end");
    }
    y += row;
  }
  for (const double t : {-0.5, -0.2, -0.05, 0.0, 0.05, 0.2, 0.5}) {
    if (std::abs(t) > s.most || (t != 0 && s.most > 8 * std::abs(t))) continue;
    inside +=
        svg_text(s.at(t), height - 4, text(t == 0 ? "claimed" : signed_number(t, 2)), "middle");
  }
  return element("svg",
                 {{"viewBox", fmt::format("0 0 500 {}", px(height))},
                  {"role", "img"},
                  {"aria-label", "Measured minus claimed exponent with 95 % intervals and zones"}},
                 inside);
}

Html small_interval_svg(const std::vector<Rate>& rates, const Site& site) {
  constexpr double row = 15;
  const DeviationScale s{.left = 116, .width = 120, .most = std::max(0.065, widest(rates))};
  const auto shape_of = [](const Rate& r) {
    return axis_class(r.axis) == "n" ? 0 : axis_class(r.axis) == "d" ? 1 : 2;
  };
  Html inside;
  double y = -4;
  std::string method;
  for (const Rate& r : rates) {
    if (!r.value) continue;
    if (r.arm != method) {
      y += row;
      inside += svg_text(0, y + 4, text(cut(r.arm, 17)), "start", "lab");
      inside += line(s.left, y, s.left + s.width, y, "grid");
      method = r.arm;
    }
    const std::string tip = fmt::format("{}\n{}", r.arm, rate_text(r));
    inside += element("g",
                      {{"class", colour_class(look_of(r.algorithm, site))}, {"data-tip", tip}},
                      line(s.at(deviation(r, r.low)), y, s.at(deviation(r, r.high)), y, "s") +
                          mark(shape_of(r), s.at(deviation(r, *r.value)), y, 3.6));
  }
  const double height = y + 52;
  inside += line(s.at(0), 4, s.at(0), y + 8, "tick thin");
  const double tick = s.most < 0.09 ? 0.05 : s.most < 0.2 ? 0.1 : 0.2;
  for (const double t : {-tick, 0.0, tick})
    inside += svg_text(s.at(t), y + 22, text(t == 0 ? "0" : signed_number(t, 2)), "middle");
  inside += svg_text(0, y + 36, text("measured − claimed:"));
  inside += svg_text(0, height - 2, text("circle in n, square in d, diamond in ε"));
  return element("svg",
                 {{"viewBox", fmt::format("0 0 244 {}", px(height))},
                  {"role", "img"},
                  {"aria-label", "Measured minus claimed exponents with 95 % intervals"}},
                 inside);
}

}  // namespace dpsosp::report
