// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "chart.hpp"
#include "page_writers.hpp"
#include "table_html.hpp"

/// Pages of papers, algorithms and problems, and their lists.
namespace dpsosp::report {
namespace {

std::string stem(std::string name) {
  std::ranges::replace(name, '/', '-');
  return name;
}

Html crumb_html(const Place& place,
                std::string_view list,
                std::string_view address,
                std::string_view last) {
  Html out = link_to("index.html", "Summary", place) + text(" / ");
  if (!list.empty()) out += link_to(address, list, place) + text(" / ");
  return element("p", {{"class", "crumb"}}, out + plain(last));
}

Html titled(std::string_view title, std::string_view id, const Html& content) {
  if (content.empty()) return {};
  return element("section", heading(2, title, id) + content);
}

Html claim_lines(const std::vector<ClaimLine>& claims, const Place& place) {
  Html rows;
  const auto source = [](const ClaimLine& c) -> std::string {
    if (c.of == "suite") return " (of this suite)";
    if (c.of == "cited") return " (of cited work)";
    if (c.of == "script") return " (of published code)";
    return "";
  };
  for (const ClaimLine& c : claims)
    rows += element("tr",
                    element("th", {{"scope", "row"}}, claim_link(c.id, place) + text(source(c))) +
                        element("td", word_label(c.word)) +
                        element("td",
                                prose(c.reading, place) + text(" ") +
                                    element("span", {{"class", "iv"}}, prose(c.measured, place))));
  if (rows.empty()) return {};
  Html head;
  for (const char* label : {"claim", "word", "reading and result"})
    head += element("th", {{"scope", "col"}}, text(label));
  return element("div",
                 {{"class", "tw"}},
                 element("table",
                         {{"class", "t stack claimlist short"}, {"data-sort", ""}},
                         element("thead", element("tr", head)) + element("tbody", rows)));
}

Html exhibit_list(const std::vector<ExhibitCard>& exhibits, const Place& place) {
  Html items;
  for (const ExhibitCard& e : exhibits)
    items += element("li",
                     link_to(e.page, e.title, place) + text(" ") +
                         element("span", {{"class", "small"}}, plain(e.verdict)));
  return items.empty() ? items : element("ul", items);
}

Html commands_list(const std::vector<Command>& commands) {
  Html out;
  for (const Command& c : commands)
    out += element("p", {{"class", "small"}}, plain(c.what)) + command_box(c.command);
  return out;
}

Html rank_html(const LeagueRank& r, std::string_view algorithm, const Place& place) {
  const Html line =
      element("p",
              element("span", {{"class", "big"}}, text(fmt::format("{} of {}", r.rank, r.of))) +
                  text(" in ") + named(r.board, place) +
                  text(fmt::format(", untuned: {:.2f} times the best, {} of {} cells won{}",
                                   r.ratio,
                                   r.wins,
                                   r.cells,
                                   r.tuned_rank == 0
                                       ? ""
                                       : fmt::format("; number {} with tuned schedules, {:.2f} "
                                                     "times the best",
                                                     r.tuned_rank,
                                                     r.tuned_ratio))));
  return element("div", line + rank_svg(r, algorithm, place.site));
}

Html run_html(const ShownRun& run, const Place& place) {
  Html rows;
  for (const LedgerLine& l : run.ledger)
    rows += element("tr",
                    element("th", {{"scope", "row"}}, plain(l.query)) +
                        element("td", {{"class", "r"}}, text(short_number(l.count))) +
                        element("td", plain(l.records)) +
                        element("td", {{"class", "r"}}, text(short_number(l.sensitivity))) +
                        element("td", plain(l.event)));
  Html head;
  for (const char* label : {"query", "count", "records", "sensitivity", "charge"})
    head += element("th", {{"scope", "col"}}, text(label));
  const Html caption =
      text(run.setting + ". Guarantee ε = " + short_number(run.guarantee) + "; spent, by the " +
           run.accountant + " accountant, ε = " + short_number(run.spent) +
           ". Adjacency is replace-one.");
  return element("div",
                 {{"class", "tw"}},
                 element("table",
                         {{"class", "t"}},
                         element("caption", caption) + element("thead", element("tr", head)) +
                             element("tbody", rows))) +
         (run.trace ? element("div", {{"class", "half"}}, small_figure_html(*run.trace, place))
                    : Html{}) +
         command_box(run.command) +
         (run.parameters.empty() ? Html{}
                                 : fold("Parameters of this run",
                                        "as its schedule set them",
                                        facts_html(run.parameters, place)));
}

/// Lines have addresses: "#line-2-5" is step 5 of the second block.
Html pseudocode_html(const std::vector<PseudoCode>& blocks) {
  Html out;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    out += element("p",
                   {{"class", "small"}},
                   plain(blocks[b].heading) + text(", ") + element("code", text(blocks[b].source)));
    Html lines;
    std::set<std::string> ids;
    for (const std::string& line : blocks[b].lines) {
      const std::size_t first = line.find_first_not_of(' ');
      const std::size_t end = line.find_first_not_of("0123456789", std::min(first, line.size()));
      Attributes attributes;
      if (first != std::string::npos && end > first && end < line.size() && line[end] == ' ')
        if (const auto [id, fresh] =
                ids.insert(fmt::format("line-{}-{}", b + 1, line.substr(first, end - first)));
            fresh)
          attributes = {{"id", *id}};
      lines += element("span", attributes, text(line)) + text("\n");
    }
    out += element("pre", {{"class", "algo"}, {"tabindex", "0"}}, element("code", lines));
  }
  return out;
}

}  // namespace

