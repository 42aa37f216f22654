// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "dpsosp/plots/axis_layout.hpp"
#include "dpsosp/plots/markup.hpp"
#include "style_file.hpp"

namespace dpsosp::report {
namespace {

/// A curve with at most this many points has marks, bars and a text for each of them.
constexpr std::size_t few_points = 24;
/// So many curves have their names at their right ends; more have a legend alone.
constexpr std::size_t most_end_labels = 7;

struct Frame {
  double width = 380, height = 300, left = 54, right = 16, top = 40, bottom = 42;
};

struct Scales {
  plots::AxisLayout x, y;
  bool log_x = false, log_y = false;
  Frame frame;

  static double part(double v, const plots::AxisLayout& axis, bool log) {
    if (log) return std::log(v / axis.low) / std::log(axis.high / axis.low);
    return (v - axis.low) / (axis.high - axis.low);
  }
  double at_x(double v) const {
    return frame.left + part(v, x, log_x) * (frame.width - frame.left - frame.right);
  }
  double at_y(double v) const {
    const double p = std::clamp(part(v, y, log_y), -0.02, 1.02);
    return frame.height - frame.bottom - p * (frame.height - frame.top - frame.bottom);
  }
  bool shows(double vx) const {
    const double p = part(vx, x, log_x);
    return p > -1e-9 && p < 1 + 1e-9;
  }
};

Html svg_text(double x,
              double y,
              const Html& content,
              std::string_view anchor = "start",
              std::string_view type = {}) {
  Attributes a{{"x", px(x)}, {"y", px(y)}};
  if (anchor != "start") a.emplace_back("text-anchor", std::string(anchor));
  if (!type.empty()) a.emplace_back("class", std::string(type));
  return element("text", a, content);
}

/// Scripts of the markup as tspans, which SVG has in place of sub and sup.
Html svg_markup(std::string_view markup) {
  std::string html = plots::html_text(markup);
  const auto swap_tag = [&](const std::string& tag, const std::string& shift) {
    const std::string open = "<" + tag + ">", close = "</" + tag + ">";
    for (std::size_t at = 0; (at = html.find(open, at)) != std::string::npos;) {
      const std::size_t end = html.find(close, at);
      const std::string inside = html.substr(at + open.size(), end - at - open.size());
      const std::string piece = "<tspan dy=\"" + shift + "\" font-size=\"75%\">" + inside +
                                "</tspan><tspan dy=\"" +
                                (shift[0] == '-' ? shift.substr(1) : "-" + shift) + "\">\u200b</tspan>";
      html.replace(at, end + close.size() - at, piece);
      at += piece.size();
    }
  };
  swap_tag("sub", "3");
  swap_tag("sup", "-4");
  return trusted(std::move(html));
}

Html line(double x1, double y1, double x2, double y2, std::string_view type) {
  return empty_element("line",
                       {{"class", std::string(type)},
                        {"x1", px(x1)},
                        {"y1", px(y1)},
                        {"x2", px(x2)},
                        {"y2", px(y2)}});
}

Html mark(int shape, double x, double y, double r) {
  switch (shape) {
    case 1:
      return empty_element("rect",
                           {{"class", "m"},
                            {"x", px(x - r + 0.4)},
                            {"y", px(y - r + 0.4)},
                            {"width", px(2 * r - 0.8)},
                            {"height", px(2 * r - 0.8)}});
    case 2:
      return empty_element("path",
                           {{"class", "m"},
                            {"d",
                             fmt::format("M{} {}l{} {}-{} {}-{}-{}Z",
                                         px(x),
                                         px(y - r - 1),
                                         px(r + 1),
                                         px(r + 1),
                                         px(r + 1),
                                         px(r + 1),
                                         px(r + 1),
                                         px(r + 1))}});
    case 3:
      return empty_element(
          "path",
          {{"class", "m"},
           {"d",
            fmt::format("M{} {}h{}l-{} {}Z", px(x - r), px(y - r * 0.8), px(2 * r), px(r), px(1.8 * r))}});
    default:
      return empty_element("circle",
                           {{"class", "m"}, {"cx", px(x)}, {"cy", px(y)}, {"r", px(r)}});
  }
}

/// A curve that is no method keeps the look of its style.
Look look_of_series(const plots::Series& s, const Site& site) {
  Look look = look_of(s.algorithm, site);
  if (look.colour == 0 && !s.dashed)
    look = {.colour = static_cast<int>(s.style % 12) + 1, .shape = static_cast<int>(s.style % 4)};
  return look;
}

/// What buttons and curves share; letters, digits and '-' alone.
std::string series_id(std::string_view label) {
  std::string id = "s";
  for (const char c : plots::plain_text(label)) {
    const bool plain_character =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain_character)
      id += c;
    else if (id.back() != '-')
      id += '-';
  }
  return id;
}

bool is_gap(const plots::Series& s, std::size_t k) { return std::isnan(s.y[k]); }

const Rate* rate_of(const std::vector<Rate>& rates,
                    const plots::Panel& panel,
                    const plots::Series& s) {
  if (panel.origin.sweep.empty() || s.dashed) return nullptr;
  for (const Rate& r : rates)
    if (r.sweep == panel.origin.sweep && r.part == panel.origin.part && r.arm == s.label &&
        r.metric == panel.y.label)
      return &r;
  return nullptr;
}

std::string axis_name(const plots::Axis& axis) {
  std::string name = plots::plain_text(axis.label);
  if (const auto space = name.rfind(' '); name.starts_with("records ") || name.starts_with("dimension "))
    name = name.substr(space + 1);
  return name.size() < 6 ? name : "x";
}

Html axes(const plots::Panel& panel, const Scales& s) {
  const Frame& f = s.frame;
  Html out = svg_text(0, 13, svg_markup(panel.title), "start", "lab") +
             svg_text(0, 30, svg_markup(panel.y.label));
  double last = std::numeric_limits<double>::infinity();
  for (const plots::Tick& t : s.y.ticks) {
    if (t.label.empty()) continue;
    const double y = s.at_y(t.value);
    out += line(f.left, y, f.width - f.right, y, "grid");
    if (std::abs(last - y) < 13) continue;
    out += svg_text(f.left - 6, y + 4, svg_markup(t.label), "end");
    last = y;
  }
  const double base = f.height - f.bottom;
  out += line(f.left, base, f.width - f.right, base, "axis");
  last = -std::numeric_limits<double>::infinity();
  for (const plots::Tick& t : s.x.ticks) {
    const double x = s.at_x(t.value);
    if (t.label.empty()) continue;
    out += line(x, base, x, base + 4, "axis");
    if (x - last < 34) continue;
    out += svg_text(x, base + 17, svg_markup(t.label), "middle");
    last = x;
  }
  return out + svg_text(f.width - f.right, f.height - 6, svg_markup(panel.x.label), "end");
}

std::string path_of(const plots::Series& series, const Scales& s) {
  std::string d;
  bool pen = false;
  for (std::size_t k = 0; k < series.x.size(); ++k) {
    if (is_gap(series, k) || !s.shows(series.x[k])) {
      pen = false;
      continue;
    }
    d += fmt::format("{}{} {}", pen ? "L" : "M", px(s.at_x(series.x[k])), px(s.at_y(series.y[k])));
    pen = true;
  }
  return d;
}

std::string band_of(const plots::Series& series, const Scales& s) {
  std::string d, back;
  for (std::size_t k = 0; k < series.x.size(); ++k) {
    if (is_gap(series, k) || std::isnan(series.low[k]) || std::isnan(series.high[k])) continue;
    d += fmt::format(
        "{}{} {}", d.empty() ? "M" : "L", px(s.at_x(series.x[k])), px(s.at_y(series.high[k])));
    back = fmt::format("L{} {}", px(s.at_x(series.x[k])), px(s.at_y(series.low[k]))) + back;
  }
  return d.empty() ? d : d + back + "Z";
}

Html curve(const plots::Panel& panel,
           const plots::Series& series,
           const Scales& s,
           const std::vector<Rate>& rates,
           const Site& site,
           bool small) {
  const Look look = look_of_series(series, site);
  const Attributes group{{"class", fmt::format("ser {}", colour_class(look))}, {"data-s", series_id(series.label)}};
  if (series.dashed)
    return element("g",
                   group,
                   empty_element("path", {{"class", "guide"}, {"d", path_of(series, s)}}));
  Html inside;
  const bool few = series.x.size() <= few_points;
  const bool banded = !series.low.empty();
  if (banded && !few)
    inside += empty_element("path", {{"class", "band"}, {"d", band_of(series, s)}});
  inside += empty_element("path", {{"class", "s"}, {"d", path_of(series, s)}});
  const Rate* rate = rate_of(rates, panel, series);
  const std::string x_name = axis_name(panel.x);
  const std::size_t step = few ? 1 : std::max<std::size_t>(1, series.x.size() / 8);
  for (std::size_t k = few ? 0 : step / 2; k < series.x.size(); k += step) {
    if (is_gap(series, k) || !s.shows(series.x[k])) continue;
    const double x = s.at_x(series.x[k]), y = s.at_y(series.y[k]);
    std::string tip = fmt::format("{}\n{} = {}: {}",
                                  plots::plain_text(series.label),
                                  x_name,
                                  short_number(series.x[k]),
                                  short_number(series.y[k]));
    if (banded && !std::isnan(series.low[k])) {
      const double low = s.at_y(series.low[k]), high = s.at_y(series.high[k]);
      if (few && low - high > 9) inside += line(x, low, x, high, "s bar");
      tip += fmt::format(
          " [{}, {}]", short_number(series.low[k]), short_number(series.high[k]));
    }
    if (rate != nullptr) tip += fmt::format("\n{}", rate_text(*rate));
    inside += mark(look.shape, x, y, small ? 2.6 : 4);
    if (!small)
      inside += empty_element(
          "circle",
          {{"class", "hit"}, {"cx", px(x)}, {"cy", px(y)}, {"r", "11"}, {"data-tip", tip}});
  }
  return element("g", group, inside);
}

std::string cut(std::string_view label, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  for (const char c : label) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (starts && ++count > most) return out + "…";
    out += c;
  }
  return out;
}

