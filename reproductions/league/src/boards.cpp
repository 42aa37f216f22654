// SPDX-License-Identifier: Apache-2.0
#include "boards.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/reproductions/league_noise.hpp"

namespace dpsosp {
namespace {

NoiseRule rule_of_league = NoiseRule::schedule;

}  // namespace

void set_league_noise(NoiseRule rule) {
  if (rule != NoiseRule::schedule && rule != NoiseRule::calibrated)
    reject("league", "noise", std::string(word_of(rule)), "schedule or calibrated");
  rule_of_league = rule;
}
NoiseRule league_noise() { return rule_of_league; }

}  // namespace dpsosp

namespace dpsosp::league {
namespace {

/// Every n at every ε with n ε at most `largest`.
std::vector<Place> grid(const std::vector<Index>& records,
                        const std::vector<double>& epsilons,
                        double largest) {
  std::vector<Place> places;
  for (const double epsilon : epsilons)
    for (const Index n : records)
      if (static_cast<double>(n) * epsilon <= largest * (1 + 1e-12)) places.push_back({n, epsilon});
  return places;
}

std::vector<Place> at_one(const std::vector<Index>& records) { return grid(records, {1}, 1e18); }

/// A whole-batch step on simulated records costs about as much as this many products.
constexpr double simulated_step = 1e3;
/// Products that one run may take.
double most_work(const Study& study) { return study.scale == Scale::full ? 1e11 : 1e9; }

/// Steps that the schedule plans, of the longest stage.
double planned_steps(const std::map<std::string, std::string>& parameters) {
  double steps = 0;
  for (const auto& [name, text] : parameters) {
    if (name != "steps" && !name.ends_with(".steps")) continue;
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    steps = std::max(steps, value);
  }
  return steps;
}

const std::vector<double> three_epsilons{0.1, 1, 10};
const std::vector<double> five_epsilons{0.1, 0.3, 1, 3, 10};
const std::vector<Index> seven_sizes{1000, 3000, 10000, 30000, 100000, 300000, 1000000};

Extent simulated_quick() {
  return {.places = grid({1000, 10000, 100000, 1000000}, three_epsilons, 1e5),
          .seeds = 5,
          .tuned = grid({1000, 10000, 100000}, three_epsilons, 1e4),
          .tuning_seeds = 3};
}
Extent simulated_full() {
  return {.places = grid(seven_sizes, five_epsilons, 1e6),
          .seeds = 10,
          .tuned = grid({1000, 10000, 100000, 1000000}, three_epsilons, 1e6),
          .tuning_seeds = 5};
}
Extent small() { return {at_one({1000}), 2, at_one({1000}), 1}; }

/// Where the origin is a minimiser. Without a bounded domain around the start these search a set
/// that is centred at the origin, so that the comparison would be unfair.
std::map<std::string, std::string> searchers_of_the_origin() {
  std::map<std::string, std::string> unfit;
  for (const char* key : {"ganesh-2023/exponential-mechanism",
                          "ganesh-2023/discrete-exponential",
                          "lowy-2024/exponential-mechanism",
                          "lowy-2024/warm-exponential",
                          "lowy-2024/warm-population"})
    unfit[key] =
        "its search set is centred at the origin, which is a minimiser here, so the comparison "
        "would be unfair";
  return unfit;
}
std::map<std::string, std::string> unfit_without_domain() {
  auto unfit = searchers_of_the_origin();
  unfit["wang-xu-2019/dp-frank-wolfe"] = "needs a bounded domain, and this problem has none";
  return unfit;
}

/// Nets so large that two points a coordinate are all that the limit on their size allows.
std::map<std::string, std::string> nets_of_two_points() {
  std::map<std::string, std::string> unfit;
  for (const char* key : {"ganesh-2023/discrete-exponential",
                          "lowy-2024/exponential-mechanism",
                          "lowy-2024/warm-population"})
    unfit[key] =
        "the largest net that can be searched has two points a coordinate here, none of them near "
        "a minimiser";
  return unfit;
}

constexpr std::string_view simulated_limits =
    "n ε ends at 10^{5} (10^{6} at full scale), since the steps of the schedules grow like "
    "n ε to (n ε)^{4/3}.";

}  // namespace

std::string to_text(const Place& place) {
  return fmt::format("n = {}, ε = {:g}", place.records, place.epsilon);
}

const Extent& Board::extent(const Study& study) const {
  return study.scale == Scale::smoke ? smoke : study.scale == Scale::quick ? quick : full;
}

const Board& benign() {
  static const Board board{
      .id = "benign",
      .ground = {.problem = "cosine-saddle",
                 .settings = {{"sampling", "whole"}},
                 .fresh = {{"sampling", "stream"}},
                 .simulated = true,
                 .dimension = 10,
                 .unfit = unfit_without_domain()},
      .tuning = {.problem = "cosine-saddle",
                 .settings = {{"sampling", "whole"}, {"spread", "0.3"}},
                 .fresh = {{"sampling", "stream"}, {"spread", "0.3"}},
                 .simulated = true,
                 .dimension = 10,
                 .unfit = unfit_without_domain()},
      .about_tuning = "cosine-saddle with spread 0.3 instead of 0.5 and records of its own",
      .smoke = small(),
      .quick = simulated_quick(),
      .full = simulated_full(),
      .limits = std::string(simulated_limits)};
  return board;
}

const Board& descent() {
  static const Board board{
      .id = "descent",
      .ground = {.problem = "ramp",
                 .settings = {{"sampling", "whole"}},
                 .fresh = {{"sampling", "stream"}},
                 .simulated = true,
                 .dimension = 10,
                 .unfit = searchers_of_the_origin()},
      .tuning = {.problem = "ramp",
                 .settings = {{"sampling", "whole"}, {"slope", "0.2"}},
                 .fresh = {{"sampling", "stream"}, {"slope", "0.2"}},
                 .simulated = true,
                 .dimension = 10,
                 .unfit = searchers_of_the_origin()},
      .about_tuning = "ramp of slope 0.2 instead of 0.1, half as long, with records of its own",
      .smoke = small(),
      .quick = simulated_quick(),
      .full = simulated_full(),
      .limits = std::string(simulated_limits)};
  return board;
}

const Board& escape() {
  static const Board board{
      .id = "escape",
      .ground = {.problem = "double-well",
                 .settings = {{"half_width", "2"}},
                 .fresh = {{"half_width", "2"}},
                 .simulated = false,
                 .dimension = 10,
                 .unfit = nets_of_two_points()},
      .tuning = {.problem = "double-well",
                 .settings = {{"half_width", "2"}, {"wells", "2"}},
                 .fresh = {{"half_width", "2"}, {"wells", "2"}},
                 .simulated = false,
                 .dimension = 10,
                 .unfit = nets_of_two_points()},
      .about_tuning = "double-well with two wells instead of one, with records of its own",
      .smoke = small(),
      .quick = {.places = grid({1000, 3000, 10000}, three_epsilons, 1e4),
                .seeds = 5,
                .tuned = grid({1000, 3000, 10000}, three_epsilons, 1e4),
                .tuning_seeds = 3},
      .full = {.places = grid({1000, 3000, 10000, 30000, 100000}, five_epsilons, 1e5),
               .seeds = 10,
               .tuned = grid({1000, 3000, 10000, 30000, 100000}, {0.1, 1}, 1e5),
               .tuning_seeds = 5},
      .limits =
          "n ε ends at 10^{4} (10^{5} at full scale), since steps and their cost both grow "
          "with n."};
  return board;
}

const Board& real_data() {
  static const Board board{
      .id = "real-data",
      .ground = {.problem = "mnist-glm",
                 .settings = {{"loss", "logistic"}, {"regulariser", "0.01"}},
                 .fresh = {{"loss", "logistic"}, {"regulariser", "0.01"}},
                 .simulated = false,
                 .dimension = {}},
      .tuning = {.problem = "glm-logistic",
                 .settings = {{"regulariser", "0.01"}, {"radius", "10"}},
                 .fresh = {{"regulariser", "0.01"}, {"radius", "10"}},
                 .simulated = false,
                 .dimension = 785},
      .about_tuning =
          "glm-logistic in 785 dimensions with the same regulariser and radius, synthetic features "
          "and labels; no image is used",
      .smoke = {at_one({200}), 1, {}, 1},
      .quick = {.places = {{1000, 0.1}, {1000, 1}, {4000, 1}, {1000, 10}},
                .seeds = 2,
                .tuned = {},
                .tuning_seeds = 1},
      .full = {.places = grid({1000, 4000, 16000, 60000}, three_epsilons, 6e4),
               .seeds = 10,
               .tuned = at_one({1000, 4000, 16000}),
               .tuning_seeds = 5},
      .limits =
          "At quick scale n is at most 4000 and no schedule is tuned: certificates in 785 "
          "dimensions take up to seconds each."};
  return board;
}

const std::vector<std::string>& entrants() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> list;
    for (const AlgorithmEntry& e : algorithm_registry()) {
      const AlgorithmCard card = e.create()->card();
      if (card.privacy == PrivacyLabel::enforced && !card.needs_dual &&
          std::ranges::find(left_out(), e.key, &std::pair<std::string, std::string>::first) ==
              left_out().end())
        list.push_back(e.key);
    }
    return list;
  }();
  return keys;
}