std::string address_of(const PaperPage& p) { return fmt::format("papers/{}.html", p.key); }
std::string address_of(const AlgorithmPage& a) {
  return fmt::format("algorithms/{}.html", stem(a.key));
}
std::string address_of(const ProblemPage& p) { return fmt::format("problems/{}.html", p.name); }

std::string paper_html(const PaperPage& p, const Site& site) {
  const Place place{site, address_of(p)};
  Html body = crumb_html(place, "", "", p.key);
  std::string counts;
  for (const std::string_view word : headline_words())
    if (const auto c = p.words.counts.find(std::string(word)); c != p.words.counts.end())
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", c->second, short_word(word));
  body += element("h1", plain(p.name));
  body +=
      element("p",
              {{"class", "lead"}},
              text(fmt::format("Of {} printed statements: {}. The lists below have statements of "
                               "this suite and of cited work, too, marked as such.",
                               p.words.all,
                               counts)) +
                  (p.errata.empty() ? Html{}
                                    : text(" ") + link_to(p.errata, "Errata", place) +
                                          text(": what cannot be followed as printed.")));
  if (!p.forest.empty())
    body += titled(
        "Exponents, claimed and measured", "forest-plot", forest_html(p.forest, place, "forest"));
  body += titled("Exhibits", "exhibits", exhibit_list(p.exhibits, place));
  body += titled("Refuted, and slips", "refuted", claim_lines(p.refuted, place));
  body += titled("What could not be decided", "open", claim_lines(p.untested, place));
  if (!p.claims.empty())
    body += titled(
        "Confirmed, and bounds that are met",
        "claims",
        fold(fmt::format("{} statements", p.claims.size()), "", claim_lines(p.claims, place)));
  if (!p.algorithms.empty())
    body += titled("Algorithms", "algorithms", element("p", links(p.algorithms, place)));
  return report::page(place, "", p.name, body);
}

