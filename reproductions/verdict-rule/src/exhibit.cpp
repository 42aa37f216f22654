// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/reproductions/verdict_rule.hpp"
#include "simulation.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace verdict_rule;

/// Fixed numbers of seeds, and one that doubles while a sweep needs more.
struct Seeds {
  int first, most;
};
constexpr std::array seed_counts{Seeds{5, 5}, Seeds{8, 8}, Seeds{20, 20}, Seeds{40, 40},
                                 Seeds{5, 40}};
constexpr std::size_t fixed_counts = 4;
constexpr std::array shown{Verdict::as_claimed,           Verdict::as_claimed_with_terms,
                           Verdict::as_claimed_or_better, Verdict::better_than_claimed,
                           Verdict::worse_than_claimed,   Verdict::more_seeds,
                           Verdict::no_power_law};

struct Case {
  Shape shape;
  Scatter scatter;
};

/// Every shape under normal scatter; the true claim and the plainly false one under every scatter.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const auto& [shape, unused] : words_of(Shape{}).list)
    for (const auto& [scatter, also_unused] : words_of(Scatter{}).list)
      if (scatter == Scatter::normal || shape == Shape::exact || shape == Shape::off_10)
        list.push_back({shape, scatter});
  return list;
}

std::string name_of(const Seeds& seeds) {
  return seeds.first == seeds.most ? fmt::format("{} seeds", seeds.first)
                                   : fmt::format("{} to {} seeds", seeds.first, seeds.most);
}

Job job(const Study& study, const Case& c, const Seeds& seeds) {
  const int simulations = study.scale == Scale::smoke   ? 20
                          : study.scale == Scale::quick ? 400
                                                        : 4000;
  return study.probe(Simulation{.shape = c.shape,
                                .scatter = c.scatter,
                                .seeds = seeds.first,
                                .most_seeds = seeds.most,
                                .simulations = simulations});
}

std::vector<Job> jobs(const Study& study) {
  std::vector<Job> list;
  for (const Case& c : cases())
    for (const Seeds& seeds : seed_counts) list.push_back(job(study, c, seeds));
  return list;
}

/// The share of a word among the simulations of a result.
double share(const std::map<std::string, int>& counts, std::string_view word) {
  int all = 0;
  for (const auto& [unused, count] : counts) all += count;
  const auto found = counts.find(std::string(word));
  return found == counts.end() ? 0 : found->second / static_cast<double>(all);
}

/// Whether the claim holds as it is judged: its power, a smaller one, or the bound with its terms.
bool is_true(Shape shape) {
  return shape == Shape::exact || shape == Shape::faster_10 || shape == Shape::bound_logarithm;
}
/// Whether it holds at least up to a logarithm, which rates hide.
bool is_true_up_to_logarithm(Shape shape) { return is_true(shape) || shape == Shape::logarithm; }

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string name_of(const Case& c) {
  return c.scatter == Scatter::normal ? std::string(word_of(c.shape))
                                      : fmt::format("{}, {}", word_of(c.shape), word_of(c.scatter));
}

/// The shares of headline words, one group of columns a word.
plots::Table headline_table() {
  plots::Table t{.id = "headline-words", .row_header = "truth"};
  for (const Headline h :
       {Headline::confirmed, Headline::bound_met, Headline::refuted, Headline::open}) {
    t.column_groups.push_back({fmt::format("{}, %", to_string(h)), {}});
    for (const Seeds& seeds : seed_counts) t.column_groups.back().columns.push_back(name_of(seeds));
  }
  t.column_groups.push_back({"", {"seeds used, of 5 to 40"}});
  return t;
}

plots::Table verdict_table() {
  plots::Table t{.id = "rates-of-error", .row_header = "truth"};
  for (const Verdict v : shown) {
    t.column_groups.push_back({fmt::format("{}, %", to_string(v)), {}});
    for (const Seeds& seeds : seed_counts) t.column_groups.back().columns.push_back(name_of(seeds));
  }
  return t;
}

plots::Exhibit render(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  plots::Table words = headline_table(), fine = verdict_table();
  plots::Figure figure{.id = "rule", .columns = 3};
  double falsely_refuted = 0, least_met = 1;
  for (const Case& c : cases()) {
    plots::Row row{.label = name_of(c)}, fine_row{.label = name_of(c)};
    plots::Panel panel{.title = name_of(c),
                       .x = {.label = "seeds", .scale = plots::Scale::log},
                       .y = {.label = "share of verdicts", .range = std::pair{0.0, 1.0}}};
    std::vector<Simulation::Result> results;
    for (const Seeds& seeds : seed_counts)
      results.push_back(read_result<Simulation>(runs.at(job(study, c, seeds)).result));
    const auto of_word = [&](std::size_t k, Headline h) {
      return share(results[k].headlines, to_string(h));
    };
    for (const Headline h :
         {Headline::confirmed, Headline::bound_met, Headline::refuted, Headline::open})
      for (std::size_t k = 0; k < seed_counts.size(); ++k)
        row.cells.push_back(plots::text_cell(percent(of_word(k, h))));
    row.cells.push_back(plots::text_cell(fmt::format("{:.1f}", results.back().seeds)));
    for (std::size_t k = 0; k < seed_counts.size(); ++k) {
      if (is_true_up_to_logarithm(c.shape))
        falsely_refuted = std::max(falsely_refuted, of_word(k, Headline::refuted));
      if (is_true(c.shape) && seed_counts[k].most >= 20)
        least_met =
            std::min(least_met, of_word(k, Headline::confirmed) + of_word(k, Headline::bound_met));
    }
    for (std::size_t v = 0; v < shown.size(); ++v) {
      plots::Series s{.label = std::string(to_string(shown[v])), .style = v};
      for (std::size_t k = 0; k < seed_counts.size(); ++k) {
        const double part = share(results[k].verdicts, to_string(shown[v]));
        fine_row.cells.push_back(plots::text_cell(percent(part)));
        if (k >= fixed_counts) continue;
        s.x.push_back(seed_counts[k].first);
        s.y.push_back(part);
      }
      panel.series.push_back(std::move(s));
    }
    words.add(std::move(row));
    fine.add(std::move(fine_row));
    figure.panels.push_back(std::move(panel));
  }
  e.verdict = {fmt::format("a true claim is refuted in at most {:.1f} % of simulations, and at 20 "
                           "seeds confirmed or its bound met in at least {:.1f} %",
                           100 * falsely_refuted, 100 * least_met),
               falsely_refuted <= 0.01 && least_met >= 0.9 ? plots::Tone::good : plots::Tone::bad};
  e.tables = {std::move(words), std::move(fine)};
  e.figures.push_back(std::move(figure));
  return e;
}

}  // namespace

Reproduction verdict_rule_reproduction() {
  return {.texts = verdict_rule_texts(),
          .probes = {probe_entry<simulate>()},
          .exhibits = {exhibit_entry(verdict_rule_texts(), "verdict-rule/rates", jobs, render)}};
}

}  // namespace dpsosp
