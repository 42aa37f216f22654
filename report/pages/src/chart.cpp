// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "dpsosp/plots/axis_layout.hpp"
#include "dpsosp/plots/markup.hpp"
#include "svg.hpp"

namespace dpsosp::report {
namespace {

/// A curve with at most this many points has marks and bars at each of them.
constexpr std::size_t few_points = 24;

struct Frame {
  double width = 224, height = 150, left = 40, right = 8, top = 22, bottom = 36;
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

/// Colours and shapes of a panel's curves. A method has its own, and a curve that is no method
/// that of its style. Where several curves are of one method, as slices and variants are, those
/// after the first have other shapes, then other colours.
class Looks {
 public:
  Looks(const plots::Panel& panel, const Site& site) : site_(site) {
    for (const plots::Series& s : panel.series) {
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

Html curve(const plots::Series& series, const Scales& s, const Looks& looks) {
  const Look look = looks.of(series);
  const Attributes group{{"class", colour_class(look)}};
  if (series.dashed)
    return element(
        "g", group, empty_element("path", {{"class", "guide"}, {"d", path_of(series, s)}}));
  Html inside;
  const bool few = series.x.size() <= few_points;
  const bool banded = !series.low.empty();
  if (banded && !few)
    inside += empty_element("path", {{"class", "band"}, {"d", band_of(series, s)}});
  inside += empty_element("path", {{"class", "s"}, {"d", path_of(series, s)}});
  const std::size_t step = few ? 1 : std::max<std::size_t>(1, series.x.size() / 8);
  for (std::size_t k = few ? 0 : step / 2; k < series.x.size(); k += step) {
    if (is_gap(series, k) || !s.shows(series.x[k])) continue;
    const double x = s.at_x(series.x[k]);
    if (banded && few && !std::isnan(series.low[k])) {
      const double low = s.at_y(series.low[k]), high = s.at_y(series.high[k]);
      if (low - high > 9) inside += line(x, low, x, high, "s bar");
    }
    inside += mark(look.shape, x, s.at_y(series.y[k]), 2.6);
  }
  return element("g", group, inside);
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

Html drawn(const plots::Panel& panel, const Scales& s, const Looks& looks) {
  Html out = axes(panel, s);
  for (const plots::ReferenceLine& l : panel.lines) {
    const bool horizontal = l.direction == plots::Direction::horizontal;
    const double at = horizontal ? s.at_y(l.value) : s.at_x(l.value);
    out += horizontal ? line(s.frame.left, at, s.frame.width - s.frame.right, at, "refline")
                      : line(at, s.frame.top, at, s.frame.height - s.frame.bottom, "refline");
  }
  for (const plots::Series& series : panel.series)
    if (series.dashed) out += curve(series, s, looks);
  for (const plots::Series& series : panel.series)
    if (!series.dashed) out += curve(series, s, looks);
  for (const plots::Marker& m : panel.markers) {
    const Look look{.colour = static_cast<int>(m.style % 12) + 1,
                    .shape = static_cast<int>(m.style % 4)};
    const double x = s.at_x(m.x), y = s.at_y(m.y);
    out += element("g", {{"class", colour_class(look)}}, mark(look.shape, x, y, 3)) +
           empty_element("circle", {{"class", "ring"}, {"cx", px(x)}, {"cy", px(y)}, {"r", "5"}});
  }
  return out;
}

}  // namespace

Html small_panel_svg(const plots::Panel& panel, const Site& site) {
  plots::Panel p = panel;
  p.title = cut(panel.y.label, 34);
  p.y.label.clear();
  const Scales s{.x = plots::layout_x(p),
                 .y = plots::layout_y(p),
                 .log_x = p.x.scale == plots::Scale::log,
                 .log_y = p.y.scale == plots::Scale::log};
  return element(
      "svg",
      {{"viewBox", "0 0 224 150"}, {"role", "img"}, {"aria-label", described(panel, {})}},
      drawn(p, s, Looks(p, site)));
}

Html figure_html(const plots::Figure& figure,
                 const std::vector<Rate>& rates,
                 const std::string& address,
                 const Place& place,
                 const Html& below) {
  std::string about;
  for (const plots::Panel& p : figure.panels)
    about += fmt::format("{}{}", about.empty() ? "" : ". ", described(p, rates));
  const std::string file = address + ".svg";
  const Html drawing =
      place.site.drawn.contains(file)
          ? empty_element("img", {{"src", place.link(file)}, {"alt", about}})
          : element("p", {{"class", "warning"}}, text("Not drawn here. " + about + "."));
  Html caption;
  if (!figure.title.empty()) caption += element("b", prose(figure.title, place)) + text(". ");
  caption += prose(figure.caption, place);
  return element("figure", {{"id", figure.id}}, drawing + element("figcaption", caption + below));
}

Html small_figure_html(const plots::Figure& figure, const Place& place) {
  Html panels;
  for (const plots::Panel& p : figure.panels) panels += small_panel_svg(p, place.site);
  return element(
      "figure", {{"id", figure.id}}, panels + element("figcaption", prose(figure.caption, place)));
}

}  // namespace dpsosp::report
