// SPDX-License-Identifier: Apache-2.0
#include "sample_site.hpp"

#include "sample_report.hpp"

namespace dpsosp::report {
namespace {

constexpr const char* key = "smith-2027/momentum";

plots::Panel panel() {
  plots::Panel p{.title = "Against n", .origin = {"smith-2027-momentum", "n", "output.sosp_level"}};
  p.x = {.label = "records n", .scale = plots::Scale::log};
  p.y = {.label = "sosp_level of the output", .scale = plots::Scale::log};
  p.series = {
      {.label = "claimed exponent", .style = 13, .dashed = true, .x = {1e3, 1e4}, .y = {0.5, 0.1}},
      {.label = "momentum",
       .algorithm = key,
       .x = {1e3, 3e3, 1e4},
       .y = {0.5, 0.24, 0.11},
       .low = {0.4, 0.2, 0.1},
       .high = {0.6, 0.3, 0.12}}};
  return p;
}

}  // namespace

Rate sample_rate(const std::string& axis, double claimed, double value) {
  return {.claim = "smith-2027/c1",
          .axis = axis,
          .claimed_low = claimed,
          .claimed_high = claimed,
          .zone_low = claimed - 0.05,
          .zone_high = claimed + 0.05,
          .value = value,
          .low = value - 0.01,
          .high = value + 0.01,
          .plan = claimed + 0.002,
          .drift = 0.12,
          .drifting = true,
          .in_noise = axis == "ε",
          .metric = "sosp_level of the output",
          .word = "confirmed",
          .verdict = "as claimed",
          .bound = "below the promise",
          .reason = "a reason",
          .seeds = 5,
          .cells = 4,
          .privacy = {"conditional"},
          .algorithm = key,
          .problem = "double-well",
          .sweep = "smith-2027-momentum",
          .part = axis == "ε" ? "epsilon" : axis,
          .arm = "momentum"};
}

Site sample_site() {
  const std::vector<Rate> rates{sample_rate("n", -2.0 / 3, -0.67), sample_rate("d", 1.0 / 3, 0.34),
                                sample_rate("ε", -1, -0.8)};
  const ForestRow row{.claim = "smith-2027/c1",
                      .method = "Momentum",
                      .algorithm = key,
                      .paper = "smith-2027",
                      .word = "confirmed",
                      .rates = rates,
                      .also = {"jones-2028/c2"}};
  const ForestGroup group{
      .paper = "smith-2027", .quantity = "second order, empirical", .rows = {row}};
  const plots::Figure figure{.id = "curves",
                             .title = "Levels <by> n",
                             .caption = "Medians; see smith-2027/c1 and errata X1.",
                             .alternative = "curves that fall",
                             .panels = {panel()},
                             .columns = 2};
  Site site{.scale = "quick", .version = "0.0"};
  site.methods = {{"abadi-2016/dp-sgd", "DP-SGD"}, {key, "Momentum"}};
  site.addresses = {{"smith-2027/c1", "claims/smith-2027-c1.html"},
                    {key, "algorithms/smith-2027-momentum.html"},
                    {"double-well", "problems/double-well.html"},
                    {"smith-2027/table-1", "smith-2027-table-1/index.html"},
                    {"smith-2027", "papers/smith-2027.html"},
                    {"X1", "errata.html#X1"}};
  const ClaimLine line{.id = "smith-2027/c1",
                       .paper = "smith-2027",
                       .place = "Theorem 1",
                       .of = "paper",
                       .reading = "Levels fall as n^{−2/3}.",
                       .measured = "−0.67",
                       .word = "confirmed",
                       .evidence = "measurement"};
  const ExhibitCard card{"smith-2027/table-1", "Smith 2027", "Table 1", "2 of 3",
                         "smith-2027-table-1/index.html"};
  WordCounts words{"smith-2027", "Smith 2027", {{"confirmed", 1}}, 1};
  site.index = {.title = "What one paper claims & what holds",
                .lead = "A lead with `smith-2027/momentum`.",
                .warning = "A warning.",
                .rule = "A rule.",
                .highlights = {{.sentence = "One",
                                .page = "errata.html",
                                .command = "./run a",
                                .claims = {"smith-2027/c1"},
                                .intervals = rates},
                               {.sentence = "Two", .panel = panel()},
                               {.sentence = "Three"}},
                .words = {words, {"", "all papers", {{"confirmed", 1}}, 1}},
                .others = {{"", "Of work that is cited", {{"open", 1}}, 1}},
                .forest = {group},
                .missing = {{"A figure", "its data are not here", "./run data", "errata.html"}},
                .not_private = {"Seeds are public."},
                .exhibits = {card}};
  site.claim_list.claims = {line};
  site.claims = {{.id = "smith-2027/c1",
                  .paper = "smith-2027",
                  .place = "Theorem 1",
                  .word = "confirmed",
                  .verdict = "as claimed",
                  .evidence = "measurement: as claimed",
                  .printed = R"(at most $\frac{\sqrt{d}}{n_{0}}\leq\alpha^{2/3}$ < 1)",
                  .hypotheses = "smooth",
                  .reading = "Levels fall.",
                  .ambiguity = "the metric",
                  .measure = "levels",
                  .expected = "−2/3",
                  .holds_if = "it falls",
                  .instead = "another",
                  .measured = "−0.67",
                  .reason = "a reason",
                  .reference = "the same",
                  .stands = "the rate",
                  .change = "more seeds",
                  .objection = "they object",
                  .answer = "we answer",
                  .changed = "words",
                  .open = "more runs",
                  .rates = rates,
                  .notes = {"a note"},
                  .figure = figure,
                  .commands = {{"Its runs", "./run dpsosp sweep smith-2027-momentum"}},
                  .exhibits = {"smith-2027/table-1"},
                  .algorithms = {key},
                  .problems = {"double-well"},
                  .previous = "",
                  .next = ""}};
  plots::Table shown = plots::sample_table();
  shown.sweep = "smith-2027-momentum";
  plots::Table folded{
      .id = "cells", .title = "Cells", .row_header = "cell", .column_groups = {{"", {"verdict"}}}};
  plots::Cell verdict = plots::text_cell(std::string(80, 'w'));
  verdict.labels = {{"slip", plots::Tone::caution}};
  folded.row_groups = {{"", {{.label = "row", .cells = {verdict}}}}};
  plots::Figure second = plots::sample_figure("figure-2", 1.0);
  site.exhibits = {{.id = "smith-2027/table-1",
                    .folder = "smith-2027-table-1",
                    .paper = "Smith 2027",
                    .paper_key = "smith-2027",
                    .title = "Table 1: n < d & \"n > d\"",
                    .finding = "2 of 3 exponents confirmed",
                    .notice = {"Computed before."},
                    .paper_says = {"It converges."},
                    .differences = {"The noise."},
                    .figures = {figure, second},
                    .tables = {shown},
                    .details = {folded},
                    .rates = rates,
                    .claims = {"smith-2027/c1"},
                    .commands = {{"the whole exhibit", "./run reproduce smith-2027/table-1"}},
                    .files = {}}};
  site.papers = {{.key = "smith-2027",
                  .name = "Smith 2027",
                  .words = words,
                  .forest = {group},
                  .refuted = {line},
                  .untested = {line},
                  .claims = {line},
                  .exhibits = {card},
                  .algorithms = {key},
                  .errata = "errata.html"}};
  LeagueRank rank{
      "league/tuned", 8, 2, 3, 0.4, 0.6, "undecided", {{key, 0.4}, {"abadi-2016/dp-sgd", 0.5}}};
  site.algorithms = {
      {.key = key,
       .title = "Momentum",
       .paper = "Smith 2027",
       .claim = "n^{−2/3}",
       .bibtex = "@misc{smith-2027,\n  year = {2027}\n}",
       .pseudocode = {{"2.1 Momentum",
                       "docs/papers/smith-2027.md",
                       {"input: w", "1  for t = 0, …, T − 1", "2    w ← w − η g"}}},
       .card = {{"Guarantee", "SOSP"}, {"Privacy", "enforced"}},
       .settings = {{"steps", "`7`: how many"}},
       .rows = {row},
       .ranks = {rank},
       .run = ShownRun{.command = "./run dpsosp run",
                       .setting = "double-well, n = 100",
                       .guarantee = 1,
                       .spent = 0.9,
                       .accountant = "gaussian",
                       .ledger = {{"gradient", 7, "gaussian, ratio 3", "all, 100", 0.02}},
                       .parameters = {{"steps", "7"}},
                       .trace = plots::Figure{.id = "trace", .panels = {panel()}}},
       .audit = {{"replay", "passed"}},
       .exhibits = {"smith-2027/table-1"},
       .commands = {{"A run", "./run dpsosp run"}}}};
  site.problems = {
      {.name = "double-well",
       .group = "landscapes",
       .summary = "two wells",
       .formula = "(x₁² − 1)²",
       .source = "folklore",
       .critical_points = "a saddle at 0",
       .size = "d = 2",
       .constants = {{"G", "lipschitz", 1.5, "proved, tight", "everywhere", "by hand"}},
       .settings = {{"wells", "`1`: how many"}},
       .picture = Picture{.caption = "two wells",
                          .x_label = "x₁",
                          .y_label = "x₂",
                          .bands = {{0, 1, 1}, {2, 2, 0}},
                          .points = {{"minimiser", 0.5, 0.5}, {"strict saddle", 0.2, 0.1}}},
       .algorithms = {key},
       .sweeps = {"smith-2027-momentum"}}};
  const LeagueCell cell{"escapes",
                        "hard escapes",
                        1e4,
                        10,
                        1,
                        0.65,
                        0.01,
                        {{key, 0.05, 0.04, 0.06, 5, "steps 30"},
                         {"abadi-2016/dp-sgd", 0.06, 0.05, 0.08, 5, "its schedule"}}};
  site.which = WhichPage{.n = 1e5,
                         .d = 20,
                         .epsilon = 1,
                         .start = "near a saddle",
                         .warning = "not for nothing",
                         .shares = plots::Figure{.id = "figure-shares", .panels = {panel()}},
                         .levels = plots::Figure{.id = "figure-levels", .panels = {panel()}},
                         .standings = {shown},
                         .cells = {cell},
                         .nearest = {0},
                         .controls = {{"escapes", key, 1e4, 1, 0.05, 0.65, 0.07, 0.65}},
                         .can = {"say this"},
                         .cannot = {"say that"},
                         .groups = {{"escapes", "hard escapes"}}};
  site.texts = {
      {.id = "errata",
       .title = "Errata",
       .lead = "What is wrong.",
       .sections = {{.markdown =
                         "# Errata\n\n### X1 · Theorem 1 · error\n\n> a $x^{2}$ b\n\n**Here.** "
                         "*what* `code`.\n\n"
                         "## Others\n\n| id | place |\n|---|---|\n| B2 | [there](x.md) |\n\n- "
                         "one\n- two\n"}}},
      {.id = "privacy",
       .title = "Privacy",
       .sections =
           {{.id = "labels", .heading = "Labels", .paragraphs = {"text"}, .facts = {{"a", "b"}}}}},
      {.id = "speed", .title = "Speed"},
      {.id = "league", .title = "League"},
      {.id = "provenance", .title = "Provenance"}};
  return site;
}

}  // namespace dpsosp::report
