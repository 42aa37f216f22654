// SPDX-License-Identifier: Apache-2.0
#include "board.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/privacy/budget.hpp"

namespace dpsosp::league {
namespace {

constexpr std::size_t resamples = 400;
constexpr std::size_t repetitions = 100, resamples_of_repetition = 100;
constexpr Index published_dimension = 8;

StreamKey key(std::uint64_t path) {
  return {.seed = 60, .purpose = Purpose::statistics, .path = path};
}

/// The reached levels of a method, one an instance of the place.
std::vector<Reached> reached_at(const Runs& runs, const Division& division, const Method& method,
                                const Place& place, const std::vector<Instance>& on) {
  const std::size_t trial = division.trial(place, method);
  std::vector<Reached> list;
  for (const Instance& instance : on)
    list.push_back(
        reached_by(runs, job_of(method, trial, instance, place.records, division.scale)));
  return list;
}

void add(Curve& curve, const Instance& instance, Index records, double level) {
  curve.lipschitz = instance.constant(constant::lipschitz);
  curve.records.push_back(static_cast<double>(records));
  curve.levels.push_back(level);
}

/// Adds what all methods reached at a place to the curves from number `first` on.
void add_place(const Runs& runs, const Division& division, const Place& place, Use use,
               std::size_t first, Board& board) {
  const auto on = instances(place, use, division.scale);
  std::vector<std::vector<Reached>> reached;
  for (const Method& method : division.methods)
    reached.push_back(reached_at(runs, division, method, place, on));
  for (std::size_t i = 0; i < on.size(); ++i) {
    double start = std::numeric_limits<double>::infinity();  // nobody ran
    for (const auto& of_method : reached)
      if (std::isfinite(of_method[i].start)) start = of_method[i].start;
    add(board.start[first + i], on[i], place.records, start);
    for (std::size_t m = 0; m < reached.size(); ++m) {
      const Reached& r = reached[m][i];
      Entrant& entrant = board.entrants[m];
      add(entrant.curves[first + i], on[i], place.records, counted(r, start));
      ++entrant.runs;
      entrant.failed += r.failed();
      entrant.outside += !r.failed() && r.outside;
      entrant.worse += !r.failed() && !r.outside && r.level > start;
      if (std::isfinite(r.evaluations))
        entrant.passes.push_back(r.evaluations / static_cast<double>(place.records));
    }
  }
}

Scores only(const Scores& scores, const std::vector<std::size_t>& entrants) {
  Scores some{.strata = scores.strata, .values = {}};
  for (const std::size_t k : entrants) some.values.push_back(scores.values[k]);
  return some;
}

}  // namespace

std::size_t Division::trial(const Place& place, const Method& method) const {
  return budget == 0 ? default_trial : committed_choices().trial(place, method.algorithm, budget);
}

Division tuned(Scale scale, std::size_t budget, Contest contest) {
  return {.methods = methods(contest),
          .places = places(scale, contest),
          .scale = scale,
          .budget = budget};
}

const std::vector<std::pair<std::string, std::string>>& left_out() {
  static constexpr const char* centred =
      "its search set is centred at the origin, near which some groups have a minimiser, so the "
      "comparison would be unfair";
  static const std::vector<std::pair<std::string, std::string>> list{
      {"avdiukhin-2024/noisy-sgd", "its guarantee rests on an assumption that nothing enforces"},
      {"lowy-2024/published-experiment", "its step sizes were tuned by hand on the data it shows"},
      {"xu-2026/dp-rgda", "runs on minimax problems only"},
      {"zhang-2025/private-diff", "runs on minimax problems only"},
      {"yang-2022/dp-sgda", "runs on minimax problems only"},
      {"ganesh-2023/exponential-mechanism", centred},
      {"ganesh-2023/discrete-exponential", centred},
      {"lowy-2024/exponential-mechanism", centred},
      {"lowy-2024/warm-exponential", centred},
      {"lowy-2024/warm-population", centred}};
  return list;
}

Division published(Scale scale) {
  Division division{.methods = {}, .places = {}, .scale = scale, .budget = 0};
  for (const AlgorithmEntry& e : algorithm_registry()) {
    const AlgorithmCard card = e.create()->card();
    const bool out = std::ranges::find(left_out(), e.key, [](const auto& l) { return l.first; }) !=
                     left_out().end();
    if (card.privacy == PrivacyLabel::enforced && !card.needs_dual && !out)
      division.methods.push_back({.algorithm = e.key, .fixed = {}, .dials = {}});
  }
  for (const Place& place : places(scale))
    if (place.dimension == published_dimension &&
        place.records == place.group->records[place.group->records.size() - 2])
      division.places.push_back(place);
  return division;
}

std::vector<Job> jobs_of(const Division& division, Use use) {
  std::vector<Job> jobs;
  for (const Place& place : division.places) {
    const auto on = instances(place, use, division.scale);
    for (const Method& method : division.methods)
      for (const Instance& instance : on)
        if (auto job = job_of(method, division.trial(place, method), instance, place.records,
                              division.scale))
          jobs.push_back(std::move(*job));
  }
  return jobs;
}

std::vector<Board> boards_of(const Runs& runs, const Division& division, Use use) {
  std::vector<Board> boards;
  for (const Place& place : division.places) {
    auto board = std::ranges::find(boards, place.dimension, &Board::dimension);
    if (board == boards.end()) {
      board = boards.insert(
          board, {.dimension = place.dimension, .instances = {}, .start = {}, .entrants = {}});
      for (const Method& method : division.methods)
        board->entrants.push_back({.algorithm = method.algorithm,
                                   .program = find_algorithm(method.algorithm)->card().is_program(),
                                   .curves = {}});
    }
    auto first = static_cast<std::size_t>(
        std::ranges::find(board->instances, place.group, &Instance::group) -
        board->instances.begin());
    if (first == board->instances.size()) {
      for (Instance& instance : instances(place, use, division.scale))
        board->instances.push_back(std::move(instance));
      board->start.resize(board->instances.size());
      for (Entrant& e : board->entrants) e.curves.resize(board->instances.size());
    }
    add_place(runs, division, place, use, first, *board);
  }
  return boards;
}

Scores scores_of(const Board& board) {
  Scores scores;
  for (const Instance& instance : board.instances)
    scores.strata.push_back(ordinal_of(*instance.group));
  for (const Entrant& entrant : board.entrants) {
    scores.values.emplace_back();
    for (const Curve& curve : entrant.curves) scores.values.back().push_back(score_of(curve));
  }
  return scores;
}

double mean_score(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

std::vector<std::size_t> ranking(const Scores& scores) {
  std::vector<std::size_t> order(scores.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t k) { return mean_score(scores.values[k]); });
  return order;
}

std::vector<double> frequencies(const Board& board, const Scores& scores) {
  std::vector<std::size_t> own;
  for (std::size_t k = 0; k < board.entrants.size(); ++k)
    if (!board.entrants[k].program) own.push_back(k);
  std::vector<double> list(board.entrants.size());
  const Stream random(key(static_cast<std::uint64_t>(board.dimension)));
  const auto among_own = first_group_frequency(only(scores, own), resamples, random);
  for (std::size_t k = 0; k < own.size(); ++k) list[own[k]] = among_own[k];
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (std::ranges::find(own, k) != own.end()) continue;
    auto with_it = own;
    with_it.push_back(k);
    list[k] = first_group_frequency(only(scores, with_it), resamples, random).back();
  }
  return list;
}

double simulated_error(const Scores& scores) {
  return false_exclusions(scores, repetitions, resamples_of_repetition, Stream(key(0)));
}

double floor_of(const Instance& instance, double records) {
  const double R = zcdp_budget({league_epsilon, instance.spec.delta}, instance.spec.calibrator);
  return std::sqrt(2.0 * static_cast<double>(instance.dimension) / R) *
         instance.constant(constant::lipschitz) / records;
}

}  // namespace dpsosp::league
