// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/checks/algorithm_check.hpp"
#include "dpsosp/checks/problem_page.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "publications.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// Gradient norm and level of the recorded iterates.
std::optional<plots::Figure> trace_of(const RunResult& result, const std::string& algorithm) {
  if (!result.trace) return {};
  constexpr std::size_t most_points = 80;
  const std::vector<TraceRow>& rows = *result.trace;
  plots::Series level{.label = "SOSP level", .algorithm = algorithm},
      gradient{.label = "gradient norm", .style = 1};
  const std::size_t stride = std::max<std::size_t>(1, rows.size() / most_points);
  for (std::size_t k = 0; k < rows.size(); k += stride)
    for (auto& [series, value] :
         {std::pair{&level, rows[k].sosp_level}, std::pair{&gradient, rows[k].gradient_norm}})
      if (value > 0 && std::isfinite(value)) {
        series->x.push_back(static_cast<double>(rows[k].t));
        series->y.push_back(value);
      }
  plots::Figure figure{.id = "trace",
                       .caption =
                           "Recorded iterates, computed from the records without noise, so "
                           "not private."};
  for (plots::Series* s : {&level, &gradient}) {
    if (s->x.size() <= 2) continue;
    plots::Panel p{.x = {.label = "step"}, .y = {.label = s->label, .scale = plots::Scale::log}};
    p.series.push_back(std::move(*s));
    figure.panels.push_back(std::move(p));
  }
  if (figure.panels.empty()) return {};
  return figure;
}

/// The first stored run of an algorithm in a fitted part of a sweep: seed 0 of the middle cell.
std::optional<ShownRun> shown_run(const Stored& stored, const std::string& algorithm) {
  for (const auto& [name, sweep] : stored.sweeps())
    for (const Part& part : sweep.parts) {
      if (part.fits.empty()) continue;
      std::vector<Cell> cells;
      for (Cell& cell : cells_of(sweep, part))
        if (sweep.arms[cell.arm].spec.algorithm == algorithm) cells.push_back(std::move(cell));
      if (cells.empty()) continue;
      const Cell& middle = cells[cells.size() / 2];
      const RunDescription& d = middle.first_run();
      const RunResult* result = stored.runs().result(middle.runs.front());
      if (result == nullptr) continue;
      ShownRun run{.command = fmt::format("./run {}", command_of(d)),
                   .setting = fmt::format(
                       "{}, n = {}, ε = {:g}, δ = {:g}, seed {}{}", d.problem, d.records, d.epsilon,
                       d.delta, d.seed,
                       result->privacy.label == PrivacyLabel::simulated
                           ? "; records are simulated: ε is what real ones would be charged"
                           : ""),
                   .guarantee = result->privacy.guarantee,
                   .spent = result->privacy.spent,
                   .accountant = result->privacy.spent_accountant};
      if (!std::isfinite(run.guarantee)) continue;
      for (const LedgerRow& row : result->privacy.ledger.rows) {
        std::string event = row.event;
        for (const auto& [parameter, value] : row.event_parameters)
          event += fmt::format(", {} {:.4g}", parameter, value);
        std::ranges::replace(event, '_', ' ');
        std::string query = row.query;
        std::ranges::replace(query, '_', ' ');
        run.ledger.push_back(
            {.query = query,
             .count = static_cast<double>(row.count),
             .event = event,
             .records = fmt::format("{}, {}", row.batch, row.records_end - row.records_begin),
             .sensitivity = row.sensitivity.second});
      }
      for (const auto& [parameter, value] : result->algorithm.parameters)
        run.parameters.push_back({parameter, value});
      run.trace = trace_of(*result, algorithm);
      return run;
    }
  return {};
}

