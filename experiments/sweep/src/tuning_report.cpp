// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/shell_words.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "dpsosp/privacy/accounting/repetition.hpp"

namespace dpsosp {
namespace {

using plots::text_cell;

/// "steps = 200, step_size = 0.1".
std::string settings_text(const Coordinates& trial) {
  if (trial.empty()) return "as written";
  Coordinates plain = trial;
  for (auto& [name, unused] : plain) name = axis_symbol(name);
  return to_text(plain);
}

std::string values_text(const Axis& axis) {
  std::vector<std::string> values;
  for (const Coordinates& point : axis) {
    const std::string text = to_text(point);
    values.push_back(text.substr(text.find('=') + 2));
  }
  return fmt::format("{} {}", axis_symbol(axis.front().front().first), fmt::join(values, ", "));
}

/// Settings that other arms of the part tune, and that this one has and does not.
std::vector<std::string> left_alone(const Sweep& sweep, const Part& part, const Arm& arm) {
  const auto tuned = [](const Arm& a, const std::string& name) {
    return std::ranges::any_of(
        a.space, [&](const Axis& axis) { return axis.front().front().first == name; });
  };
  const auto made = find_algorithm(arm.spec.algorithm);
  std::vector<std::string> words;
  for (const Field& f : made->fields())
    if (const std::string name = "set." + f.name;
        !tuned(arm, name) &&
        std::ranges::any_of(part.arms, [&](auto k) { return tuned(sweep.arms[k], name); }))
      words.push_back(f.name + " is not tuned");
  return words;
}

/// "DP-SGD: 16 of 36 settings, step_size 0.1, 1; steps 10, 100".
std::string space_text(const Sweep& sweep, const Part& part, const Arm& arm) {
  std::size_t points = 1;
  std::vector<std::string> axes;
  for (const Axis& axis : arm.space) {
    points *= axis.size();
    axes.push_back(values_text(axis));
  }
  std::ranges::move(left_alone(sweep, part, arm), std::back_inserter(axes));
  return fmt::format("{}: as written and {} of {} settings, {}.", arm.name, arm.trials.size() - 1,
                     points, fmt::join(axes, "; "));
}

/// Digits that tell two numbers apart, at least three.
int digits_apart(double a, double b) {
  int digits = 3;
  while (a != b &&
         plots::plain_number(a, {.digits = digits}) == plots::plain_number(b, {.digits = digits}))
    ++digits;
  return digits;
}

/// A choice is worth its name where it is this many times better than the start.
constexpr double least_gain = 3;

/// Price of a search on the same records.
struct SearchPrice {
  double epsilon = 0;  ///< of runs as they are
  double noise = 1;    ///< factor on the noise of every run, for the whole to fit the budget
};

/// None where a run is not zCDP with one ρ for all settings.
std::optional<SearchPrice> search_price(const Runs& runs, const dpsosp::Cell& cell,
                                        std::size_t budget) {
  const RunDescription& d = cell.first_run();
  for (const Job& job : cell.runs) {
    const RunResult* result = runs.result(job);
    if (result == nullptr) continue;
    const PrivacyResult& p = result->privacy;
    if (on_records(p.label) != PrivacyLabel::enforced || !p.filter || p.filter->order ||
        p.filter->pure_capacity > 0 || p.filter->delta_extra > 0 || !(p.filter->capacity > 0))
      return {};
    const double rho = p.filter->capacity;
    const auto mean = static_cast<double>(budget);
    const double epsilon = std::max(repetition_epsilon(rho, d.delta, mean), d.epsilon);
    const double fitting = std::min(rho_for_repetition(d.epsilon, d.delta, mean), rho);
    return SearchPrice{epsilon, std::sqrt(rho / fitting)};
  }
  return {};
}

std::string run_command_of(const RunDescription& d) {
  const RunSpec standard;
  std::vector<std::string> words{"dpsosp", "run"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  const auto cards = cards_of({d.algorithm});
  if (cards.empty())
    add("--algorithm", d.algorithm);
  else
    add("--program", cards.front().string());
  add("--problem", d.problem);
  add("--records", std::to_string(d.records));
  if (d.dimension) add("--dimension", std::to_string(*d.dimension));
  add("--epsilon", fmt::format("{}", d.epsilon));
  add("--delta", fmt::format("{}", d.delta));
  const auto add_word = [&](const char* option, auto value, auto usual) {
    if (value != usual) add(option, std::string(word_of(value)));
  };
  add_word("--calibrator", d.calibrator, standard.calibrator);
  add_word("--noise", d.noise, standard.noise);
  add_word("--variant", d.variant, standard.variant);
  add_word("--schedule", d.schedule, standard.schedule);
  for (const auto& [name, value] : d.settings) add("--set", fmt::format("{}={}", name, value));
  for (const auto& [name, value] : d.problem_settings)
    add("--set", fmt::format("problem.{}={}", name, value));
  add("--seed", std::to_string(d.seed));
  return shell_line(words);
}

}  // namespace

std::vector<std::string> at_ends(const Arm& arm, const Coordinates& trial) {
  std::vector<std::string> ends;
  for (const auto& [name, value] : trial) {
    std::vector<double> values;
    for (const Axis& axis : arm.space)
      for (const Coordinates& point : axis)
        if (const auto v = coordinate(point, name)) values.push_back(*v);
    const auto chosen = coordinate(trial, name);
    if (!chosen || values.size() < 2) continue;
    const auto [least, most] = std::ranges::minmax(values);
    if (*chosen != least && *chosen != most) continue;
    ends.push_back(fmt::format("{}, the {}", settings_text({{name, value}}),
                               *chosen == least ? "smallest" : "largest"));
  }
  return ends;
}

plots::Table tuning_table(const Runs& runs, const Sweep& sweep, const Part& part, std::string id) {
  const std::vector<TunedCell> tuned = tuned_cells(runs, sweep, part);
  const Tuning& tuning = sweep.tuning;
  const std::string metric = metric_label(sweep.metric);
  plots::Table t;
  t.id = std::move(id);
  t.title = fmt::format("{}: settings of {}", sweep.title, part.name);
  t.row_header = "cell";
  t.column_groups = {{"",
                      {"chosen", "place in the order", metric + ", tuning", "as written", "start",
                       "settings without a value", "at an end of the space"}},
                     {"the same search on secret records", {"ε", "or noise times"}}};
  const std::vector<dpsosp::Cell> cells = cells_of(sweep, part);
  std::vector<std::string> own_data;  // arms
  for (const std::size_t arm : part.arms) {
    const Arm& a = sweep.arms[arm];
    plots::RowGroup group{.label = a.name, .rows = {}};
    for (const TunedCell& cell : tuned) {
      if (cell.arm != arm) continue;
      const auto final_cell = std::ranges::find_if(
          cells, [&](const dpsosp::Cell& c) { return c.arm == arm && c.at == cell.at; });
      if (!final_cell->first_run().data.empty() && (own_data.empty() || own_data.back() != a.name))
        own_data.push_back(a.name);
      const Coordinates& chosen = a.trials[cell.chosen];
      std::size_t without = 0;
      for (std::size_t k = 0; k < cell.trials.size(); ++k) without += !std::isfinite(cell.value(k));
      const std::vector<std::string> ends = at_ends(a, chosen);
      const auto price = search_price(runs, *final_cell, a.trials.size());
      const auto start = measure_start(runs, *final_cell, sweep.metric);
      const CellMetric& best = cell.trials[cell.chosen];
      const double of_best = cell.value(cell.chosen), written = cell.value(0);
      const int digits =
          std::isfinite(of_best) && std::isfinite(written) ? digits_apart(of_best, written) : 3;
      plots::Cell value = plots::spread_cell(best.values, best.failed, best.failure, digits);
      if (start && !(of_best * least_gain <= *start)) {
        value.footnotes.push_back(t.footnotes.size());
        t.footnotes.push_back(
            fmt::format("{}, {}: not {} times better than the start, so that a method that stays "
                        "there is preferred; another start or metric would tell more.",
                        a.name, to_text(cell.at), least_gain));
      }
      group.rows.push_back(
          {.label = to_text(cell.at),
           .cells = {
               text_cell(settings_text(chosen)),
               text_cell(fmt::format("{} of {}", cell.chosen + 1, cell.trials.size())),
               std::move(value),
               std::isfinite(written) ? plots::number_cell(written, digits) : text_cell("none"),
               start ? plots::number_cell(*start) : text_cell("–"), plots::count_cell(without),
               text_cell(ends.empty() ? "–" : fmt::format("{}", fmt::join(ends, "; "))),
               price ? plots::number_cell(price->epsilon) : text_cell("–"),
               price ? plots::number_cell(price->noise) : text_cell("–")}});
    }
    if (group.rows.empty()) {
      t.notes.push_back(
          fmt::format("{}: as written, without tuning ({}).", a.name, tuning.unequal));
      continue;
    }
    t.notes.push_back(space_text(sweep, part, a));
    t.row_groups.push_back(std::move(group));
  }
  t.notes.emplace_back(
      "Secret records: what (ε, δ) becomes if one record set is searched by a random number of "
      "runs, of logarithmic law with the budget as mean, of settings drawn at random, and the best "
      "run is released (Papernot & Steinke 2022, Theorem 2; privacy-accounting notes, 12); or the "
      "factor on all noise that keeps the budget. The score is taken to be part of the run's "
      "release or public. Not charged to the runs here. A dash: no ρ of zCDP is common to all "
      "settings, as with calibrator rdp.");
  t.caption = fmt::format(
      "The setting of the least median {} over {} seeds from {}, which no result has{}; a run that "
      "failed counts as worst. Every arm tries itself as written, then the first settings of one "
      "order (seed {}).{}",
      metric, tuning.seeds, tuning.first_seed,
      own_data.empty() ? "" : ", while records of a file are the same", tuning.order,
      tuning.unequal.empty() ? "" : fmt::format(" Budgets differ: {}.", tuning.unequal));
  if (!own_data.empty())
    t.notes.push_back(fmt::format(
        "The records of {} are those of a file, so tuning saw the records of the results; only "
        "what a private search costs accounts for that.",
        fmt::join(own_data, ", ")));
  return t;
}

std::string tuned_commands(const Sweep& sweep) {
  std::string text;
  for (const Part& part : sweep.parts)
    for (const dpsosp::Cell& cell : cells_of(sweep, part)) {
      if (sweep.arms[cell.arm].trials.size() == 1) continue;
      const RunDescription& d = cell.first_run();
      text += fmt::format("# {}{}\n{}{}\n", place_of(sweep, part, cell),
                          d.program.empty() ? ""
                                            : ", with other noise than in the sweep, whose "
                                              "programs.secret run does not read",
                          d.door == Door::enforced ? "" : "# a control, which run does not have: ",
                          run_command_of(d));
    }
  return text;
}

}  // namespace dpsosp
