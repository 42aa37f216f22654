// SPDX-License-Identifier: Apache-2.0
#include "advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "committed.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/privacy/budget.hpp"

namespace dpsosp::league {
namespace {

constexpr std::string_view advice_header = "group,d,n,algorithm,levels over G";
constexpr const char* of_start = "start";
constexpr std::size_t resamples_of_advice = 400;
constexpr double near_start = 0.99;

double root_of_budget(double epsilon, double delta) {
  return std::sqrt(zcdp_budget({epsilon, delta}, Calibrator::cks));
}

double geometric_mean(const std::vector<double>& levels) {
  double sum = 0;
  for (const double v : levels) sum += std::log(v);
  return std::exp(sum / static_cast<double>(levels.size()));
}

/// The place of a group that is nearest in the logarithms of n and d; null without any.
const std::pair<const AdviceData::Key, Findings>* nearest(const AdviceData& data,
                                                          const std::string& group, double records,
                                                          Index dimension) {
  const auto away = [&](const AdviceData::Key& key) {
    return std::abs(std::log(static_cast<double>(key.records) / records)) +
           std::abs(std::log(static_cast<double>(key.dimension) / static_cast<double>(dimension)));
  };
  const std::pair<const AdviceData::Key, Findings>* best = nullptr;
  for (const auto& place : data.places())
    if (place.first.group == group && (best == nullptr || away(place.first) < away(best->first)))
      best = &place;
  return best;
}

/// "0.3/M"; the values of settings that have a unit.
std::string with_unit(const std::string& value, Unit unit) {
  switch (unit) {
    case Unit::lipschitz:
      return value + " G";
    case Unit::smoothness:
      return value + " M";
    case Unit::inverse_smoothness:
      return value + "/M";
    case Unit::length:
    case Unit::length_over_steps:
      return value + " sqrt(B/M)";
    case Unit::squared_length:
      return value + " B/M";
    case Unit::joint:
      return value + " L";
    case Unit::inverse_joint:
      return value + "/L";
    case Unit::none:
      break;
  }
  return value;
}

std::vector<std::pair<std::string, std::string>> settings_at(const AdviceData::Key& key,
                                                             const std::string& algorithm) {
  const auto all = methods();
  const auto method = std::ranges::find(all, algorithm, &Method::algorithm);
  const Group& group = find_group(key.group);
  const std::size_t trial = committed_choices().trial(
      {.group = &group, .dimension = key.dimension, .records = key.records}, algorithm,
      budgets.back());
  if (method == all.end() || trial == default_trial) return {};
  std::vector<std::pair<std::string, std::string>> settings(method->fixed.begin(),
                                                            method->fixed.end());
  const Settings& values = order_of(*method, group.simulated).at(trial);
  for (const auto& [name, value] : values)
    for (const Dial::Moved& moved : std::ranges::find(method->dials, name, &Dial::name)->moved)
      settings.emplace_back(moved.setting, with_unit(factor_of(moved, value, values), moved.unit));
  return settings;
}

Advice advice_at(const AdviceData::Key& key, const Findings& findings, double equivalent) {
  const Group& group = find_group(key.group);
  Advice advice{
      .kind = group.id,
      .title = group.title,
      .dimension = key.dimension,
      .records = key.records,
      .equivalent = equivalent,
      .start = median(findings.start),
      .floor = std::sqrt(2.0 * static_cast<double>(key.dimension)) /
               (root_of_budget(league_epsilon, RunSpec{}.delta) * static_cast<double>(key.records)),
      .hopeless = true,
      .choices = {}};
  for (const std::string& algorithm : advised(findings)) {
    const std::vector<double>& levels = findings.levels.at(algorithm);
    advice.hopeless = advice.hopeless && median(levels) >= near_start * advice.start;
    advice.choices.push_back({.algorithm = algorithm,
                              .level = median(levels),
                              .low = std::ranges::min(levels),
                              .high = std::ranges::max(levels),
                              .settings = settings_at(key, algorithm)});
  }
  return advice;
}

/// Geometric means at a place, by algorithm.
std::map<std::string, double> means_of(const Findings& findings) {
  std::map<std::string, double> means;
  for (const auto& [algorithm, levels] : findings.levels)
    means.emplace(algorithm, geometric_mean(levels));
  return means;
}

}  // namespace

AdviceData::AdviceData(const Runs& runs, Scale scale, Use use) {
  for (const Board& board : boards_of(runs, tuned(scale, budgets.back()), use))
    for (std::size_t i = 0; i < board.instances.size(); ++i)
      for (std::size_t p = 0; p < board.start[i].records.size(); ++p) {
        const double G = board.start[i].lipschitz;
        Findings& f = places_[{.group = board.instances[i].group->id,
                               .dimension = board.dimension,
                               .records = static_cast<Index>(board.start[i].records[p])}];
        f.start.push_back(board.start[i].levels[p] / G);
        for (const Entrant& e : board.entrants)
          if (!e.program) f.levels[e.algorithm].push_back(e.curves[i].levels[p] / G);
      }
}

AdviceData::AdviceData(std::string_view csv) {
  std::istringstream lines{std::string(csv)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line == advice_header) continue;
    std::istringstream cells(line);
    Key key;
    std::string algorithm, cell;
    std::getline(cells, key.group, ',');
    char comma = 0;
    cells >> key.dimension >> comma >> key.records >> comma;
    std::getline(cells, algorithm, ',');
    std::vector<double> levels;
    while (std::getline(cells, cell, ' ')) levels.push_back(std::stod(cell));
    if (algorithm.empty() || levels.empty())
      throw InputError(fmt::format("advice.csv: {}, expected {}", line, advice_header));
    (algorithm == of_start ? places_[key].start : places_[key].levels[algorithm]) =
        std::move(levels);
  }
}