/// Cells of the audit's table about the algorithm, where the audit is in the report.
std::vector<Fact> audit_of(const Stored& stored, const std::string& algorithm) {
  std::vector<Fact> facts;
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k) {
    if (all.entries[k]->id != "audit") continue;
    for (const plots::Table& t : all.exhibits[k].tables) {
      if (t.id != "algorithms") continue;
      for (const plots::RowGroup& g : t.row_groups)
        for (const plots::Row& row : g.rows) {
          if (row.label != algorithm) continue;
          std::size_t column = 0;
          for (const plots::ColumnGroup& c : t.column_groups)
            for (const std::string& label : c.columns) {
              const plots::Cell& cell = row.cells[column++];
              std::string value;
              if (const auto* s = std::get_if<std::string>(&cell.content)) value = *s;
              if (const auto* n = std::get_if<plots::Number>(&cell.content))
                value = plots::plain_number(n->value, n->format);
              for (const plots::Label& l : cell.labels)
                value += (value.empty() ? "" : " ") + l.text;
              facts.push_back({c.label.empty() ? label : c.label + ", " + label, value});
            }
        }
    }
  }
  return facts;
}

std::vector<Fact> settings_of(Fields fields) {
  std::vector<Fact> facts;
  for (const Field& f : fields)
    facts.push_back({f.name, fmt::format("`{}`: {}", f.get(), f.meaning)});
  return facts;
}

}  // namespace

std::vector<AlgorithmPage> algorithm_pages_of(const Stored& stored,
                                              const std::vector<ForestGroup>& forest,
                                              const Site& site) {
  std::vector<AlgorithmPage> pages;
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    const auto algorithm = entry.create();
    const AlgorithmCard& c = algorithm->card();
    AlgorithmPage p{.key = c.key, .title = c.title, .paper = c.paper, .claim = c.rate};
    p.card = {
        {"Key", "`" + c.key + "`"},
        {"Source", fmt::format("{}, {} ({})", c.paper, c.place, to_string(c.source))},
        {"Guarantee", c.guarantee},
        {"Claimed", fmt::format("{} of the {}: {}", to_string(c.metric), c.statistic, c.rate)},
        {"Needs", c.operations + (c.needs_dual ? "; a minimax problem" : "")},
        {"Returns", c.output_rule},
        {"Reads", c.single_pass ? "each record once" : "records as often as it likes"},
        {"Printed form keeps", c.printed.empty() ? "nothing; there is one form" : c.printed},
        {"Without noise like", c.same_without_noise},
        {"Privacy", std::string(to_string(c.privacy))},
        {"Utility", std::string(to_string(c.utility))}};
    p.settings = settings_of(algorithm->fields());
    p.bibtex = bibtex_of(paper_of(c.key));
    p.pseudocode = pseudocode_of(c.key);
    std::vector<std::string> sweeps;
    for (const ForestGroup& g : forest)
      for (const ForestRow& row : g.rows) {
        if (row.algorithm != c.key) continue;
        p.rows.push_back(row);
        for (const Rate& r : row.rates) add_once(sweeps, r.sweep);
      }
    p.ranks = ranks_of(stored, c.key);
    p.run = shown_run(stored, c.key);
    p.audit = audit_of(stored, c.key);
    for (const ExhibitPage& e : site.exhibits) {
      const bool shows =
          std::ranges::any_of(e.rates, [&](const Rate& r) { return r.algorithm == c.key; }) ||
          std::ranges::find(e.algorithms, c.key) != e.algorithms.end();
      if (shows) p.exhibits.push_back(e.id);
    }
    const QuickRun& quick = quick_run(c.key);
    p.commands = {
        {"A run of seconds that shows it at work", fmt::format("./run {}", command_of(quick.spec))},
        {"Check it", "./run dpsosp check " + c.key},
        {"Attack its privacy", "./run dpsosp audit --algorithm " + c.key}};
    if (!c.is_private()) p.commands.pop_back();
    for (const std::string& s : sweeps)
      p.commands.push_back({"Its exponents", "./run dpsosp sweep " + s});
    pages.push_back(std::move(p));
  }
  return pages;
}

