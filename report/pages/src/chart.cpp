// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "dpsosp/plots/axis_layout.hpp"
#include "dpsosp/plots/markup.hpp"
#include "style_file.hpp"
#include "svg.hpp"

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

/// Colours and shapes of a figure's curves. A method has its own, and a curve that is no method
/// that of its style. Where several curves are of one method, as slices and variants are, those
/// after the first have other shapes, then other colours.
class Looks {
 public:
  Looks(std::span<const plots::Panel> panels, const Site& site) : site_(site) {
    for (const plots::Panel& p : panels)
      for (const plots::Series& s : p.series) {
        if (s.dashed || by_label_.contains(s.label)) continue;
        Look look = usual(s);
        for (int tried = 1; is_taken(look); ++tried) {
          look.shape = (look.shape + 1) % shapes;
          if (tried % shapes == 0) look.colour = look.colour % colours + 1;
          if (tried > shapes * colours) break;
        }
        by_label_.emplace(s.label, look);
      }
  }

  Look of(const plots::Series& s) const {
    const auto found = by_label_.find(s.label);
    return s.dashed || found == by_label_.end() ? usual(s) : found->second;
  }

 private:
  static constexpr int shapes = 4, colours = 12;

  Look usual(const plots::Series& s) const {
    Look look = look_of(s.algorithm, site_);
    if (look.colour == 0 && !s.dashed)
      look = {.colour = static_cast<int>(s.style % colours) + 1,
              .shape = static_cast<int>(s.style % shapes)};
    return look;
  }
  bool is_taken(const Look& look) const {
    return std::ranges::any_of(by_label_, [&](const auto& other) {
      return other.second.colour == look.colour && other.second.shape == look.shape;
    });
  }

  const Site& site_;
  std::map<std::string, Look, std::less<>> by_label_;
};

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
  if (const auto space = name.rfind(' ');
      name.starts_with("records ") || name.starts_with("dimension "))
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
    const double half = text_width(t.label) / 2;
    if (x - half < last + 8) continue;
    out += svg_text(x, base + 17, svg_markup(t.label), "middle");
    last = x + half;
  }
  return out + svg_text(f.width - f.right, f.height - 6, svg_markup(panel.x.label), "end");
}

/// The way to the next point that is drawn: a curve of hundreds of points has one in two or three
/// pixels, its last one among them.
std::size_t step_of(const plots::Series& series, std::size_t k) {
  constexpr std::size_t most_points = 90;
  const std::size_t step = std::max<std::size_t>(1, series.x.size() / most_points);
  if (k + 1 >= series.x.size()) return 1;
  const std::size_t way = std::min(step, series.x.size() - 1 - k);
  for (std::size_t j = k; j <= k + way; ++j)
    if (is_gap(series, j)) return 1;
  return way;
}

std::string path_of(const plots::Series& series, const Scales& s) {
  std::string d;
  bool pen = false;
  for (std::size_t k = 0; k < series.x.size(); k += step_of(series, k)) {
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
  for (std::size_t k = 0; k < series.x.size(); k += step_of(series, k)) {
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
           const Looks& looks,
           bool small) {
  const Look look = looks.of(series);
  const Attributes group{{"class", fmt::format("ser {}", colour_class(look))},
                         {"data-s", series_id(series.label)}};
  if (series.dashed)
    return element(
        "g", group, empty_element("path", {{"class", "guide"}, {"d", path_of(series, s)}}));
  Html inside;
  const bool few = series.x.size() <= few_points;
  const bool banded = !series.low.empty();
  if (banded && !few)
    inside += empty_element("path", {{"class", "band"}, {"d", band_of(series, s)}});
  inside += empty_element("path", {{"class", "s"}, {"d", path_of(series, s)}});
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
      tip += fmt::format(" [{}, {}]", short_number(series.low[k]), short_number(series.high[k]));
    }
    inside += mark(look.shape, x, y, small ? 2.6 : 4);
    if (!small)
      inside += empty_element(
          "circle",
          {{"class", "hit"}, {"cx", px(x)}, {"cy", px(y)}, {"r", "11"}, {"data-tip", tip}});
  }
  return element("g", group, inside);
}

struct EndLabel {
  double y;
  const plots::Series* series;
  const Rate* rate;
};

/// "−0.436 for −1/2 to −1/3".
std::string slope_text(const Rate& rate) {
  return signed_number(*rate.value) +
         (is_claimed(rate) ? fmt::format(" for {}", claimed_text(rate)) : "");
}

