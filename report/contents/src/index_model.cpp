// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/study.hpp"
#include "stored.hpp"
#include "written.hpp"

namespace dpsosp::report {
namespace {

constexpr std::string_view rule =
    "A finding stands here where every claim that it names has the word that its sentence rests on "
    "in these runs. The list is that of docs/findings.md, which has the numbers, in its order.";

/// The intervals of the first method on each of these claims that was measured in n, d and ε and
/// has each in its zone.
std::vector<Rate> kept_rates(const std::vector<ForestGroup>& forest,
                             const std::vector<std::string>& claims) {
  std::vector<Rate> kept;
  std::set<std::string> shown;
  for (const ForestGroup& g : forest)
    for (const ForestRow& row : g.rows) {
      if (row.rates.size() < 3 || std::ranges::find(claims, row.claim) == claims.end()) continue;
      const bool within = std::ranges::all_of(
          row.rates, [](const Rate& r) { return r.low >= r.zone_low && r.high <= r.zone_high; });
      if (!within || !shown.insert(row.claim).second) continue;
      for (Rate r : row.rates) {
        r.arm = row.method;
        kept.push_back(std::move(r));
      }
    }
  return kept;
}

const plots::Panel* panel_of(const Stored& stored, const std::string& exhibit,
                             const std::string& figure, std::size_t panel) {
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k) {
    if (all.entries[k]->id != exhibit) continue;
    for (const plots::Figure& f : all.exhibits[k].figures)
      if (f.id == figure && panel < f.panels.size()) return &f.panels[panel];
  }
  return nullptr;
}

std::vector<Highlight> highlights_of(const Stored& stored, const std::vector<ForestGroup>& forest) {
  std::vector<Highlight> list;
  for (const WrittenFinding& f : written_findings()) {
    if (!std::ranges::all_of(f.words,
                             [&](const auto& w) { return has_word(stored, w.first, w.second); }))
      continue;
    Highlight h{.sentence = f.sentence, .command = f.commands.front()};
    for (const auto& [claim, unused] : f.words) h.claims.push_back(claim);
    if (f.rates) h.intervals = kept_rates(forest, h.claims);
    if (!f.figure.empty())
      if (const plots::Panel* p = panel_of(stored, f.exhibit, f.figure, f.panel)) h.panel = *p;
    if (!h.claims.empty()) h.page = fmt::format("claims/{}.html", file_name(h.claims.front()));
    list.push_back(std::move(h));
  }
  return list;
}

std::vector<Missing> missing_of(const Stored& stored) {
  std::vector<Missing> list;
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.entries.size(); ++k) {
    const ExhibitEntry& e = *all.entries[k];
    const std::string& verdict = all.exhibits[k].verdict.text;
    const bool lacks_runs =
        e.on_request && all.jobs[k].empty() && (e.first_job || !e.jobs(stored.study()).empty());
    if (lacks_runs || verdict.starts_with("not run"))
      list.push_back({.what = e.title,
                      .why = lacks_runs
                                 ? "its runs take long and are not in this store; the page shows "
                                   "what was committed, if anything was"
                                 : verdict,
                      .command = "./run reproduce " + e.id,
                      .page = all.exhibits[k].id + "/index.html"});
  }
  for (const Unfinished& u : all.unfinished)
    list.push_back({.what = u.entry->title,
                    .why = fmt::format("{} of its {} runs are stored", u.stored, u.runs),
                    .command = "./run reproduce " + u.entry->id});
  if (!all.whole)
    list.push_back({.what = "Other exhibits",
                    .why = "this report is of the exhibits that were named",
                    .command = "./run reproduce"});
  if (!stored.not_run().empty())
    list.push_back({.what = fmt::format("{} claims", stored.not_run().size()),
                    .why = "their runs are not at hand",
                    .command = "./run reproduce claims"});
  for (std::size_t k = 0; k < stored.findings().size(); ++k) {
    const Claim& c = stored.claims().claims[k];
    if (c.kind != Claim::Kind::unreachable && c.kind != Claim::Kind::later) continue;
    list.push_back(
        {.what = c.id, .why = c.why, .page = fmt::format("claims/{}.html", file_name(c.id))});
  }
  return list;
}

}  // namespace

IndexPage index_of(const Stored& stored, const std::vector<ForestGroup>& forest, const Site& site) {
  IndexPage page;
  std::size_t of_private = 0;
  for (const AlgorithmEntry& e : algorithm_registry())
    of_private += e.create()->card().is_private();
  std::set<std::string> papers;
  for (const Claim& c : stored.collection().claims.claims) papers.insert(paper_of(c.id));
  page.title = fmt::format(
      "What {} papers on private second-order optimisation claim, and what holds when it is run",
      papers.size());
  page.lead = fmt::format(
      "dpsosp runs {} private algorithms for non-convex problems with one privacy core, one set of "
      "problems and one evaluator. This report shows {} exhibits and judges {} claims, of which {} "
      "are printed. Adjacency is replace-one throughout. Most exponents are measured on simulated "
      "records, with n and ε beyond those of data sets.",
      of_private, stored.reproduced().exhibits.size(), stored.findings().size(),
      std::ranges::count(stored.claims().claims, ClaimOf::paper, &Claim::of));
  if (stored.study().scale == Scale::smoke)
    page.warning =
        "This is a smoke test with a few seeds and few steps: its numbers and its words mean "
        "nothing.";
  if (stored.reproduced().running)
    page.warning = fmt::format(
        "This report was written while its runs were being computed: {} of {} exhibits have all of "
        "theirs. "
        "It is written again from time to time; after an interruption the same command goes on.",
        stored.reproduced().entries.size(),
        stored.reproduced().entries.size() + stored.reproduced().unfinished.size());
  page.rule = std::string(rule);
  page.highlights = highlights_of(stored, forest);
  page.words = words_of(stored);
  for (WordCounts& row : page.words)
    for (const PaperPage& p : site.papers)
      if (p.key == row.paper) row.name = p.name;
  for (const auto& [of, name] : {std::pair{ClaimOf::suite, "Statements of this suite"},
                                 std::pair{ClaimOf::cited, "Of work that the papers cite"},
                                 std::pair{ClaimOf::script, "Of published code"}}) {
    WordCounts row{.name = name};
    for (std::size_t k = 0; k < stored.findings().size(); ++k)
      if (stored.claims().claims[k].of == of) {
        ++row.counts[std::string(to_string(stored.findings()[k].headline))];
        ++row.all;
      }
    if (row.all > 0) page.others.push_back(std::move(row));
  }
  page.forest = forest;
  page.missing = missing_of(stored);
  page.not_private = {
      "Certificates, traces, clip counts and evaluation logs are computed from the records without "
      "noise.",
      "Seeds are public, because all data here are synthetic or published: who knows the seed "
      "knows the noise.",
      "Floating-point noise gives no protection against attacks on floating point; a release draws "
      "its noise otherwise.",
      "Runs with the label `simulated` have the noise and the ε of private ones, and no records.",
      "Runs with the label `conditional` rest on a bound that nothing enforces, those with "
      "`violated` have less noise than their budget asks, and reference lines have no guarantee."};
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k)
    page.exhibits.push_back(card_of(*all.entries[k], all.exhibits[k]));
  for (const Unfinished& u : all.unfinished)
    page.exhibits.push_back({.id = u.entry->id,
                             .paper = u.entry->paper,
                             .title = u.entry->title,
                             .verdict = fmt::format("{} of {} runs are stored", u.stored, u.runs)});
  return page;
}

}  // namespace dpsosp::report