struct EndLabel {
  double y;
  const plots::Series* series;
  const Rate* rate;
};

Html end_labels(const plots::Panel& panel,
                const Scales& s,
                const std::vector<Rate>& rates,
                const Site& site) {
  std::vector<EndLabel> ends;
  for (const plots::Series& series : panel.series) {
    if (series.dashed || series.label.empty() || series.x.empty()) continue;
    std::size_t k = series.x.size();
    while (k > 0 && (is_gap(series, k - 1) || !s.shows(series.x[k - 1]))) --k;
    if (k > 0) ends.push_back({s.at_y(series.y[k - 1]), &series, rate_of(rates, panel, series)});
  }
  std::ranges::stable_sort(ends, {}, &EndLabel::y);
  const double gap = std::ranges::any_of(ends, [](const EndLabel& e) { return e.rate != nullptr; })
                         ? 45
                         : 17;
  for (int round = 0; round < 60; ++round)
    for (std::size_t k = 0; k + 1 < ends.size(); ++k)
      if (const double lack = gap - (ends[k + 1].y - ends[k].y); lack > 0.1) {
        ends[k].y -= lack / 2;
        ends[k + 1].y += lack / 2;
      }
  const double x = s.frame.width - s.frame.right + 9;
  Html out;
  const double top = s.frame.top + 6;
  const double floor = s.frame.height - 6 - (gap > 20 ? 28 : 0);
  double shift = 0;
  if (!ends.empty() && ends.back().y > floor) shift = floor - ends.back().y;
  if (!ends.empty() && ends.front().y + shift < top) shift = top - ends.front().y;
  for (const EndLabel& e : ends) {
    const double y = e.y + shift;
    Html inside = svg_text(
        x, y + 4, text(cut(plots::plain_text(e.series->label), 20)), "start", "st");
    if (e.rate != nullptr && e.rate->value) {
      inside += svg_text(
          x,
          y + 18,
          text(fmt::format("{} for {}", signed_number(*e.rate->value), claimed_text(*e.rate))));
      inside += svg_text(x, y + 31, text(interval_text(e.rate->low, e.rate->high)), "start", "iv");
    }
    out += element("g",
                   {{"class", fmt::format("ser {}", colour_class(look_of_series(*e.series, site)))},
                    {"data-s", series_id(e.series->label)}},
                   inside);
  }
  return out;
}