const std::vector<std::pair<std::string, std::string>>& left_out() {
  static const std::vector<std::pair<std::string, std::string>> list{
      {"avdiukhin-2024/noisy-sgd", "its guarantee rests on an assumption that nothing enforces"},
      {"lowy-2024/published-experiment", "its step sizes were tuned by hand on the data it shows"},
      {"xu-2026/dp-rgda", "runs on minimax problems only"},
      {"zhang-2025/private-diff", "runs on minimax problems only"},
      {"yang-2022/dp-sgda", "runs on minimax problems only"}};
  return list;
}

const std::vector<Candidate>& candidates() {
  static const std::vector<Candidate> list{
      {"B", 1.0}, {"B/16", 1.0 / 16}, {"B/256", 1.0 / 256}, {"B/4096", 1.0 / 4096}, {"16 B", 16.0}};
  return list;
}

namespace {

/// What a schedule decides, or why there is none.
struct Plan {
  std::map<std::string, std::string> parameters{};
  std::string refusal{};
};

/// Schedules take long to solve and are asked for by every table: each is solved once.
Plan plan_of(const Job& run) {
  static std::mutex mutex;
  static std::map<std::string, Plan> known;
  const std::string& key = run.hash();
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Plan plan;
  try {
    plan.parameters = scheduled_parameters(*run.run());
  } catch (const InputError& e) {
    plan.refusal = e.what();
  }
  const std::scoped_lock lock(mutex);
  return known.emplace(key, std::move(plan)).first->second;
}

}  // namespace

