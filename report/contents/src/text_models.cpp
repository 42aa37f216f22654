// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "contents_texts.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/study.hpp"
#include "publications.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

TextPage privacy_page(const Stored& stored) {
  TextPage page{.id = "privacy",
                .title = "Privacy",
                .lead =
                    "An algorithm reaches the records only through a curator. Every query of an "
                    "algorithm that is not conditional clips each record’s contribution, adds "
                    "noise, and is charged to a ledger under replace-one adjacency; a filter "
                    "refuses the query that would exceed the budget."};
  std::map<std::string, std::vector<std::string>> by_label;
  for (const AlgorithmEntry& e : algorithm_registry())
    by_label[std::string(to_string(e.create()->card().privacy))].push_back(e.key);
  plots::Table t{.id = "by-label", .title = "Algorithms by label", .row_header = "label"};
  t.column_groups.push_back({"", {"algorithms", "which"}});
  for (const auto& [label, keys] : by_label) {
    std::string names;
    for (const std::string& k : keys) names += (names.empty() ? "" : ", ") + k;
    t.add({.label = label, .cells = {plots::count_cell(keys.size()), plots::text_cell(names)}});
  }
  page.sections.push_back({.id = "labels",
                           .heading = "Labels",
                           .paragraphs = {"`enforced`: clipping, noise and filter hold whatever "
                                          "the records are. `simulated`: the same "
                                          "noise and filter on sums "
                                          "that are drawn without records, so that nobody’s "
                                          "privacy is at stake. `conditional`: rests on "
                                          "an assumption that nothing enforces. `violated`: the "
                                          "published noise does not give the "
                                          "published guarantee. `none`: no guarantee."},
                           .tables = {t}});
  TextPage::Section audit{
      .id = "audit",
      .heading = "The audit",
      .paragraphs =
          {"Every algorithm that claims privacy is replayed on neighbouring data sets, its "
           "noise is compared with its law, and it is attacked by the likelihood ratio of "
           "all that it releases. Bugs are planted to see the attacks catch them."},
      .commands = {{"All of it", "./run dpsosp audit --all"}}};
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k) {
    if (all.entries[k]->id != "audit") continue;
    audit.paragraphs.push_back("In these runs: " + all.exhibits[k].verdict.text + ".");
    audit.links.emplace_back("The audit’s tables", all.exhibits[k].id + "/index.html");
  }
  page.sections.push_back(std::move(audit));
  page.sections.push_back({.id = "claims",
                           .heading = "Claims about privacy",
                           .paragraphs = {"Judged by the accountant, under a stated adjacency."}});
  for (std::size_t k = 0; k < stored.findings().size(); ++k) {
    const Claim& c = stored.claims().claims[k];
    if (c.evidence == EvidenceKind::privacy)
      page.sections.back().facts.push_back(
          {"`" + c.id + "`",
           fmt::format("{}: {}{}", to_string(stored.findings()[k].headline), c.reading,
                       c.of == ClaimOf::suite ? " (A statement of this suite.)" : "")});
  }
  page.sections.push_back({.id = "not-private",
                           .heading = "What is not private",
                           .paragraphs = {"Certificates, traces and clip counts are functions of "
                                          "the records without noise. Seeds here "
                                          "are public. Seeded floating-point noise makes results "
                                          "reproducible and is no defence against "
                                          "attacks on floating point; `dpsosp run --release` draws "
                                          "noise that cannot be drawn again."}});
  return page;
}

