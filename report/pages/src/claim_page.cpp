// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "chart.hpp"
#include "page_writers.hpp"
#include "table_html.hpp"

namespace dpsosp::report {
namespace {

std::string file_name(std::string id) {
  std::ranges::replace(id, '/', '-');
  return id;
}

Html rate_table(const std::vector<Rate>& rates) {
  Html head;
  for (const auto& [label, numeric] : {std::pair{"axis", false},
                                       {"word", false},
                                       {"claimed", true},
                                       {"measured", true},
                                       {"95 % interval", true},
                                       {"zone", true},
                                       {"plan", true},
                                       {"drift", true},
                                       {"seeds", true}})
    head += element(
        "th",
        numeric ? Attributes{{"scope", "col"}, {"class", "r"}} : Attributes{{"scope", "col"}},
        text(label));
  const bool arms =
      std::ranges::any_of(rates, [&](const Rate& r) { return r.arm != rates.front().arm; });
  Html rows;
  for (const Rate& r : rates) {
    const auto number = [](const std::string& shown, std::optional<double> value = {}) {
      Attributes a{{"class", "r"}};
      if (value) a.emplace_back("data-v", fmt::format("{:.6g}", *value));
      return element("td", a, text(shown));
    };
    const std::string axis = arms ? fmt::format("{}, {}", r.arm, r.axis) : r.axis;
    Html cells = element("th", {{"scope", "row"}}, text(axis)) + element("td", word_label(r.word)) +
                 number(claimed_text(r), r.claimed_high);
    if (r.value) {
      cells += number(signed_number(*r.value), *r.value) + number(interval_text(r.low, r.high)) +
               number(interval_text(r.zone_low, r.zone_high)) +
               number(r.plan ? signed_number(*r.plan) : "–") +
               number(fmt::format("{}{}", signed_number(r.drift, 2), r.drifting ? "*" : "")) +
               number(std::to_string(r.seeds));
    } else {
      cells += element("td", {{"colspan", "6"}}, plain(r.reason));
    }
    rows += element("tr", cells);
    Html line = plain(r.verdict) + text("; ") + plain(r.bound);
    if (!r.reason.empty() && r.value) line += text("; ") + plain(r.reason);
    rows +=
        element("tr", {{"class", "below"}}, element("td", {{"colspan", "9"}}, element("p", line)));
  }
  const Html caption = text(
      "Measured: slope of the logarithm of the level, 95 % interval over seeds. Plan: the slope "
      "of the accuracy that the schedules solved for. Drift: change of the slope over the range, "
      "* where its interval excludes 0.");
  return element("div",
                 {{"class", "tw"}, {"tabindex", "0"}},
                 element("table",
                         {{"class", "t"}},
                         element("caption", caption) + element("thead", element("tr", head)) +
                             element("tbody", rows)));
}

Html part(std::string_view title, std::string_view id, const Html& content) {
  if (content.empty()) return {};
  return element("section", heading(2, title, id) + content);
}

Html commands_html(const std::vector<Command>& commands) {
  Html out;
  for (const Command& c : commands) {
    if (!c.what.empty()) out += element("p", {{"class", "small"}}, plain(c.what));
    out += command_box(c.command);
  }
  return out;
}

Html links_card(const ClaimPage& c, const Place& place) {
  Html list;
  const auto add = [&](std::string_view name, const std::vector<std::string>& names) {
    if (!names.empty()) list += element("dt", text(name)) + element("dd", links(names, place));
  };
  add("Exhibits", c.exhibits);
  add("Algorithms", c.algorithms);
  add("Problems", c.problems);
  Html neighbours;
  for (const std::string& id : {c.previous, c.next})
    if (!id.empty()) neighbours += text(neighbours.empty() ? "" : ", ") + claim_link(id, place);
  if (!neighbours.empty()) list += element("dt", text("Neighbours")) + element("dd", neighbours);
  return list.empty() ? list : element("dl", {{"class", "card"}}, list);
}

}  // namespace

std::string address_of(const ClaimPage& page) { return drawing_of(page) + ".html"; }

std::string drawing_of(const ClaimPage& page) {
  return fmt::format("claims/{}", file_name(page.id));
}

std::string claim_html(const ClaimPage& c, const Site& site) {
  const Place place{site, address_of(c)};
  Html crumb = link_to("index.html", "Summary", place) + text(" / ") + named(c.paper, place) +
               text(" / claim " + c.id);
  Html body = element("p", {{"class", "crumb"}}, crumb);
  body += element("h1", plain(c.place));
  body += element("div",
                  {{"class", "verdict"}},
                  word_label(c.word, true) + element("p",
                                                     prose(c.reading, place) + text(" Evidence: ") +
                                                         prose(c.evidence, place) + text(".")));
  if (c.figure) body += figure_html(*c.figure, c.rates, drawing_of(c), place);
  Html words;
  if (!c.printed.empty()) {
    words = element("blockquote",
                    text("“") + quotation_html(c.printed) + text("”") +
                        element("footer", plain(fmt::format("{}, {}", c.paper, c.place))));
    if (!c.hypotheses.empty())
      words += element("p", {{"class", "small"}}, text("Under: ") + prose(c.hypotheses, place));
  } else {
    words = paragraph(c.no_quotation, place);
  }
  const Html tested = facts_html({{"Leaves open", c.ambiguity},
                                  {"Measured", c.measure},
                                  {"Expected", c.expected},
                                  {"Holds if", c.holds_if},
                                  {"In its place", c.instead}},
                                 place);
  body +=
      element("div",
              {{"class", "two"}},
              part("In the paper’s words", "words", words) + part("As tested", "tested", tested));
  Html result;
  if (!c.rates.empty()) {
    result +=
        rate_table(c.rates) +
        element(
            "figure",
            {{"class", "fig half"}},
            interval_svg(c.rates) +
                element("figcaption",
                        text("Measured minus claimed; in ε the other way round. Grey: the zone; "
                             "▴: the plan.")));
  } else {
    result += paragraph(c.measured, place);
  }
  if (c.rates.empty() && !c.reason.empty())
    result += element("p", element("b", text("Why: ")) + prose(c.reason, place));
  if (!c.stands.empty())
    result += element("p", element("b", text("What stands: ")) + prose(c.stands, place));
  if (!c.reference.empty())
    result += element(
        "p", element("b", text("An independent program found: ")) + prose(c.reference, place));
  for (const std::string& note : c.notes)
    result += element("p", {{"class", "small"}}, prose(note, place));
  body += part("Result", "result", result);
  const Html other = facts_html({{"Objection", c.objection},
                                 {"Answer", c.answer},
                                 {"Changed for it", c.changed},
                                 {"Still open", c.open}},
                                place);
  body +=
      element("div",
              {{"class", "two"}},
              part("What would change the word", "change", paragraph(c.change, place)) +
                  part("The other side",
                       "other",
                       other.empty() ? element("p", text("No objection is recorded.")) : other));
  body += part("Commands and links",
               "commands",
               element("div",
                       {{"class", "two"}},
                       element("div", commands_html(c.commands)) + links_card(c, place)));
  return report::page(place, "Claims", fmt::format("{}: {}", c.id, c.place), body);
}

std::string claims_html(const ClaimsPage& list, const Site& site) {
  const Place place{site, "claims/list.html"};
  Html head;
  for (const char* label : {"claim", "word", "place", "reading and result"})
    head += element("th", {{"scope", "col"}}, text(label));
  Html rows;
  for (const ClaimLine& c : list.claims) {
    Html cells = element("th", {{"scope", "row"}, {"class", "id"}}, claim_link(c.id, place));
    cells += element("td", word_label(c.word)) + element("td", plain(c.place));
    cells += element(
        "td",
        prose(c.reading, place) +
            (c.measured.empty()
                 ? Html{}
                 : element("span", {{"class", "iv"}}, text(" ") + prose(c.measured, place))));
    rows +=
        element("tr", {{"data-p", c.paper}, {"data-w", std::string(word_class(c.word))}}, cells);
  }
  Html chips;
  std::vector<std::string> papers;
  for (const ClaimLine& c : list.claims)
    if (std::ranges::find(papers, c.paper) == papers.end()) papers.push_back(c.paper);
  const auto chip = [&](const std::string& set, std::string_view label) {
    chips += element(
        "button",
        {{"type", "button"}, {"class", "chip"}, {"data-set", set}, {"aria-pressed", "false"}},
        text(label));
  };
  for (const std::string& p : papers) chip("paper=" + p, p);
  for (const std::string_view w : headline_words())
    chip(fmt::format("word={}", word_class(w)), short_word(w));
  chips += element("output", {{"id", "ccount"}}, {});
  const Html body =
      element(
          "p", {{"class", "crumb"}}, link_to("index.html", "Summary", place) + text(" / Claims")) +
      element("h1", text(fmt::format("{} claims", list.claims.size()))) +
      element("p",
              text("Each in our reading, with what was measured; its page has the words of the "
                   "paper, the test and the authors’ side. The tables of all claims and rates are "
                   "on the page of the exhibit ") +
                  named("claims", place) + text(".")) +
      element("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "Filters"}}, chips) +
      element("div",
              {{"class", "tw"}},
              element("table",
                      {{"class", "t stack claimlist"}, {"data-sort", ""}, {"data-name", "claims"}},
                      element("thead", element("tr", head)) + element("tbody", rows)));
  return report::page(place, "Claims", "Claims", body);
}

}  // namespace dpsosp::report
