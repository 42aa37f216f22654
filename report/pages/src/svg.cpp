// SPDX-License-Identifier: Apache-2.0
#include "svg.hpp"

#include "dpsosp/plots/markup.hpp"

namespace dpsosp::report {

Html svg_text(
    double x, double y, const Html& content, std::string_view anchor, std::string_view type) {
  Attributes a{{"x", px(x)}, {"y", px(y)}};
  if (anchor != "start") a.emplace_back("text-anchor", std::string(anchor));
  if (!type.empty()) a.emplace_back("class", std::string(type));
  return element("text", a, content);
}

Html svg_markup(std::string_view markup) {
  std::string html = plots::html_text(markup);
  const auto swap_tag = [&](const std::string& tag, const std::string& shift) {
    const std::string open = "<" + tag + ">", close = "</" + tag + ">";
    for (std::size_t at = 0; (at = html.find(open, at)) != std::string::npos;) {
      const std::size_t end = html.find(close, at);
      const std::string inside = html.substr(at + open.size(), end - at - open.size());
      const std::string piece =
          "<tspan dy=\"" + shift + "\" font-size=\"75%\">" + inside + "</tspan><tspan dy=\"" +
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
            fmt::format(
                "M{} {}h{}l-{} {}Z", px(x - r), px(y - r * 0.8), px(2 * r), px(r), px(1.8 * r))}});
    default:
      return empty_element("circle", {{"class", "m"}, {"cx", px(x)}, {"cy", px(y)}, {"r", px(r)}});
  }
}

double text_width(std::string_view markup) {
  constexpr double character = 6.6, of_script = 5;
  double width = 0;
  bool script = false;
  for (std::size_t k = 0; k < markup.size(); ++k) {
    const char c = markup[k];
    if ((c == '^' || c == '_') && k + 1 < markup.size() && markup[k + 1] == '{') {
      script = true;
      ++k;
    } else if (c == '}') {
      script = false;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      width += script ? of_script : character;
    }
  }
  return width;
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

}  // namespace dpsosp::report