TextPage speed_page(const Stored& stored) {
  TextPage page{.id = "speed",
                .title = "Speed",
                .lead =
                    "Processor time of the stored runs. It differs between machines; the numbers "
                    "of the runs do not."};
  plots::Table t{.id = "costs", .title = "What each exhibit costs", .row_header = "exhibit"};
  t.caption = "A run that several exhibits need counts in each of them, and once in all.";
  t.column_groups.push_back({"", {"runs", "CPU seconds"}});
  const Reproduced& all = stored.reproduced();
  std::unordered_map<std::string, double> known = all.store.cpu_seconds();
  for (std::size_t k = 0; k < all.entries.size(); ++k) {
    std::set<std::string> seen;
    double seconds = 0;
    for (const Job& job : all.jobs[k])
      if (seen.insert(job.hash()).second) seconds += known[job.hash()];
    if (!seen.empty())
      t.add({.label = all.entries[k]->id,
             .cells = {plots::count_cell(seen.size()), plots::number_cell(seconds, 3)}});
  }
  page.sections.push_back({.id = "exhibits",
                           .heading = "Exhibits",
                           .tables = {t},
                           .commands = {{"What is still to compute, and how long it takes",
                                         "./run reproduce --dry-run"}}});
  if (stored.reproduced().whole)
    page.sections.back().links.emplace_back("Seconds of every cell of the rate sweeps, CSV",
                                            "timings.csv");
  return page;
}

TextPage provenance_page(const Stored& stored) {
  const Store& store = stored.reproduced().store;
  TextPage page{
      .id = "provenance",
      .title = "Provenance",
      .lead =
          "A run is a function of its description; the store records which program computed it."};
  TextPage::Section s{.id = "runs", .heading = "Runs"};
  const RunCounts counts = store.counts();
  s.facts.push_back({"Scale", std::string(to_string(stored.study().scale))});
  s.facts.push_back(
      {"Runs in the store", fmt::format("{} finished, {} failed", counts.finished, counts.failed)});
  for (const Build& build : store.builds()) s.facts.push_back({"Computed by", to_string(build)});
  s.facts.push_back({"Report written by", to_string(provenance().build)});
  s.facts.push_back({"Processor", provenance().cpu});
  page.sections.push_back(std::move(s));
  page.sections.push_back(
      {.id = "again",
       .heading = "To make it again",
       .paragraphs =
           {"The page of an exhibit names its sweeps. Two equal builds give a run the same bits. "
            "A report is written again from its store without computing anything."},
       .commands = {{"Everything", "./run reproduce"},
                    {"The report alone, from the store", "./run dpsosp report"},
                    {"Compare with the committed tables", "./run reproduce --check results"}}});
  page.sections.push_back(
      {.id = "cite",
       .heading = "To cite this report",
       .paragraphs =
           {"Please cite it and the papers whose algorithms you use; their entries are on "
            "the pages of the algorithms."},
       .commands = {{"BibTeX", bibtex_of_report(to_string(stored.study().scale))}}});
  page.sections.push_back(
      {.id = "models",
       .heading = "Pages as data",
       .paragraphs = {"Beside each page lies its model as JSON, from which alone the page is "
                      "written: slopes have "
                      "`claimed_low`, `claimed_high`, `zone_low`, `zone_high`, `value`, `low`, "
                      "`high` (95 %), `word`, "
                      "`sweep`, `part` and `arm`. What is empty is left out; a number that is not "
                      "finite is null. "
                      "Tables are beside their page as CSV, LaTeX and Markdown, figures as SVG."},
       .links = {{"The model of the first page", "index.json"}}});
  return page;
}

TextPage markdown_page(std::string id, std::string title, std::string lead,
                       std::string_view markdown) {
  TextPage page{.id = std::move(id), .title = std::move(title), .lead = std::move(lead)};
  page.sections.push_back({.markdown = std::string(markdown)});
  return page;
}

}  // namespace

std::vector<TextPage> text_pages_of(const Stored& stored, const Site& site) {
  std::vector<TextPage> pages{privacy_page(stored), speed_page(stored), provenance_page(stored)};
  for (const auto& [key, markdown] : errata_texts()) {
    if (key.empty())
      pages.push_back(markdown_page(
          "errata", "Errata",
          "Where papers cannot be followed as printed, and where we were wrong.", markdown));
    else
      pages.push_back(markdown_page(fmt::format("errata-{}", key), fmt::format("Errata of {}", key),
                                    "The paper’s words, their hypotheses, our reading and what "
                                    "stands, in the order of the paper.",
                                    markdown));
  }
  if (site.which) pages.push_back(league_page(stored));
  return pages;
}

}  // namespace dpsosp::report