std::string described(const plots::Panel& panel, const std::vector<Rate>& rates) {
  std::string out = fmt::format("{}: {} against {}",
                                plots::plain_text(panel.title),
                                plots::plain_text(panel.y.label),
                                plots::plain_text(panel.x.label));
  for (const plots::Series& s : panel.series)
    if (const Rate* r = rate_of(rates, panel, s))
      out += fmt::format("; {}: {}", plots::plain_text(s.label), rate_text(*r));
  return out;
}

Html drawn(const plots::Panel& panel,
           const Scales& s,
           const std::vector<Rate>& rates,
           const Site& site,
           bool small) {
  Html out = axes(panel, s);
  for (const plots::ReferenceLine& l : panel.lines) {
    const bool horizontal = l.direction == plots::Direction::horizontal;
    const double at = horizontal ? s.at_y(l.value) : s.at_x(l.value);
    out += horizontal ? line(s.frame.left, at, s.frame.width - s.frame.right, at, "refline")
                      : line(at, s.frame.top, at, s.frame.height - s.frame.bottom, "refline");
    if (!small && !l.label.empty())
      out += horizontal ? svg_text(s.frame.left + 4, at - 4, svg_markup(l.label))
                        : svg_text(at + 4, s.frame.top + 10, svg_markup(l.label));
  }
  for (const plots::Series& series : panel.series)
    if (series.dashed) out += curve(panel, series, s, rates, site, small);
  for (const plots::Series& series : panel.series)
    if (!series.dashed) out += curve(panel, series, s, rates, site, small);
  for (const plots::Marker& m : panel.markers) {
    const Look look{.colour = static_cast<int>(m.style % 12) + 1,
                    .shape = static_cast<int>(m.style % 4)};
    const Html shape = element(
        "g",
        {{"class", colour_class(look)}},
        mark(look.shape, s.at_x(m.x), s.at_y(m.y), small ? 3 : 4.6));
    out += element("g",
                   {{"data-tip",
                     fmt::format("{}\n{} = {}: {}",
                                 plots::plain_text(m.label),
                                 axis_name(panel.x),
                                 short_number(m.x),
                                 short_number(m.y))}},
                   shape + empty_element("circle",
                                         {{"class", "ring"},
                                          {"cx", px(s.at_x(m.x))},
                                          {"cy", px(s.at_y(m.y))},
                                          {"r", small ? "5" : "8"}}));
  }
  return out;
}