Trial trial(const Ground& ground,
            const std::string& algorithm,
            const Place& place,
            std::uint64_t seeds,
            const Study& study,
            const Candidate& candidate,
            Door door) {
  RunSpec spec;
  const bool once = find_algorithm(algorithm)->card().single_pass;
  spec.algorithm = algorithm;
  spec.problem = ground.problem;
  spec.problem_settings = once ? ground.fresh : ground.settings;
  if (candidate.suboptimality != 1.0)
    spec.problem_settings["told.suboptimality"] = fmt::format("{}", candidate.suboptimality);
  spec.records = place.records;
  spec.dimension = ground.dimension;
  spec.epsilon = place.epsilon;
  spec.door = door;
  spec.observations = 0;  // outputs alone count

  Trial t;
  if (const auto unfit = ground.unfit.find(algorithm); unfit != ground.unfit.end()) {
    t.refusal = unfit->second;
    return t;
  }
  spec.noise = league_noise();
  RunDescription run;
  try {
    run = describe(spec);
  } catch (const InputError& e) {  // no common noise
    t.refusal = e.what();
    return t;
  }
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    run.seed = run.data_seed = seed;
    t.runs.emplace_back(run);
  }
  const Plan plan = plan_of(t.runs.front());
  const double steps = once ? 0 : planned_steps(plan.parameters);
  t.refusal = plan.refusal;
  const double products = ground.simulated
                              ? simulated_step
                              : static_cast<double>(place.records) *
                                    static_cast<double>(ground.dimension.value_or(785));
  if (t.refusal.empty() && steps * products > most_work(study))
    t.refusal = fmt::format("too long here: its schedule plans {:.2g} steps", steps);
  if (!t.refusal.empty()) t.runs.clear();
  return t;
}

const std::vector<std::string>& controlled() {
  static const std::vector<std::string> keys{"ganesh-2023/stochastic-spider",
                                             "avdiukhin-2024/dp-sgd",
                                             "arora-2023/dp-spider",
                                             "wang-xu-2020/dp-trust-region",
                                             "wang-ye-xu-2017/dp-gd",
                                             "abadi-2016/dp-adam"};
  return keys;
}

Place place_of_controls(const Board& board, const Study& study) {
  Place place{0, 1};
  for (const Place& p : board.extent(study).places)
    if (p.epsilon == 1 && p.records <= 10000) place.records = std::max(place.records, p.records);
  return place;
}

std::string missing_data(const Board& board) {
  return find_problem(board.ground.problem)->missing();
}

std::vector<Job> jobs_of(const Board& board, const Study& study) {
  if (!missing_data(board).empty()) return {};
  std::vector<Job> jobs;
  const auto add = [&](const Trial& t) { jobs.insert(jobs.end(), t.runs.begin(), t.runs.end()); };
  const Extent& extent = board.extent(study);
  for (const std::string& key : entrants()) {
    for (const Place& p : extent.places) add(trial(board.ground, key, p, extent.seeds, study));
    for (const Place& p : extent.tuned)
      for (const Candidate& c : candidates()) {
        add(trial(board.ground, key, p, extent.seeds, study, c));
        add(trial(board.tuning, key, p, extent.tuning_seeds, study, c));
      }
  }
  const Place p = place_of_controls(board, study);
  for (const std::string& key : controlled())
    for (const Door door : {Door::no_noise, Door::no_data})
      add(trial(board.ground, key, p, extent.seeds, study, candidates().front(), door));
  return jobs;
}

}  // namespace dpsosp::league
