// SPDX-License-Identifier: Apache-2.0
#include "prose.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dpsosp/plots/markup.hpp"

namespace dpsosp::report {
namespace {

/// How many colours the style sheet has, and shapes the drawings.
constexpr int colours = 12;
constexpr int shapes = 4;

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '/' || c == '.';
}

/// Whether a word of running text may stand for a page: a name that is also a common word, as
/// "ramp", may not.
bool is_telling(std::string_view name) {
  return name.find_first_of("/-0123456789") != std::string_view::npos;
}

/// Ids of errata are short; only those that nothing else is called by are recognised everywhere.
bool is_erratum(std::string_view name) {
  return name.size() >= 2 && name.size() <= 3 && name[0] >= 'A' && name[0] <= 'Z' &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}
bool is_rare_letter(char c) { return c == 'X' || c == 'W' || c == 'Z'; }

/// Markup of a stretch without code, with links.
class Linker {
 public:
  Linker(std::string_view markup, const Place* place) : rest_(markup), place_(place) {}

  Html html() {
    while (!rest_.empty()) {
      std::size_t length = 0;
      while (length < rest_.size() && is_name_character(rest_[length])) ++length;
      if (length == 0) {
        pending_ += rest_.front();
        if (rest_.front() == ';' || rest_.front() == ':') errata_ = false;
        rest_.remove_prefix(1);
        continue;
      }
      std::string_view name = rest_.substr(0, length);
      while (!name.empty() && (name.back() == '.' || name.back() == '-' || name.back() == '/'))
        name.remove_suffix(1);
      if (name.empty()) name = rest_.substr(0, 1);
      if (name.starts_with("errat")) errata_ = true;
      const std::string address = place_ == nullptr ? std::string{} : target(name);
      if (address.empty()) {
        pending_ += name;
      } else {
        flush();
        out_ += element("a", {{"href", address}}, text(name));
      }
      rest_.remove_prefix(name.size());
    }
    flush();
    return out_;
  }

 private:
  std::string target(std::string_view name) const {
    if (is_erratum(name) ? !(errata_ || is_rare_letter(name[0])) : !is_telling(name)) return {};
    const std::string address = place_->address_of(name);
    return address == place_->here ? std::string{} : place_->link(address);
  }
  void flush() {
    out_ += trusted(plots::html_text(pending_));
    pending_.clear();
  }