std::size_t named_curves(const plots::Panel& panel) {
  return static_cast<std::size_t>(
      std::ranges::count_if(panel.series, [](const plots::Series& s) {
        return !s.dashed && !s.label.empty();
      }));
}

Scales scales_of(const plots::Panel& panel, const Frame& frame) {
  return {.x = plots::layout_x(panel),
          .y = plots::layout_y(panel),
          .log_x = panel.x.scale == plots::Scale::log,
          .log_y = panel.y.scale == plots::Scale::log,
          .frame = frame};
}

Scales large_scales(const plots::Panel& panel, const std::vector<Rate>& rates) {
  Frame frame;
  const std::size_t curves = named_curves(panel);
  const auto rated = static_cast<std::size_t>(
      std::ranges::count_if(panel.series, [&](const plots::Series& s) {
        return rate_of(rates, panel, s) != nullptr;
      }));
  if (curves > 0 && curves <= most_end_labels) frame.right = 122;
  if (rated > 0) frame.height = std::max(frame.height, 45.0 * static_cast<double>(curves) + 60);
  return scales_of(panel, frame);
}

Html legend(const plots::Figure& figure, const Site& site) {
  Html buttons;
  std::vector<std::string> seen;
  for (const plots::Panel& p : figure.panels)
    for (const plots::Series& s : p.series) {
      if (s.label.empty() || std::ranges::find(seen, s.label) != seen.end()) continue;
      seen.push_back(s.label);
      const Look look = look_of_series(s, site);
      const Html sample = element(
          "svg",
          {{"viewBox", "0 0 22 10"}, {"aria-hidden", "true"}},
          s.dashed ? line(0, 5, 22, 5, "guide")
                   : line(0, 5, 22, 5, "s") + mark(look.shape, 11, 5, 3.4));
      buttons += element("button",
                         {{"type", "button"},
                          {"aria-pressed", "true"},
                          {"data-s", series_id(s.label)},
                          {"class", colour_class(look)}},
                         sample + plain(s.label));
    }
  if (seen.size() < 2) return {};
  return element("div",
                 {{"class", "leg"},
                  {"role", "group"},
                  {"aria-label", "Curves; shift and click shows one alone"}},
                 buttons);
}

}  // namespace

