// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/reproductions/verdict_rule.hpp"
#include "simulation.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using namespace verdict_rule;

constexpr std::array seed_counts{5, 8, 20, 40};
constexpr std::array shown{Verdict::as_claimed,
                           Verdict::as_claimed_with_terms,
                           Verdict::as_claimed_or_better,
                           Verdict::better_than_claimed,
                           Verdict::worse_than_claimed,
                           Verdict::more_seeds,
                           Verdict::no_power_law};

struct Case {
  Shape shape;
  Scatter scatter;
};

/// Every shape under normal scatter; the true claim and the plainly false one under every scatter.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const auto& [shape, unused] : Words<Shape>::list)
    for (const auto& [scatter, also_unused] : Words<Scatter>::list)
      if (scatter == Scatter::normal || shape == Shape::exact || shape == Shape::off_10)
        list.push_back({shape, scatter});
  return list;
}

json job(const Study& study, const Case& c, int seeds) {
  const int simulations = study.scale == Scale::smoke   ? 20
                          : study.scale == Scale::quick ? 400
                                                        : 4000;
  return study.probe("verdict-rule/simulate",
                     {{"shape", word_of(c.shape)},
                      {"scatter", word_of(c.scatter)},
                      {"seeds", seeds},
                      {"simulations", simulations}});
}

std::vector<json> jobs(const Study& study) {
  std::vector<json> list;
  for (const Case& c : cases())
    for (const int seeds : seed_counts) list.push_back(job(study, c, seeds));
  return list;
}

/// The share of a word among the simulations of a result.
double share(const json& counts, std::string_view word) {
  int all = 0;
  for (const auto& [unused, count] : counts.items()) all += count.get<int>();
  return counts.value(std::string(word), 0) / static_cast<double>(all);
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string name_of(const Case& c) {
  return c.scatter == Scatter::normal ? std::string(word_of(c.shape))
                                      : fmt::format("{}, {}", word_of(c.shape), word_of(c.scatter));
}

plots::Exhibit render(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  plots::Table t{.id = "rates-of-error", .row_header = "truth"};
  for (const Verdict v : shown) {
    t.column_groups.push_back({fmt::format("{}, %", to_string(v)), {}});
    for (const int seeds : seed_counts)
      t.column_groups.back().columns.push_back(fmt::format("{} seeds", seeds));
  }
  t.column_groups.push_back({"ratio rises, %", t.column_groups.front().columns});
  plots::Figure figure{.id = "rule", .columns = 3};
  plots::RowGroup group;
  double falsely_worse = 0;
  for (const Case& c : cases()) {
    plots::Row row{.label = name_of(c)};
    plots::Panel panel{.title = name_of(c),
                       .x = {.label = "seeds", .scale = plots::Scale::log},
                       .y = {.label = "share of verdicts", .range = std::pair{0.0, 1.0}}};
    std::vector<const json*> results;
    for (const int seeds : seed_counts) results.push_back(&runs.at(job(study, c, seeds)).result);
    for (std::size_t v = 0; v < shown.size(); ++v) {
      plots::Series s{.label = std::string(to_string(shown[v])), .style = v};
      for (std::size_t k = 0; k < seed_counts.size(); ++k) {
        const double part = share(results[k]->at("verdicts"), to_string(shown[v]));
        row.cells.push_back(plots::text_cell(percent(part)));
        s.x.push_back(seed_counts[k]);
        s.y.push_back(part);
        if (c.shape == Shape::exact && shown[v] == Verdict::worse_than_claimed)
          falsely_worse = std::max(falsely_worse, part);
      }
      panel.series.push_back(std::move(s));
    }
    for (const json* result : results)
      row.cells.push_back(
          plots::text_cell(percent(share(result->at("bounds"), to_string(BoundVerdict::rises)))));
    group.rows.push_back(std::move(row));
    figure.panels.push_back(std::move(panel));
  }
  t.row_groups.push_back(std::move(group));
  e.verdict = {fmt::format("a true claim is called worse in at most {:.1f} % of simulations",
                           100 * falsely_worse),
               falsely_worse <= 0.025 ? plots::Tone::good : plots::Tone::bad};
  e.tables.push_back(std::move(t));
  e.figures.push_back(std::move(figure));
  return e;
}

}  // namespace

Reproduction verdict_rule_reproduction() {
  return {.texts = verdict_rule_texts(),
          .probes = {{.name = "verdict-rule/simulate", .numbers_version = 2, .compute = simulate}},
          .exhibits = {exhibit_entry(verdict_rule_texts(), "verdict-rule/rates", jobs, render)}};
}

}  // namespace dpsosp