Html end_labels(const plots::Panel& panel,
                const Scales& s,
                const std::vector<Rate>& rates,
                const Looks& looks) {
  std::vector<EndLabel> ends;
  for (const plots::Series& series : panel.series) {
    if (series.dashed || series.label.empty() || series.x.empty()) continue;
    std::size_t k = series.x.size();
    while (k > 0 && (is_gap(series, k - 1) || !s.shows(series.x[k - 1]))) --k;
    if (k > 0) ends.push_back({s.at_y(series.y[k - 1]), &series, rate_of(rates, panel, series)});
  }
  std::ranges::stable_sort(ends, {}, &EndLabel::y);
  const double gap =
      std::ranges::any_of(ends, [](const EndLabel& e) { return e.rate != nullptr; }) ? 45 : 17;
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
    Html inside =
        svg_text(x, y + 4, text(cut(plots::plain_text(e.series->label), 26)), "start", "st");
    if (e.rate != nullptr && e.rate->value) {
      inside += svg_text(x, y + 18, text(slope_text(*e.rate)));
      inside += svg_text(x, y + 31, text(interval_text(e.rate->low, e.rate->high)), "start", "iv");
    }
    out += element("g",
                   {{"class", fmt::format("ser {}", colour_class(looks.of(*e.series)))},
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

Html drawn(const plots::Panel& panel, const Scales& s, const Looks& looks, bool small) {
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
    if (series.dashed) out += curve(panel, series, s, looks, small);
  for (const plots::Series& series : panel.series)
    if (!series.dashed) out += curve(panel, series, s, looks, small);
  for (const plots::Marker& m : panel.markers) {
    const Look look{.colour = static_cast<int>(m.style % 12) + 1,
                    .shape = static_cast<int>(m.style % 4)};
    const Html shape = element("g",
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
  return static_cast<std::size_t>(std::ranges::count_if(
      panel.series, [](const plots::Series& s) { return !s.dashed && !s.label.empty(); }));
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
  const auto rated = static_cast<std::size_t>(std::ranges::count_if(
      panel.series, [&](const plots::Series& s) { return rate_of(rates, panel, s) != nullptr; }));
  if (curves > 0 && curves <= most_end_labels) {
    double longest = 0;
    for (const plots::Series& s : panel.series) {
      if (!s.dashed) longest = std::max(longest, text_width(s.label));
      if (const Rate* r = rate_of(rates, panel, s); r != nullptr && r->value)
        longest = std::max(longest, text_width(slope_text(*r)));
    }
    frame.right = std::clamp(longest * 1.1 + 12, 122.0, 190.0);
    frame.width = 258 + frame.right;
  }
  if (rated > 0) frame.height = std::max(frame.height, 45.0 * static_cast<double>(curves) + 60);
  return scales_of(panel, frame);
}

Html legend(const plots::Figure& figure, const Looks& looks) {
  Html buttons;
  std::vector<std::string> seen;
  for (const plots::Panel& p : figure.panels)
    for (const plots::Series& s : p.series) {
      if (s.label.empty() || std::ranges::find(seen, s.label) != seen.end()) continue;
      seen.push_back(s.label);
      const Look look = looks.of(s);
      const Html sample = element("svg",
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

Html panel_svg(const plots::Panel& panel, const std::vector<Rate>& rates, const Looks& looks) {
  const Scales s = large_scales(panel, rates);
  Html inside = drawn(panel, s, looks, false);
  if (s.frame.right > 100) inside += end_labels(panel, s, rates, looks);
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {} {}", px(s.frame.width), px(s.frame.height))},
                  {"role", "img"},
                  {"aria-label", described(panel, rates)}},
                 inside);
}

}  // namespace

Html small_panel_svg(const plots::Panel& panel, const Site& site) {
  plots::Panel p = panel;
  p.title = cut(panel.y.label, 34);
  p.y.label.clear();
  const Scales s =
      scales_of(p, {.width = 224, .height = 150, .left = 40, .right = 8, .top = 22, .bottom = 36});
  return element(
      "svg",
      {{"viewBox", "0 0 224 150"}, {"role", "img"}, {"aria-label", described(panel, {})}},
      drawn(p, s, Looks({&panel, 1}, site), true));
}

Html figure_html(const plots::Figure& figure,
                 const std::vector<Rate>& rates,
                 const Place& place,
                 const Html& below) {
  const Looks looks(figure.panels, place.site);
  Html panels;
  for (const plots::Panel& p : figure.panels) panels += panel_svg(p, rates, looks);
  Html caption;
  if (!figure.title.empty()) caption += element("b", prose(figure.title, place)) + text(". ");
  caption += prose(figure.caption, place);
  Attributes attributes{{"id", figure.id}};
  if (figure.panels.size() == 1) attributes.emplace_back("class", "single");
  return element("figure",
                 attributes,
                 legend(figure, looks) + element("div", {{"class", "panels"}}, panels) +
                     element("figcaption", caption + below));
}

std::string figure_file(const plots::Figure& figure,
                        const std::vector<Rate>& rates,
                        const Site& site) {
  const std::size_t columns =
      std::max<std::size_t>(1, std::min(figure.columns, figure.panels.size()));
  const Looks looks(figure.panels, site);
  double width = 0, y = 0, row_height = 0;
  Html inside;
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const Scales s = large_scales(figure.panels[k], rates);
    if (k > 0 && k % columns == 0) {
      y += row_height + 20;
      row_height = 0;
    }
    const double x = static_cast<double>(k % columns) * (s.frame.width + 30);
    Html panel = drawn(figure.panels[k], s, looks, false);
    if (s.frame.right > 100) panel += end_labels(figure.panels[k], s, rates, looks);
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
      const Look look = looks.of(s);
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

}  // namespace dpsosp::report
