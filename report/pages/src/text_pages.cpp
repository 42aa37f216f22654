// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "chart.hpp"
#include "page_writers.hpp"
#include "table_html.hpp"

namespace dpsosp::report {
namespace {

Html level_rows(const LeagueCell& cell, const Place& place) {
  Html rows;
  constexpr std::size_t most = 8;
  for (std::size_t k = 0; k < std::min(most, cell.levels.size()); ++k) {
    const LeagueCell::Level& l = cell.levels[k];
    const auto number = [](double v) {
      return element(
          "td", {{"class", "r"}, {"data-v", fmt::format("{:.6g}", v)}}, text(short_number(v)));
    };
    rows += element(
        "tr",
        element("th", {{"scope", "row"}}, named(l.algorithm, place)) + number(l.median) +
            element("td",
                    {{"class", "r iv"}},
                    text(fmt::format("[{}, {}]", short_number(l.low), short_number(l.high)))) +
            number(l.median / cell.levels.front().median));
  }
  return rows;
}

Html cell_table(const LeagueCell& cell, const Place& place) {
  Html head;
  for (const char* label : {"algorithm", "median", "range", "over the first"})
    head += element("th", {{"scope", "col"}}, text(label));
  return element(
      "div",
      {{"class", "tw"}},
      element(
          "table",
          {{"class", "t"}, {"data-sort", ""}},
          element("caption",
                  text(fmt::format(
                      "{} at ε = {:g}, n = {}, d = {:g}: sosp_level of the output, the first of {}",
                      cell.board,
                      cell.epsilon,
                      short_number(cell.n),
                      cell.d,
                      cell.levels.size()))) +
              element("thead", element("tr", head)) + element("tbody", level_rows(cell, place))));
}

Html field(std::string_view id, std::string_view label, const std::string& value) {
  return element("label",
                 {{"for", std::string(id)}},
                 text(label) + text(" ") +
                     void_element("input",
                                  {{"id", std::string(id)},
                                   {"name", std::string(id)},
                                   {"value", value},
                                   {"inputmode", "decimal"},
                                   {"size", "8"}}));
}

}  // namespace

std::string address_of(const TextPage& page) { return page.id + ".html"; }

std::string which_html(const WhichPage& w, const Site& site) {
  const Place place{site, "which.html"};
  Html body = element("p",
                      {{"class", "crumb"}},
                      link_to("index.html", "Summary", place) + text(" / Which method?"));
  body += element("h1",
                  text(fmt::format("n = {}, d = {:g}, ε = {:g}, {}: which method?",
                                   short_number(w.n),
                                   w.d,
                                   w.epsilon,
                                   w.start)));
  body += paragraph(w.warning, place, "warning");
  Html tuned;
  for (const plots::Table& t : w.tuned) tuned += element("div", table_html(t, place));
  if (!w.tuned.empty())
    body += element(
        "section",
        heading(2, "With tuned schedules", "tuned") + element("div", {{"class", "two"}}, tuned));
  Html options;
  for (const Fact& f : w.starts)
    options += element("option", {{"value", f.name}}, text(fmt::format("{}: {}", f.name, f.text)));
  body += element(
      "form",
      {{"class", "ask"}, {"id", "ask"}},
      field("ask-n", "n", fmt::format("{:g}", w.n)) +
          field("ask-d", "d", fmt::format("{:g}", w.d)) +
          field("ask-e", "ε", fmt::format("{:g}", w.epsilon)) +
          element(
              "label",
              {{"for", "ask-start"}},
              text("start ") + element("select",
                                       {{"id", "ask-start"}, {"name", "ask-start"}},
                                       element("option", {{"value", ""}}, text("any")) + options)) +
          element("button", {{"type", "submit"}, {"class", "chip"}}, text("nearest cells")));
  body += element("div", {{"id", "answer"}, {"aria-live", "polite"}}, {});
  Html can, cannot;
  for (const std::string& t : w.can) can += element("li", prose(t, place));
  for (const std::string& t : w.cannot) cannot += element("li", prose(t, place));
  body += element(
      "div",
      {{"class", "two"}},
      element("section", heading(2, "What the league can say", "can") + element("ul", can)) +
          element("section", heading(2, "What it cannot say", "cannot") + element("ul", cannot)));
  Html figures, tables;
  for (const std::size_t k : w.nearest) {
    figures +=
        element("div",
                element("div", {{"class", "wide"}}, levels_svg(w.cells[k], site, false)) +
                    element("div", {{"class", "narrow"}}, levels_svg(w.cells[k], site, true)));
    tables += element(
        "div", cell_table(w.cells[k], place) + command_box("./run reproduce " + w.cells[k].board));
  }
  body += element(
      "section",
      heading(2, "The nearest cells", "cells") +
          element("figure",
                  {{"class", "fig"}},
                  element("div", {{"class", "two"}}, figures) +
                      element("figcaption",
                              text("Medians over seeds, lines from the smallest to the largest "
                                   "seed; dotted: the level of the start. All have the same "
                                   "guarantee under replace-one, calibrated by one conversion, and "
                                   "are judged by what they release. Cells are never "
                                   "interpolated."))) +
          element("div", {{"class", "two"}}, tables));
  Html rows;
  for (const LeagueControl& c : w.controls) {
    const auto number = [](double v) {
      return element("td", {{"class", "r"}}, text(short_number(v)));
    };
    rows += element("tr",
                    element("th", {{"scope", "row"}}, named(c.algorithm, place)) +
                        element("td", named(c.board, place)) + number(c.as_run) +
                        number(c.no_noise) + number(c.no_data) + number(c.start));
  }
  Html head;
  for (const char* label :
       {"algorithm", "board", "as run", "without noise", "noise without data", "start"})
    head += element("th", {{"scope", "col"}}, text(label));
  body += element(
      "div",
      {{"class", "two"}},
      element(
          "section",
          heading(2, "Noise or method?", "noise") +
              element(
                  "div",
                  {{"class", "tw"}},
                  element("table",
                          {{"class", "t"}, {"data-sort", ""}},
                          element("caption",
                                  text(w.controls.empty()
                                           ? std::string()
                                           : fmt::format(
                                                 "Median sosp_level of the output, at n = {}, "
                                                 "ε = {:g}, the size of the controls. Who stays "
                                                 "at the start without noise leaves it by its "
                                                 "noise.",
                                                 short_number(w.controls.front().n),
                                                 w.controls.front().epsilon))) +
                              element("thead", element("tr", head)) + element("tbody", rows)))) +
          element("section",
                  heading(2, "Settle it: the missing cell", "settle") +
                      element("pre", {{"tabindex", "0"}}, text(w.toml)) + command_box(w.command)) +
          element("figure",
                  {{"class", "fig"}},
                  cells_svg(w) + element("figcaption",
                                         text("Dots and rings are the boards of the league; the "
                                              "large ring is the question."))));
  nlohmann::json cells = nlohmann::json::array();
  for (const LeagueCell& c : w.cells) {
    nlohmann::json levels = nlohmann::json::array();
    for (const LeagueCell::Level& l : c.levels)
      levels.push_back(
          {l.algorithm, short_number(l.median), short_number(l.low), short_number(l.high)});
    cells.push_back({{"board", c.board},
                     {"problem", c.problem},
                     {"n", c.n},
                     {"d", c.d},
                     {"e", c.epsilon},
                     {"start", short_number(c.start)},
                     {"levels", levels}});
  }
  std::string data = cells.dump();
  for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos;)
    data.replace(at, 2, "<\\/");
  body += trusted("<script type=\"application/json\" id=\"league-cells\">" + data + "</script>");
  return report::page(place, "Which method?", "Which method?", body);
}