  std::string_view rest_;
  const Place* place_;
  bool errata_ = false;
  std::string pending_;
  Html out_;
};

Html with_code(std::string_view markup, const Place* place) {
  Html out;
  for (bool code = false;; code = !code) {
    std::size_t end = markup.find('`');
    if (!code && end != std::string_view::npos &&
        markup.find('`', end + 1) == std::string_view::npos)
      end = std::string_view::npos;  // a single one is literal
    const std::string_view piece = markup.substr(0, end);
    if (!code) {
      out += Linker(piece, place).html();
    } else {
      const std::string address = place == nullptr ? std::string{} : place->address_of(piece);
      const Html content = element("code", text(plots::plain_text(piece)));
      out += address.empty() || address == place->here
                 ? content
                 : element("a", {{"href", place->link(address)}}, content);
    }
    if (end == std::string_view::npos) return out;
    markup.remove_prefix(end + 1);
  }
}

std::string minus(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

struct Word {
  std::string_view word;
  std::string_view css;
  std::string_view brief;
  std::string_view mark;
};
constexpr std::array words = std::to_array<Word>(
    {{"confirmed", "confirmed", "confirmed", R"(<circle cx="6" cy="6" r="4.6"/>)"},
     {"bound met, exponent open",
      "bound",
      "bound met",
      R"(<circle cx="6" cy="6" r="4" stroke-width="2"/>)"},
     {"vacuous",
      "vacuous",
      "vacuous",
      R"(<circle cx="6" cy="6" r="4" stroke-width="2" stroke-dasharray="2 2"/>)"},
     {"refuted", "refuted", "refuted", R"(<rect x="1.6" y="1.6" width="8.8" height="8.8"/>)"},
     {"slip",
      "slip",
      "slip",
      R"(<rect x="2.2" y="2.2" width="7.6" height="7.6" stroke-width="2"/>)"},
     {"open", "open", "open", R"(<path d="M6 1 11 10.4H1Z"/>)"}});
const Word* find_word(std::string_view word) {
  const auto* const found = std::ranges::find(words, word, &Word::word);
  return found == words.end() ? nullptr : found;
}

struct Entry {
  std::string_view label;
  std::string_view address;
};
constexpr std::array navigation = std::to_array<Entry>({{"Summary", "index.html"},
                                                        {"Exhibits", "index.html#exhibits"},
                                                        {"Claims", "claims/list.html"},
                                                        {"Algorithms", "algorithms/index.html"},
                                                        {"Problems", "problems/index.html"},
                                                        {"League", "league.html"},
                                                        {"Which method?", "which.html"},
                                                        {"What moved", "moved.html"},
                                                        {"Privacy", "privacy.html"},
                                                        {"Speed", "speed.html"},
                                                        {"Provenance", "provenance.html"}});

/// Whether the report has the page of an entry of the navigation.
bool has_page(const Site& site, std::string_view address) {
  if (address.starts_with("index.html")) return !site.index.title.empty();
  if (address.starts_with("claims/")) return !site.claims.empty();
  if (address.starts_with("algorithms/")) return !site.algorithms.empty();
  if (address.starts_with("problems/")) return !site.problems.empty();
  if (address == "which.html") return site.which.has_value();
  const std::string id(address.substr(0, address.rfind('.')));
  return std::ranges::find(site.texts, id, &TextPage::id) != site.texts.end();
}

}  // namespace

std::string Place::link(std::string_view address) const {
  if (address.empty()) return {};
  if (address.starts_with('#')) return std::string(address);
  const auto depth = std::ranges::count(here, '/');
  std::string up;
  for (auto k = depth; k > 0; --k) up += "../";
  return up + std::string(address);
}

std::string Place::address_of(std::string_view name) const {
  const auto found = site.addresses.find(std::string(name));
  return found == site.addresses.end() ? std::string{} : found->second;
}

std::string Place::address_of_claim(std::string_view id) const {
  const std::string own = address_of(fmt::format("claim {}", id));
  return own.empty() ? address_of(id) : own;
}

Html claim_link(std::string_view id, const Place& place) {
  const std::string address = place.address_of_claim(id);
  if (address.empty() || address == place.here) return text(id);
  return element("a", {{"href", place.link(address)}}, text(id));
}

Html prose(std::string_view markup, const Place& place) { return with_code(markup, &place); }
Html plain(std::string_view markup) { return with_code(markup, nullptr); }

Html paragraph(std::string_view markup, const Place& place, std::string_view type) {
  if (markup.empty()) return {};
  return element("p",
                 type.empty() ? Attributes{} : Attributes{{"class", std::string(type)}},
                 prose(markup, place));
}

Html paragraphs(const std::vector<std::string>& texts, const Place& place) {
  Html out;
  for (const std::string& t : texts) out += paragraph(t, place);
  return out;
}

Html link_to(std::string_view address, std::string_view label, const Place& place) {
  return element("a", {{"href", place.link(address)}}, plain(label));
}

Html named(std::string_view name, const Place& place) {
  Html label = text(name);
  const Look look = look_of(name, place.site);
  if (look.colour > 0)
    label = element("span", {{"class", fmt::format("swatch {}", colour_class(look))}}, {}) + label;
  const std::string address = place.address_of(name);
  if (address.empty() || address == place.here) return label;
  return element("a", {{"href", place.link(address)}}, label);
}

Html links(const std::vector<std::string>& names, const Place& place) {
  Html out;
  for (const std::string& name : names) {
    if (!out.empty()) out += text(", ");
    out += named(name, place);
  }
  return out;
}

std::string_view word_class(std::string_view word) {
  const Word* w = find_word(word);
  return w == nullptr ? std::string_view{} : w->css;
}
std::string_view short_word(std::string_view word) {
  const Word* w = find_word(word);
  return w == nullptr ? word : w->brief;
}
const std::vector<std::string_view>& headline_words() {
  static const std::vector<std::string_view> list = [] {
    std::vector<std::string_view> all;
    for (const Word& w : words) all.push_back(w.word);
    return all;
  }();
  return list;
}
std::string_view worst_word(const std::vector<std::string_view>& given) {
  for (const char* word :
       {"refuted", "open", "slip", "vacuous", "bound met, exponent open", "confirmed"})
    if (std::ranges::find(given, word) != given.end()) return word;
  return {};
}
Html word_mark(std::string_view word) {
  const Word* w = find_word(word);
  if (w == nullptr) return {};
  return element(
      "svg",
      {{"viewBox", "0 0 12 12"}, {"aria-hidden", "true"}, {"class", fmt::format("k-{}", w->css)}},
      trusted(std::string(w->mark)));
}
Html word_label(std::string_view word, bool whole) {
  const Word* w = find_word(word);
  if (w == nullptr) return element("span", {{"class", "tag"}}, plain(word));
  return element("span",
                 {{"class", fmt::format("word w-{}", w->css)}},
                 word_mark(word) + text(whole ? w->word : w->brief));
}

Look look_of(std::string_view algorithm, const Site& site) {
  for (std::size_t k = 0; k < site.methods.size(); ++k)
    if (site.methods[k].key == algorithm)
      return {.colour = static_cast<int>(k % colours) + 1,
              .shape = static_cast<int>(k / colours) % shapes};
  return {};
}
std::string colour_class(const Look& look) { return fmt::format("c{}", look.colour); }

std::string signed_number(double value, int digits) {
  return minus(fmt::format("{:+.{}f}", value, digits));
}
std::string exponent(double value) {
  for (int denominator = 1; denominator <= 14; ++denominator) {
    const double numerator = value * denominator;
    if (std::abs(numerator - std::round(numerator)) >= 2e-3) continue;
    const auto whole = static_cast<int>(std::round(numerator));
    if (whole == 0) return "0";
    return minus(denominator == 1 ? fmt::format("{:+d}", whole)
                                  : fmt::format("{:+d}/{}", whole, denominator));
  }
  return signed_number(value);
}
std::string claimed_text(const Rate& r) {
  if (!is_claimed(r)) return "–";
  if (r.claimed_low == r.claimed_high) return exponent(r.claimed_high);
  return fmt::format("{} to {}", exponent(r.claimed_low), exponent(r.claimed_high));
}
std::string interval_text(double low, double high) {
  return fmt::format("[{}, {}]", signed_number(low), signed_number(high));
}
std::string rate_text(const Rate& r) {
  std::string out = fmt::format("exponent in {}: ", r.axis);
  out += is_claimed(r) ? fmt::format("claimed {}", claimed_text(r)) : "none claimed";
  if (!r.value) return out + ", no slope";
  return out +
         fmt::format(", measured {} {}", signed_number(*r.value), interval_text(r.low, r.high));
}
std::string power_of_ten(int e) {
  static constexpr std::array<std::string_view, 10> digits{
      "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out = "10";
  if (e < 0) out += "⁻";
  for (const char c : std::to_string(std::abs(e))) out += digits[static_cast<std::size_t>(c - '0')];
  return out;
}
std::string short_number(double v) {
  if (std::isnan(v)) return "–";
  if (std::isinf(v)) return v > 0 ? "∞" : "−∞";
  if (v == 0) return "0";
  const int e = static_cast<int>(std::floor(std::log10(std::abs(v)) + 1e-12));
  if (e >= -3 && e < 5) {
    const std::string digits = fmt::format("{:.{}f}", v, std::max(0, 2 - e));
    return minus(std::abs(v - std::round(v)) < 1e-9 * std::abs(v) ? fmt::format("{:.0f}", v)
                                                                  : digits);
  }
  const double mantissa = v / std::pow(10, e);
  const std::string power = power_of_ten(e);
  if (std::abs(mantissa - 1) < 1e-9) return power;
  return minus(fmt::format("{:.3g}·{}", mantissa, power));
}

Html command_box(std::string_view command) {
  if (command.empty()) return {};
  return element("div",
                 {{"class", "cmd"}},
                 element("code", text(command)) + element("button",
                                                          {{"type", "button"},
                                                           {"data-copy", std::string(command)},
                                                           {"aria-label", "Copy the command"}},
                                                          text("copy")));
}

Html heading(int level, std::string_view title, std::string_view id) {
  const Html self =
      element("a",
              {{"class", "self"}, {"href", fmt::format("#{}", id)}, {"aria-label", "Permalink"}},
              text("#"));
  return element(fmt::format("h{}", level), {{"id", std::string(id)}}, plain(title) + self);
}

Html fold(std::string_view title, std::string_view remark, const Html& content) {
  Html summary = plain(title);
  if (!remark.empty()) summary += text(" ") + element("small", plain(remark));
  return element("details", {{"class", "fold"}}, element("summary", summary) + content);
}

std::string page(const Place& place,
                 std::string_view section,
                 std::string_view title,
                 const Html& body) {
  Html nav;
  for (const Entry& e : navigation) {
    if (!has_page(place.site, e.address)) continue;
    Attributes a{{"href", place.link(e.address)}};
    if (e.label == section) a.emplace_back("aria-current", "page");
    nav += element("a", a, text(e.label));
  }
  const bool whole = !nav.empty();  // not one page alone
  const Html find =
      element("div",
              {{"class", "find"}, {"role", "search"}},
              void_element("input",
                           {{"type", "search"},
                            {"id", "q"},
                            {"placeholder", "Search  ( / )"},
                            {"aria-label", "Search the report"},
                            {"autocomplete", "off"}}) +
                  element("ul", {{"class", "hits"}, {"id", "hits"}, {"hidden", ""}}, {}));
  const Html top = element(
      "header",
      {{"class", "top"}},
      element(
          "div",
          {{"class", "wrap"}},
          element("a", {{"class", "brand"}, {"href", place.link("index.html")}}, text("dpsosp")) +
              (whole ? element("nav", {{"aria-label", "Report"}}, nav) + find : Html{}) +
              element("button",
                      {{"class", "tbtn"},
                       {"type", "button"},
                       {"id", "theme"},
                       {"aria-label", "Switch between light and dark"}},
                      text("◐"))));
  std::string json = place.here.substr(place.here.rfind('/') + 1);
  json.replace(json.rfind(".html"), 5, ".json");
  const Html foot = element(
      "footer",
      {{"class", "end"}},
      element("div",
              {{"class", "wrap"}},
              text(fmt::format("Scale {}; dpsosp {}. ", place.site.scale, place.site.version)) +
                  element("a", {{"href", json}}, text("This page as JSON")) + text(".") +
                  (whole ? text(" ") +
                               link_to("provenance.html", "How these results were made", place) +
                               text(".")
                         : Html{})));
  const std::string up = place.link("x").substr(0, place.link("x").size() - 1);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{} · dpsosp</title>\n<link rel=\"stylesheet\" href=\"{}style.css\">\n"
      "<script src=\"{}theme.js\"></script>\n</head>\n<body data-up=\"{}\">\n"
      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n{}\n"
      "<main id=\"main\" class=\"wrap\">\n{}\n</main>\n{}\n"
      "<div id=\"tip\" role=\"status\" aria-live=\"polite\"></div>\n"
      "{}<script src=\"{}report.js\"></script>\n</body>\n</html>\n",
      text(plots::plain_text(title)).str(),
      up,
      up,
      up,
      top.str(),
      body.str(),
      foot.str(),
      whole ? fmt::format("<script src=\"{}search.js\"></script>\n", up) : "",
      up);
}

}  // namespace dpsosp::report