Html panel_svg(const plots::Panel& panel, const std::vector<Rate>& rates, const Site& site) {
  const Scales s = large_scales(panel, rates);
  Html inside = drawn(panel, s, rates, site, false);
  if (s.frame.right > 100) inside += end_labels(panel, s, rates, site);
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {} {}", px(s.frame.width), px(s.frame.height))},
                  {"role", "img"},
                  {"aria-label", described(panel, rates)}},
                 inside);
}

Html small_panel_svg(const plots::Panel& panel, const Site& site) {
  plots::Panel p = panel;
  p.title = panel.y.label;
  p.y.label.clear();
  const Scales s = scales_of(p,
                             {.width = 224,
                              .height = 150,
                              .left = 40,
                              .right = 8,
                              .top = 22,
                              .bottom = 36});
  return element("svg",
                 {{"viewBox", "0 0 224 150"}, {"role", "img"}, {"aria-label", described(panel, {})}},
                 drawn(p, s, {}, site, true));
}

Html figure_html(const plots::Figure& figure,
                 const std::vector<Rate>& rates,
                 const Place& place,
                 const Html& below) {
  Html panels;
  for (const plots::Panel& p : figure.panels) panels += panel_svg(p, rates, place.site);
  Html caption;
  if (!figure.title.empty()) caption += element("b", prose(figure.title, place)) + text(". ");
  caption += prose(figure.caption, place);
  return element(
      "figure",
      {{"id", figure.id}},
      legend(figure, place.site) +
          element("div",
                  {{"class", figure.panels.size() == 1 ? "panels one" : "panels"}},
                  panels) +
          element("figcaption", caption + below));
}