std::string text_html(const TextPage& t, const Site& site) {
  const Place place{site, address_of(t)};
  Html body = element("p",
                      {{"class", "crumb"}},
                      link_to("index.html", "Summary", place) + text(" / ") + plain(t.title));
  body += element("h1", plain(t.title)) + paragraph(t.lead, place, "lead");
  for (const TextPage::Section& s : t.sections) {
    Html content = paragraphs(s.paragraphs, place) + facts_html(s.facts, place);
    if (!s.intervals.empty())
      content += element(
          "figure",
          {{"class", "fig half"}},
          interval_svg(s.intervals) +
              element("figcaption",
                      text("Measured minus claimed; in ε the other way round. Grey: the zone.")));
    for (const plots::Table& table : s.tables) content += table_html(table, place);
    if (!s.markdown.empty()) content += markdown_html(s.markdown, place);
    for (const Command& c : s.commands)
      content += element("p", {{"class", "small"}}, plain(c.what)) + command_box(c.command);
    Html items;
    for (const auto& [label, address] : s.links)
      items += element("li", link_to(address, label, place));
    if (!items.empty()) content += element("ul", items);
    body += element("section", s.heading.empty() ? content : heading(2, s.heading, s.id) + content);
  }
  return report::page(place, t.title, t.title, body);
}

}  // namespace dpsosp::report
