// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "chart.hpp"
#include "page_writers.hpp"

namespace dpsosp::report {
namespace {

struct Definition {
  std::string_view word, meaning;
};
constexpr Definition definitions[] = {
    {"confirmed",
     "Measured as claimed: the 95 % interval lies in the zone around the claimed exponent, or "
     "follows the claimed expression with all its terms, or the statement’s test is passed."},
    {"bound met, exponent open",
     "An upper bound that every level respects, with this suite’s constants where the paper prints "
     "none, or to which the ratio does not rise; the exponent is another in this range, better or "
     "flatter, or is not pinned down. It supports the bound and not the exponent."},
    {"vacuous", "A bound that nothing in reach could have broken: it says nothing here."},
    {"refuted",
     "A measurement, or a derivation under the source’s own hypotheses, contradicts it."},
    {"slip", "An error of text or constants that leaves the result standing."},
    {"open", "Not decided, not reachable here, or not measured."}};

Html highlight_html(const Highlight& h, const Place& place) {
  Html drawing;
  if (!h.intervals.empty())
    drawing = small_interval_svg(h.intervals, place.site);
  else if (h.panel)
    drawing = small_panel_svg(*h.panel, place.site);
  Html sentence = prose(h.sentence, place);
  if (!h.page.empty()) sentence += text(" ") + link_to(h.page, "More", place);
  return element("li", element("p", sentence) + drawing + command_box(h.command));
}

Html tile(const WordCounts& row, std::string_view word, int most) {
  const auto found = row.counts.find(std::string(word));
  const int count = found == row.counts.end() ? 0 : found->second;
  std::string set = row.paper.empty() ? "" : "paper=" + row.paper;
  std::string css = "tile";
  if (word.empty()) {
    css += " tot";
  } else {
    if (!set.empty()) set += '&';
    set += fmt::format("word={}", word_class(word));
    css += fmt::format(" w-{}", word_class(word));
    if (row.paper.empty()) css += " tot";
  }
  const int shown = word.empty() ? row.all : count;
  Attributes a{{"type", "button"},
               {"class", css},
               {"data-set", set},
               {"aria-pressed", "false"},
               {"aria-label",
                fmt::format("{}, {}: {} claims",
                            row.paper.empty() ? "all papers" : row.name,
                            word.empty() ? "all words" : word,
                            shown)}};
  if (shown == 0) a.emplace_back("disabled", "");
  Html bar;
  if (!word.empty() && !row.paper.empty() && count > 0)
    bar = element("i", {{"style", fmt::format("width:{:.0f}%", 100.0 * count / most)}}, {});
  return element("td", element("button", a, bar + text(std::to_string(shown))));
}

Html tiles(const std::vector<WordCounts>& words, const Place& place) {
  int most = 1;
  for (const WordCounts& row : words)
    if (!row.paper.empty())
      for (const auto& [unused, count] : row.counts) most = std::max(most, count);
  Html head = element("th", {{"scope", "col"}}, text("paper"));
  for (const std::string_view word : headline_words())
    head += element("th", {{"scope", "col"}}, word_label(word));
  head += element("th", {{"scope", "col"}}, text("all"));
  Html rows;
  for (const WordCounts& row : words) {
    const std::string address = row.paper.empty() ? "" : place.address_of(row.paper);
    Html cells = element("th",
                         {{"scope", "row"}},
                         address.empty() ? text(row.name) : link_to(address, row.name, place));
    for (const std::string_view word : headline_words()) cells += tile(row, word, most);
    rows += element("tr", cells + tile(row, {}, most));
  }
  return element(
      "table",
      {{"class", "tiles"}},
      element("caption",
              {{"class", "vh"}},
              text("Claims by paper and headline word; each number filters the forest plot")) +
          element("thead", element("tr", head)) + element("tbody", rows));
}

Html chip(std::string set, std::string_view label) {
  return element("button",
                 {{"type", "button"},
                  {"class", "chip"},
                  {"data-set", std::move(set)},
                  {"aria-pressed", "false"}},
                 text(label));
}

Html filters(const IndexPage& page) {
  Html chips;
  std::vector<std::string> papers;
  for (const ForestGroup& g : page.forest)
    for (const ForestRow& r : g.rows)
      if (std::ranges::find(papers, r.paper) == papers.end()) papers.push_back(r.paper);
  for (const std::string& p : papers) chips += chip("paper=" + p, p);
  const Html separator = element("span", {{"class", "sep"}}, {});
  chips += separator + element("span", text("axis"));
  for (const auto& [css, label] : {std::pair{"n", "n"}, {"d", "d"}, {"e", "ε"}})
    chips += chip(std::string("axis=") + css, label);
  chips += separator;
  for (const std::string_view word : headline_words())
    chips += chip(fmt::format("word={}", word_class(word)), short_word(word));
  chips += separator + chip("view=dev", "measured − claimed") + chip("nums=1", "numbers");
  chips += element("button",
                   {{"type", "button"}, {"class", "chip"}, {"id", "reset"}, {"hidden", ""}},
                   text("show all"));
  chips += element("output", {{"id", "fcount"}}, {});
  return element("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "Filters"}}, chips);
}

Html missing_html(const std::vector<Missing>& missing, const Place& place) {
  if (missing.empty()) return element("p", text("Nothing that can be run here is missing."));
  Html rows;
  for (const Missing& m : missing) {
    Html what = m.page.empty() ? prose(m.what, place) : link_to(m.page, m.what, place);
    Html content = element("b", what) + text(": ") + prose(m.why, place);
    rows += element("li", content + command_box(m.command));
  }
  return element("ul", {{"class", "missing"}}, rows);
}

Html exhibits_html(const std::vector<ExhibitCard>& exhibits, const Place& place) {
  std::vector<std::string> papers;
  for (const ExhibitCard& e : exhibits)
    if (std::ranges::find(papers, e.paper) == papers.end()) papers.push_back(e.paper);
  Html out;
  for (const std::string& paper : papers) {
    Html items;
    for (const ExhibitCard& e : exhibits) {
      if (e.paper != paper) continue;
      const Html title = e.page.empty() ? element("span", {{"class", "unwritten"}}, plain(e.title))
                                        : link_to(e.page, e.title, place);
      items += element("li", title + element("span", {{"class", "small"}}, plain(e.verdict)));
    }
    out += element("div", element("h3", plain(paper)) + element("ul", items));
  }
  return element("div", {{"class", "exhibits"}}, out);
}

}  // namespace

std::string index_html(const IndexPage& page, const Site& site) {
  const Place place{site, "index.html"};
  Html toc;
  const auto entry = [&](std::string_view id, std::string_view label, bool there) {
    if (there) toc += element("li", element("a", {{"href", fmt::format("#{}", id)}}, text(label)));
  };
  entry("findings", "Findings", !page.highlights.empty());
  entry("words", "Claims by word", !page.words.empty());
  entry("forest-plot", "All exponents, claimed and measured", !page.forest.empty());
  entry("exhibits", "Exhibits", true);
  entry("missing", "Missing, and not private", true);
  Html body =
      element("div",
              {{"class", "hero"}},
              element("div",
                      element("h1", plain(page.title)) + paragraph(page.lead, place, "lead") +
                          paragraph(page.warning, place, "warning")) +
                  element("nav",
                          {{"class", "toc"}, {"aria-label", "On this page"}},
                          element("b", text("On this page")) + element("ol", toc)));
  if (!page.highlights.empty()) {
    Html items;
    for (const Highlight& h : page.highlights) items += highlight_html(h, place);
    body +=
        element("section",
                heading(2, "Findings", "findings") + element("ol", {{"class", "finds"}}, items) +
                    paragraph(page.rule, place, "small"));
  }
  if (!page.words.empty()) {
    Html list;
    for (const Definition& d : definitions)
      list += element("p", word_label(d.word, true) + text(" ") + text(d.meaning));
    Html others;
    for (const WordCounts& w : page.others) {
      std::string counts;
      for (const std::string_view word : headline_words())
        if (const auto c = w.counts.find(std::string(word)); c != w.counts.end())
          counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", c->second, short_word(word));
      others += element("p", {{"class", "small"}}, plain(fmt::format("{}: {}.", w.name, counts)));
    }
    body += element(
        "section",
        heading(2, "Claims by word", "words") + tiles(page.words, place) +
            element("p",
                    {{"class", "small"}},
                    text("Statements that the papers print. A number filters the forest plot. ") +
                        link_to("claims/list.html", "All claims", place) + text(".")) +
            element("div", {{"class", "defs"}}, list) + others);
  }
  if (!page.forest.empty())
    body += element("section",
                    heading(2, "Every exponent: claimed and measured", "forest-plot") +
                        paragraph(forest_legend, place, "small") + filters(page) +
                        forest_html(page.forest, place, "forest") +
                        (site.drawn.contains("forest.svg")
                             ? element("p",
                                       {{"class", "small"}},
                                       text("The rows with all three exponents as a picture: ") +
                                           link_to("forest.svg", "forest.svg", place))
                             : Html{}));
  body +=
      element("section", heading(2, "Exhibits", "exhibits") + exhibits_html(page.exhibits, place));
  Html not_private;
  for (const std::string& t : page.not_private) not_private += element("li", prose(t, place));
  body += element(
      "section",
      heading(2, "Missing, and not private", "missing") +
          element(
              "div",
              {{"class", "two"}},
              element("div", element("h3", text("Missing")) + missing_html(page.missing, place)) +
                  element("div", element("h3", text("Not private")) + element("ul", not_private))));
  return report::page(place, "Summary", page.title, body);
}

}  // namespace dpsosp::report