std::string AdviceData::csv() const {
  std::string text = fmt::format("{}\n", advice_header);
  const auto add = [&](const Key& key, const std::string& name, const std::vector<double>& levels) {
    text += fmt::format("{},{},{},{},", key.group, key.dimension, key.records, name);
    for (std::size_t k = 0; k < levels.size(); ++k)
      text += fmt::format("{}{:.3g}", k == 0 ? "" : " ", levels[k]);
    text += '\n';
  };
  for (const auto& [key, findings] : places_) {
    add(key, of_start, findings.start);
    for (const auto& [algorithm, levels] : findings.levels) add(key, algorithm, levels);
  }
  return text;
}

const AdviceData& committed_advice() {
  static const AdviceData data(advice_csv());
  return data;
}

std::vector<std::string> advised(const Findings& findings) {
  Scores scores{.strata = std::vector<std::size_t>(findings.start.size()), .values = {}};
  std::vector<std::string> names;
  for (const auto& [algorithm, levels] : findings.levels) {
    names.push_back(algorithm);
    scores.values.emplace_back();
    for (const double v : levels) scores.values.back().push_back(-std::log(v));
  }
  const auto frequency =
      first_group_frequency(scores, resamples_of_advice,
                            Stream({.seed = 60, .purpose = Purpose::statistics, .path = 1000}));
  std::vector<std::string> list;
  for (const std::size_t k : ranking(scores))
    if (list.empty() || frequency[k] > 1 - decided) list.push_back(names[k]);
  return list;
}

std::vector<Advice> advise(const AdviceData& data, const AdviceQuestion& question) {
  const double equivalent = static_cast<double>(question.records) *
                            root_of_budget(question.epsilon, question.delta) /
                            root_of_budget(league_epsilon, RunSpec{}.delta);
  std::vector<Advice> list;
  for (const Group& group : groups())
    if (question.kind.empty() || find_group(question.kind).id == group.id)
      if (const auto* place = nearest(data, group.id, equivalent, question.dimension))
        list.push_back(advice_at(place->first, place->second, equivalent));
  return list;
}

plots::Table regret_table(const AdviceData& fitted, const AdviceData& scored) {
  std::map<std::string, std::map<Index, std::vector<double>>> ratios;  // by choice and d
  for (const auto& [key, findings] : scored.places()) {
    const auto known = fitted.places().find(key);
    if (known == fitted.places().end()) continue;
    const auto means = means_of(findings);
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [algorithm, mean] : means) best = std::min(best, mean);
    for (const auto& [algorithm, mean] : means)
      ratios[algorithm][key.dimension].push_back(mean / best);
    ratios["the advice"][key.dimension].push_back(means.at(advised(known->second).front()) / best);
  }
  plots::Table t;
  t.id = "regret";
  t.row_header = "choice";
  t.column_groups.push_back({"", {}});
  for (const Index d : dimensions())
    t.column_groups.front().columns.push_back(fmt::format("d = {}", d));
  t.column_groups.front().columns.insert(t.column_groups.front().columns.end(), {"all", "worst"});
  for (const auto& [choice, by_dimension] : ratios) {
    plots::Row row{.label = choice};
    std::vector<double> all;
    for (const Index d : dimensions()) {
      const auto found = by_dimension.find(d);
      row.cells.push_back(found == by_dimension.end()
                              ? plots::text_cell("–")
                              : plots::number_cell(geometric_mean(found->second)));
      if (found != by_dimension.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    }
    row.cells.push_back(plots::number_cell(geometric_mean(all)));
    row.cells.push_back(plots::number_cell(std::ranges::max(all)));
    row.cells[dimensions().size()].strong = choice == "the advice";
    t.add(std::move(row));
  }
  return t;
}

}  // namespace dpsosp::league

namespace dpsosp {

std::vector<Advice> advise(const AdviceQuestion& question) {
  return league::advise(league::committed_advice(), question);
}

std::string number_of(const std::string& value, const std::map<std::string, double>& constants) {
  const auto constant_of = [&](std::string_view name) {
    const auto found = constants.find(std::string(name));
    if (found == constants.end()) throw MissingConstant(name);
    return found->second;
  };
  const auto times = [&](double unit) { return fmt::format("{:.6g}", std::stod(value) * unit); };
  if (value.ends_with(" sqrt(B/M)"))
    return times(
        std::sqrt(constant_of(constant::suboptimality) / constant_of(constant::smoothness)));
  if (value.ends_with(" G")) return times(constant_of(constant::lipschitz));
  if (value.ends_with(" M")) return times(constant_of(constant::smoothness));
  if (value.ends_with("/M")) return times(1 / constant_of(constant::smoothness));
  return value;
}

std::vector<std::pair<std::string, std::string>> advice_kinds() {
  std::vector<std::pair<std::string, std::string>> kinds;
  for (const league::Group& group : league::groups()) kinds.emplace_back(group.id, group.title);
  return kinds;
}

}  // namespace dpsosp