std::string figure_file(const plots::Figure& figure,
                        const std::vector<Rate>& rates,
                        const Site& site) {
  const std::size_t columns = std::max<std::size_t>(1, std::min(figure.columns, figure.panels.size()));
  double width = 0, y = 0, row_height = 0;
  Html inside;
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const Scales s = large_scales(figure.panels[k], rates);
    if (k > 0 && k % columns == 0) {
      y += row_height + 20;
      row_height = 0;
    }
    const double x = static_cast<double>(k % columns) * (s.frame.width + 30);
    Html panel = drawn(figure.panels[k], s, rates, site, false);
    if (s.frame.right > 100)
      panel += end_labels(figure.panels[k], s, rates, site);
    inside += element("g", {{"transform", fmt::format("translate({} {})", px(x), px(y))}}, panel);
    width = std::max(width, x + s.frame.width);
    row_height = std::max(row_height, s.frame.height);
  }
  // Without names at the ends the curves are told apart by a legend below.
  double legend_y = y + row_height + 22;
  std::vector<std::string> seen;
  double x = 0;
  for (const plots::Panel& p : figure.panels) {
    for (const plots::Series& s : p.series) {
      if (s.label.empty() || std::ranges::find(seen, s.label) != seen.end()) continue;
      seen.push_back(s.label);
      const std::string label = plots::plain_text(s.label);
      const double length = 50 + 6.6 * static_cast<double>(label.size());
      if (x > 0 && x + length > width) {
        x = 0;
        legend_y += 18;
      }
      const Look look = look_of_series(s, site);
      inside += element("g",
                        {{"class", colour_class(look)},
                         {"transform", fmt::format("translate({} {})", px(x), px(legend_y - 4))}},
                        s.dashed ? line(0, 0, 26, 0, "guide")
                                 : line(0, 0, 26, 0, "s") + mark(look.shape, 13, 0, 3.6));
      inside += svg_text(x + 32, legend_y, svg_markup(s.label));
      x += length;
    }
  }
  const std::string size = fmt::format("0 0 {} {}", px(width), px(legend_y + 8));
  return element("svg",
                 {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"viewBox", size},
                  {"width", px(width)},
                  {"height", px(legend_y + 8)},
                  {"role", "img"}},
                 element("title", text(plots::alternative_text(figure))) +
                     element("style", trusted(std::string(drawing_style()))) + inside)
             .str() +
         "\n";
}

// ------------------------------------------------------------------------------------ exponents

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
  return empty_element("line",
                       {{"class", std::string(type)},
                        {"x1", x},
                        {"x2", x},
                        {"y1", px(y1)},
                        {"y2", px(y2)}});
}

Html horizontal(std::string_view type, const std::string& x1, const std::string& x2, double y) {
  return empty_element("line",
                       {{"class", std::string(type)},
                        {"x1", x1},
                        {"x2", x2},
                        {"y1", px(y)},
                        {"y2", px(y)}});
}

Html zone_rect(double from, double to) {
  return element("svg",
                 {{"x", fmt::format("{:.2f}%", from)},
                  {"width", fmt::format("{:.2f}%", std::max(0.0, to - from))},
                  {"height", "21"}},
                 empty_element("rect",
                               {{"class", "zone"},
                                {"y", "2"},
                                {"width", "100%"},
                                {"height", "17"},
                                {"rx", "2"}}));
}

std::vector<double> ticks_of(const Column& c) {
  std::vector<double> ticks;
  const double step = c.high - c.low > 2.6 ? 1 : 0.5;
  for (double t = std::ceil(c.low / step + 0.2) * step; t <= c.high - 0.05; t += step)
    ticks.push_back(t);
  return ticks;
}