std::vector<ProblemPage> problem_pages_of(const Stored& stored) {
  constexpr Index page_records = 100;
  constexpr int bands = 10;
  constexpr Index picture_points = 46;
  std::vector<ProblemPage> pages;
  for (const ProblemEntry& entry : problem_registry()) {
    const auto family = entry.create();
    const ProblemNotes notes = family->notes();
    const auto facts = family->known_facts(InstanceSpec{.records = page_records, .dimension = {}});
    ProblemPage p{.name = std::string(family->name()),
                  .group = std::string(notes.group),
                  .summary = std::string(family->summary()),
                  .formula = std::string(notes.formula),
                  .source = std::string(notes.source),
                  .critical_points = std::string(notes.critical_points),
                  .size = facts ? fmt::format("d = {}, n = {}, domain: {}", facts->dimension,
                                              family->default_records(), to_string(facts->domain))
                                : "",
                  .missing = family->missing()};
    Fields fields = family->fields();
    if (std::ranges::find(fields, "sampling", &Field::name) != fields.end())
      p.size +=
          "; simulated records (`sampling = whole` or `stream`) are drawn as sums over ranges of "
          "records, so that runs at n = 10¹³ take seconds";
    const Constants known = facts ? facts->constants : Constants();
    for (const auto& [name, c] : known.all())
      p.constants.push_back({.symbol = std::string(constant_symbol(name)),
                             .name = std::string(name),
                             .value = c.value,
                             .bound = bound_text(c),
                             .where = c.region,
                             .why = c.proof});
    p.settings = settings_of(std::move(fields));
    if (const auto map = problem_picture(*family, picture_points)) {
      Picture picture{.caption = map->title,
                      .x_label = map->x_label,
                      .y_label = map->y_label,
                      .x_low = map->x[0],
                      .x_high = map->x[map->x.size() - 1],
                      .y_low = map->y[0],
                      .y_high = map->y[map->y.size() - 1]};
      std::vector<double> sorted(map->values.data(), map->values.data() + map->values.size());
      std::ranges::sort(sorted);
      for (Index i = 0; i < map->values.rows(); ++i) {
        std::vector<int> row;
        for (Index j = 0; j < map->values.cols(); ++j) {
          const auto below = std::ranges::lower_bound(sorted, map->values(i, j)) - sorted.begin();
          row.push_back(static_cast<int>(below * bands / std::ssize(sorted)));
        }
        picture.bands.push_back(std::move(row));
      }
      for (const plots::MapPoint& point : map->points)
        picture.points.push_back(
            {point.style == 0 ? "minimiser" : "strict saddle", point.x, point.y});
      p.picture = std::move(picture);
    }
    std::set<std::string> seen;
    for (const auto& [name, sweep] : stored.sweeps()) {
      bool uses = false;
      for (const Arm& arm : sweep.arms)
        if (arm.spec.problem == p.name) {
          uses = true;
          if (seen.insert(arm.spec.algorithm).second) p.algorithms.push_back(arm.spec.algorithm);
        }
      if (uses) p.sweeps.push_back(name);
    }
    std::ranges::sort(p.algorithms);
    pages.push_back(std::move(p));
  }
  return pages;
}

std::vector<PaperPage> paper_pages_of(const Stored& stored, const std::vector<ForestGroup>& forest,
                                      const Site& site) {
  std::vector<PaperPage> pages;
  for (const WordCounts& words : words_of(stored)) {
    if (words.paper.empty()) continue;
    PaperPage p{.key = words.paper, .name = words.paper, .words = words};
    const Reproduced& all = stored.reproduced();
    for (std::size_t k = 0; k < all.entries.size(); ++k) {
      if (paper_of(all.entries[k]->id) != p.key) continue;
      if (p.name == p.key) p.name = all.entries[k]->paper;
      p.exhibits.push_back(card_of(*all.entries[k], all.exhibits[k]));
    }
    for (const ForestGroup& g : forest)
      if (g.paper == p.key) p.forest.push_back(g);
    for (const ClaimLine& c : claim_list_of(stored).claims) {
      if (c.paper != p.key) continue;
      auto& list = c.word == "refuted" || c.word == "slip" ? p.refuted
                   : c.word == "open"                      ? p.untested
                                                           : p.claims;
      list.push_back(c);
    }
    for (const AlgorithmEntry& e : algorithm_registry())
      if (e.key.starts_with(p.key + "/")) p.algorithms.push_back(e.key);
    const std::string errata = "errata-" + p.key;
    for (const TextPage& t : site.texts)
      if (t.id == errata) p.errata = t.id + ".html";
    pages.push_back(std::move(p));
  }
  return pages;
}

}  // namespace dpsosp::report