std::string algorithm_html(const AlgorithmPage& a, const Site& site) {
  const Place place{site, address_of(a)};
  const Look look = look_of(a.key, site);
  Html body = crumb_html(place, "Algorithms", "algorithms/index.html", a.key);
  body += element("h1",
                  element("span", {{"class", fmt::format("swatch {}", colour_class(look))}}, {}) +
                      plain(a.title));
  std::vector<std::string_view> words;
  for (const ForestRow& r : a.rows) words.push_back(r.word);
  if (!words.empty()) {
    Html list;
    for (const ForestRow& r : a.rows)
      list += text(list.empty() ? "" : "; ") + claim_link(r.claim, place) + text(" ") +
              word_label(r.word);
    body += element("div",
                    {{"class", "verdict"}},
                    element("p", text("Claimed: ") + plain(a.claim) + text(". ") + list));
  } else {
    body += paragraph("Claimed: " + a.claim, place, "lead");
  }
  for (const ClaimPage& c : site.claims)
    if (!a.rows.empty() && c.id == a.rows.front().claim && c.figure)
      body += figure_html(*c.figure, c.rates, drawing_of(c), place);
  if (!a.rows.empty())
    body += titled(
        "Exponents",
        "exponents",
        forest_html(
            {{.paper = a.title, .quantity = "every statement", .rows = a.rows}}, place, "forest"));
  body += titled("Pseudo-code", "pseudocode", pseudocode_html(a.pseudocode));
  body += element("div",
                  {{"class", "two"}},
                  titled("Card", "card", facts_html(a.card, place)) +
                      titled("Commands", "commands", commands_list(a.commands)));
  Html ranks;
  std::string boards;
  for (const LeagueRank& r : a.ranks) {
    ranks += rank_html(r, a.key, place);
    boards += " " + r.board;
  }
  if (!ranks.empty())
    body += titled(
        "League position",
        "league",
        element("div", {{"class", "three"}}, ranks) + command_box("./run reproduce" + boards));
  if (a.run) body += titled("The ledger of one run", "ledger", run_html(*a.run, place));
  if (!a.audit.empty())
    body += titled(
        "Audit", "audit", element("div", {{"class", "columns"}}, facts_html(a.audit, place)));
  if (!a.exhibits.empty())
    body += titled("Exhibits with its runs", "exhibits", element("p", links(a.exhibits, place)));
  if (!a.settings.empty())
    body += titled("Settings",
                   "settings",
                   fold(fmt::format("{} settings", a.settings.size()),
                        "name, default, meaning",
                        facts_html(a.settings, place)));
  if (!a.bibtex.empty())
    body += titled("To cite it", "cite", element("pre", element("code", text(a.bibtex))));
  return report::page(place, "Algorithms", a.title, body);
}

std::string problem_html(const ProblemPage& p, const Site& site) {
  const Place place{site, address_of(p)};
  Html body = crumb_html(place, "Problems", "problems/index.html", p.name);
  body += element("h1", plain(p.name)) + paragraph(p.summary, place, "lead");
  Html card = facts_html({{"Formula", p.formula},
                          {"Source", p.source},
                          {"Saddles and minimisers", p.critical_points},
                          {"Default", p.size},
                          {"Missing here", p.missing}},
                         place);
  Html picture;
  if (p.picture)
    picture = element("figure",
                      {{"class", "fig picture"}},
                      picture_svg(*p.picture) +
                          element("figcaption",
                                  plain(p.picture->caption) +
                                      text(". Shades are quantiles of the values, dark is low; "
                                           "dots are minimisers, crosses strict saddles.")));
  body +=
      picture.empty() ? card : element("div", {{"class", "split"}}, element("div", card) + picture);
  Html rows;
  for (const ConstantLine& c : p.constants)
    rows += element("tr",
                    element("th", {{"scope", "row"}}, plain(c.symbol)) +
                        element("td", element("code", plain(c.name))) +
                        element("td", {{"class", "r"}}, text(short_number(c.value))) +
                        element("td", plain(c.bound)) + element("td", plain(c.where))) +
            element("tr",
                    {{"class", "below"}},
                    element("td", {{"colspan", "5"}}, element("p", plain(c.why))));
  if (!rows.empty()) {
    Html head;
    for (const char* label : {"", "constant", "value", "bound", "where"})
      head += label[0] == '\0' ? element("td", {}) : element("th", {{"scope", "col"}}, text(label));
    body +=
        titled("Constants",
               "constants",
               element("div",
                       {{"class", "tw"}},
                       element("table",
                               {{"class", "t"}},
                               element("thead", element("tr", head)) + element("tbody", rows))));
  }
  if (!p.algorithms.empty())
    body +=
        titled("Who has runs on it here", "algorithms", element("p", links(p.algorithms, place)));
  if (!p.ranks.empty()) {
    Html items;
    for (const LeagueRank& r : p.ranks)
      items += element(
          "li",
          named(r.problem, place) +
              text(fmt::format(
                  ": {:.2f} times the best, {} of {} cells won", r.ratio, r.wins, r.cells)));
    body += titled(
        "Who solves it",
        "league",
        element("p",
                text("The first of ") + named(p.ranks.front().board, place) + text(", untuned:")) +
            element("ol", items));
  }
  Html commands =
      element("p", {{"class", "small"}}, text("Its constants, derivatives and proofs, checked")) +
      command_box("./run dpsosp check " + p.name);
  for (const std::string& s : p.sweeps) commands += command_box("./run dpsosp sweep " + s);
  body += titled("Commands", "commands", commands);
  body += titled("Settings", "settings", facts_html(p.settings, place));
  return report::page(place, "Problems", p.name, body);
}