Html absolute_cell(const Column& c, const Rate* r) {
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
  return element("svg", {{"class", "abs"}, {"aria-hidden", "true"}}, inside);
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
      inside += element(
          "svg",
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
  inside += element("span", {{"class", "vh"}}, text(fmt::format("{}; {}.", rate_text(*r), r->word)));
  if (r->value)
    inside += element("span",
                      {{"class", "num"},
                       {"aria-hidden", "true"},
                       {"style",
                        fmt::format("--x:{};--y:{}",
                                    c.at(*r->value),
                                    deviation_at(deviation(*r, *r->value)))}},
                      text(fmt::format("{} {}",
                                       signed_number(*r->value),
                                       interval_text(r->low, r->high))));
  return element("span", {{"class", css}, {"data-tip", rate_tip(*r)}}, inside);
}

Html forest_head(const Column& c) {
  Html absolute = svg_text(0, 12, text(fmt::format("exponent in {}", c.axis)), "start", "lab");
  for (const double t : ticks_of(c))
    absolute += element("text",
                        {{"x", c.at(t)}, {"y", "29"}, {"text-anchor", "middle"}},
                        text(exponent(t)));
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
                       {"href", place.link(place.address_of(row.claim))},
                       {"data-p", papers},
                       {"data-w", std::string(word_class(row.word))},
                       {"data-ax", axes}},
                      cells);
    }
    const Html title = element(
        "h3", text(g.paper) + text(" ") + element("span", text("· " + g.quantity)));
    out += element("div", {{"class", "fgroup"}}, title + rows);
  }
  return element("div",
                 {{"class", "forest"},
                  {"id", std::string(id)},
                  {"style", fmt::format("--axes:{}", widths)}},
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
    if (!r.value) continue;
    for (const double v : {r.low, r.high})
      most = std::max(most, 1.05 * std::abs(deviation(r, v)));
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
    if (r.value) {
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
    inside += svg_text(
        s.at(t), height - 4, text(t == 0 ? "claimed" : signed_number(t, 2)), "middle");
  }
  return element("svg",
                 {{"viewBox", fmt::format("0 0 500 {}", px(height))},
                  {"role", "img"},
                  {"aria-label", "Measured minus claimed exponent with 95 % intervals and zones"}},
                 inside);
}

Html small_interval_svg(const std::vector<Rate>& rates, const Site& site) {
  const DeviationScale s{.left = 128, .width = 92, .most = std::max(0.065, widest(rates))};
  Html inside;
  double y = 10;
  std::string method;
  for (const Rate& r : rates) {
    if (!r.value) continue;
    if (r.arm != method) {
      if (!method.empty()) y += 5;
      inside += svg_text(0, y + 4, text(cut(r.arm, 16)), "start", "lab");
      method = r.arm;
    }
    const double a = deviation(r, r.zone_low), b = deviation(r, r.zone_high);
    inside += empty_element("rect",
                            {{"class", "zone"},
                             {"x", px(s.at(std::min(a, b)))},
                             {"y", px(y - 6)},
                             {"width", px(s.at(std::max(a, b)) - s.at(std::min(a, b)))},
                             {"height", "12"}});
    inside += svg_text(s.left - 6, y + 4, text(r.axis), "end");
    inside += line(s.at(0), y - 6, s.at(0), y + 6, "tick thin");
    inside += element(
        "g",
        {{"class", colour_class(look_of(r.algorithm, site))},
         {"data-tip", fmt::format("{}\n{}", r.arm, rate_text(r))}},
        empty_element("rect",
                      {{"class", "hit"}, {"x", "100"}, {"y", px(y - 6)}, {"width", "124"}, {"height", "12"}}) +
            line(s.at(deviation(r, r.low)), y, s.at(deviation(r, r.high)), y, "s") +
            mark(0, s.at(deviation(r, *r.value)), y, 3.4));
    y += 12.5;
  }
  const double height = y + 16;
  for (const double t : {-0.05, 0.0, 0.05})
    inside += svg_text(
        s.at(t), height - 4, text(t == 0 ? "0" : signed_number(t, 2)), "middle");
  return element(
      "svg",
      {{"viewBox", fmt::format("0 0 224 {}", px(height))},
       {"role", "img"},
       {"aria-label", "Measured minus claimed exponents with 95 % intervals"}},
      inside);
}

