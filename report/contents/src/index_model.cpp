// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "contents_texts.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "stored.hpp"
#include "written.hpp"

namespace dpsosp::report {
namespace {

constexpr std::size_t most_highlights = 7;
constexpr std::string_view rule =
    "A finding stands here where every claim that it names has the word that its sentence rests on "
    "in "
    "these runs; the list is that of the report, in its order, and at most seven are shown. "
    "Numbers in "
    "a sentence are filled in from the runs.";

/// How many of the methods that were measured in n, d and ε have each interval in its zone.
std::optional<Highlight> kept_rates(const std::vector<ForestGroup>& forest) {
  Highlight h;
  std::map<std::string, bool> methods;
  for (const ForestGroup& g : forest)
    for (const ForestRow& row : g.rows) {
      if (row.rates.size() < 3) continue;
      const bool within = std::ranges::all_of(
          row.rates, [](const Rate& r) { return r.low >= r.zone_low && r.high <= r.zone_high; });
      // One statement a method and sweep: others repeat its slopes.
      const auto [method, fresh] =
          methods.emplace(row.rates.front().sweep + row.rates.front().arm, within);
      if (!fresh || !within) continue;
      for (Rate r : row.rates) {
        r.arm = row.method;
        h.intervals.push_back(std::move(r));
      }
      h.claims.push_back(row.claim);
    }
  const auto all = std::ranges::count_if(methods, [](const auto& m) { return m.second; });
  if (all == 0) return {};
  h.sentence = fmt::format(
      "Of {} methods that were measured in n, d and ε, {} {} the claimed exponents in all three: "
      "each interval lies in its zone, as shown. The others are in the forest below.",
      methods.size(),
      all,
      all == 1 ? "has" : "have");
  h.command = "./run reproduce claims";
  h.page = "index.html#forest-plot";
  return h;
}

const plots::Panel* panel_of(const Stored& stored,
                             const std::string& exhibit,
                             const std::string& figure,
                             std::size_t panel) {
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
  if (auto kept = kept_rates(forest)) list.push_back(std::move(*kept));
  const TomlDocument document(findings_toml(), "findings.toml");
  for (const TomlNode& node : document.root().at("finding").array()) {
    const TomlTable t = node.table();
    t.allow({"sentence", "claims", "word", "exhibit", "figure", "panel", "command"});
    Highlight h{.sentence = t.at("sentence").text(), .command = t.at("command").text()};
    bool holds = true;
    const std::string word = t.at("word").text();
    for (const TomlNode& id : t.at("claims").array()) {
      h.claims.push_back(id.text());
      holds = holds && has_word(stored, h.claims.back(), word);
    }
    if (t.has("figure"))
      if (const plots::Panel* p = panel_of(stored,
                                           t.at("exhibit").text(),
                                           t.at("figure").text(),
                                           static_cast<std::size_t>(t.at("panel").number())))
        h.panel = *p;
    h.sentence = filled(h.sentence, stored);
    if (!holds || h.sentence.empty() || list.size() >= most_highlights) continue;
    std::string file = h.claims.front();
    std::ranges::replace(file, '/', '-');
    h.page = fmt::format("claims/{}.html", file);
    list.push_back(std::move(h));
  }
  // How much is refuted is a finding whatever it is.
  std::vector<WordCounts> words = words_of(stored);
  if (!words.empty() && list.size() < most_highlights) {
    const WordCounts& all = words.back();
    Highlight h{
        .sentence = fmt::format("Of {} statements that the papers print, this many are:", all.all),
        .page = "index.html#words",
        .command = "./run reproduce claims"};
    for (const auto& [unused, word] : words_of(Headline{}).list)
      if (const auto count = all.counts.find(std::string(word)); count != all.counts.end())
        h.bars.emplace_back(std::string(word), count->second);
    list.push_back(std::move(h));
  }
  return list;
}

std::vector<Missing> missing_of(const Stored& stored) {
  std::vector<Missing> list;
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.entries.size(); ++k) {
    const ExhibitEntry& e = *all.entries[k];
    if (e.on_request && !stored.study().stores(e.jobs(stored.study())))
      list.push_back({.what = e.title,
                      .why =
                          "its runs take long and are not in this store; the page shows what was "
                          "committed, if anything was",
                      .command = "./run reproduce " + e.id,
                      .page = all.exhibits[k].id + "/index.html"});
    else if (all.exhibits[k].verdict.text.starts_with("not run"))
      list.push_back({.what = e.title,
                      .why = all.exhibits[k].verdict.text,
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
    std::string file = c.id;
    std::ranges::replace(file, '/', '-');
    list.push_back({.what = c.id, .why = c.why, .page = fmt::format("claims/{}.html", file)});
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
      "are printed. Adjacency is replace-one throughout.",
      of_private,
      stored.reproduced().exhibits.size(),
      stored.findings().size(),
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
      "Runs with the label `conditional` rest on a bound that nothing enforces, those with "
      "`violated` have less noise than their budget asks, and reference lines have no guarantee."};
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k)
    page.exhibits.push_back({.id = all.entries[k]->id,
                             .paper = all.exhibits[k].paper,
                             .title = all.entries[k]->title,
                             .verdict = all.exhibits[k].verdict.text,
                             .page = all.exhibits[k].id + "/index.html"});
  for (const Unfinished& u : all.unfinished)
    page.exhibits.push_back({.id = u.entry->id,
                             .paper = u.entry->paper,
                             .title = u.entry->title,
                             .verdict = fmt::format("{} of {} runs are stored", u.stored, u.runs)});
  return page;
}

}  // namespace dpsosp::report