std::string algorithms_html(const Site& site) {
  const Place place{site, "algorithms/index.html"};
  Html rows;
  for (const AlgorithmPage& a : site.algorithms) {
    std::vector<std::string_view> words;
    for (const ForestRow& r : a.rows) words.push_back(r.word);
    const std::string_view worst = worst_word(words);
    std::string guarantee, privacy;
    for (const Fact& f : a.card) {
      if (f.name == "Guarantee") guarantee = f.text;
      if (f.name == "Privacy") privacy = f.text;
    }
    std::string rank;
    for (const LeagueRank& r : a.ranks)
      rank += fmt::format(
          "{}{} {}", rank.empty() ? "" : ", ", r.board.substr(r.board.find('/') + 1), r.rank);
    rows += element("tr",
                    element("th", {{"scope", "row"}}, named(a.key, place)) +
                        element("td", worst.empty() ? Html{} : word_label(worst)) +
                        element("td", plain(a.title)) + element("td", plain(guarantee)) +
                        element("td", plain(a.claim)) + element("td", plain(privacy)) +
                        element("td", plain(rank)));
  }
  Html head;
  for (const char* label :
       {"algorithm", "word", "title", "guarantee", "claimed", "privacy", "league ranks"})
    head += element("th", {{"scope", "col"}}, text(label));
  const Html body =
      crumb_html(place, "", "", "Algorithms") +
      element("h1", text(fmt::format("{} algorithms", site.algorithms.size()))) +
      element("p",
              text("The word is the worst of the exponents that are measured for the method.")) +
      element("div",
              {{"class", "tw"}},
              element("table",
                      {{"class", "t stack"}, {"data-sort", ""}, {"data-name", "algorithms"}},
                      element("thead", element("tr", head)) + element("tbody", rows)));
  return report::page(place, "Algorithms", "Algorithms", body);
}

std::string problems_html(const Site& site) {
  const Place place{site, "problems/index.html"};
  Html rows;
  for (const ProblemPage& p : site.problems)
    rows += element("tr",
                    element("th", {{"scope", "row"}}, named(p.name, place)) +
                        element("td", plain(p.group)) + element("td", plain(p.summary)) +
                        element("td", {{"class", "r"}}, text(std::to_string(p.algorithms.size()))));
  Html head;
  for (const char* label : {"problem", "chapter", "what it is", "algorithms with runs"})
    head += element("th", {{"scope", "col"}}, text(label));
  const Html body =
      crumb_html(place, "", "", "Problems") +
      element("h1", text(fmt::format("{} problems", site.problems.size()))) +
      element("div",
              {{"class", "tw"}},
              element("table",
                      {{"class", "t stack"}, {"data-sort", ""}, {"data-name", "problems"}},
                      element("thead", element("tr", head)) + element("tbody", rows)));
  return report::page(place, "Problems", "Problems", body);
}

}  // namespace dpsosp::report