Html bars_svg(const std::vector<std::pair<std::string, double>>& bars) {
  double most = 1;
  for (const auto& [word, count] : bars) most = std::max(most, count);
  Html inside;
  double y = 4;
  for (const auto& [word, count] : bars) {
    const std::string_view css = word_class(word);
    inside += svg_text(84, y + 12, text(short_word(word)), "end");
    inside += empty_element("rect",
                            {{"class", css.empty() ? std::string("barfill") : fmt::format("k-{}", css)},
                             {"x", "90"},
                             {"y", px(y)},
                             {"width", px(std::max(1.0, count / most * 96))},
                             {"height", "15"},
                             {"stroke-width", "1.5"}});
    inside += svg_text(
        96 + count / most * 96, y + 12, text(short_number(count)), "start", "lab");
    y += 22;
  }
  return element("svg",
                 {{"viewBox", fmt::format("0 0 224 {}", px(y + 2))},
                  {"role", "img"},
                  {"aria-label", "Counts"}},
                 inside);
}

// --------------------------------------------------------------------------------------- league

Html levels_svg(const LeagueCell& cell, const Site& site, bool narrow) {
  const double row = 18, top = 44, width = narrow ? 370 : 600, left = narrow ? 142 : 250;
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
    const std::string name =
        narrow ? l.algorithm.substr(l.algorithm.find('/') + 1) : l.algorithm;
    std::string tip = fmt::format("{}\nmedian {}, range [{}, {}], {} seeds",
                                  l.algorithm,
                                  short_number(l.median),
                                  short_number(l.low),
                                  short_number(l.high),
                                  l.seeds);
    if (l.failed > 0) tip += fmt::format(", {} failed", l.failed);
    inside += element(
        "g",
        {{"class", colour_class(look)}, {"data-tip", tip}},
        empty_element("rect",
                      {{"class", "hit"},
                       {"x", "0"},
                       {"y", px(y - 8)},
                       {"width", px(width)},
                       {"height", "16"}}) +
            svg_text(left - 10, y + 4, text(cut(name, narrow ? 21 : 40)), "end") +
            line(at(std::max(l.low, 1e-12)), y, at(std::max(l.high, 1e-12)), y, "s") +
            mark(look.shape, at(std::max(l.median, 1e-12)), y, 4));
    y += row;
  }
  inside += svg_text(width - 8, height - 1, text("sosp_level of the output; lower is better"), "end");
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
    inside += element("g",
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
    inside += empty_element("circle",
                            {{"class", k == 0 ? "dot" : "ring"},
                             {"cx", px(x_of(c.n))},
                             {"cy", px(y_of(c.epsilon))},
                             {"r", px(k == 0 ? 4.0 : 4.0 + 3.2 * static_cast<double>(k))},
                             {"data-tip",
                              fmt::format("{}: ε = {:g}, n = {}, d = {:g}",
                                          c.board,
                                          c.epsilon,
                                          short_number(c.n),
                                          c.d)}});
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
    inside += element("g",
                      {{"data-tip", p.kind}, {"class", p.kind == "minimiser" ? "c0 mini" : "c0 saddle"}},
                      p.kind == "minimiser"
                          ? mark(0, at_x(p.x), at_y(p.y), 5)
                          : trusted(fmt::format("<path class=\"cross\" d=\"M{} {}l8 8m0-8l-8 8\"/>",
                                                px(at_x(p.x) - 4),
                                                px(at_y(p.y) - 4))));
  for (const double v : {picture.x_low, picture.x_high})
    inside += svg_text(at_x(v), top + side + 16, text(short_number(v)), v == picture.x_low ? "start" : "end");
  for (const double v : {picture.y_low, picture.y_high})
    inside += svg_text(left - 5, at_y(v) + (v == picture.y_low ? 0 : 10), text(short_number(v)), "end");
  inside += svg_text(left + side / 2, top + side + 16, svg_markup(picture.x_label), "middle");
  inside += svg_text(left - 8, top + side / 2, svg_markup(picture.y_label), "end");
  return element("svg",
                 {{"viewBox", "0 0 410 394"},
                  {"role", "img"},
                  {"aria-label", plots::plain_text(picture.caption)}},
                 inside);
}

}  // namespace dpsosp::report
