// SPDX-License-Identifier: Apache-2.0
// Advice on questions that no board has: 20 of (kind, n, d, ε), each on 20 new instances.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advice.hpp"
#include "board.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/experiments/run.hpp"

namespace dpsosp::league::league_drawn_repro_test {
namespace {

constexpr int drawn = 20, seeds = 20;
constexpr std::uint64_t seed_of_questions = 65, first_seed = 6'000'000;

AdviceQuestion question(std::uint64_t k) {
  Stream r({.seed = seed_of_questions, .purpose = Purpose::test, .path = k});
  const auto by_factor = [&](double low, double high) {
    return low * std::pow(high / low, r.uniform());
  };
  const Group& group = groups()[static_cast<std::size_t>(r.below(std::ssize(groups())))];
  Index d = 2;
  while (std::ranges::find(dimensions(), d) != dimensions().end()) {
    d = static_cast<Index>(by_factor(2, 65));
    if (group.id == "low-rank") d -= d % (d < 8 ? 2 : 4);  // whole sides
  }
  const double n = group.simulated ? by_factor(2000, 5e6) : by_factor(200, 1500);
  return {.records = static_cast<Index>(n),
          .dimension = d,
          .epsilon = by_factor(0.2, 5),
          .kind = group.id};
}

struct Contender {
  std::string algorithm;
  bool by_hand = false;
};
std::vector<Contender> contenders() {
  std::vector<Contender> list;
  for (const Method& m : methods()) list.push_back({m.algorithm});
  for (const char* key :
       {"abadi-2016/dp-sgd", "abadi-2016/dp-adam", "cutkosky-orabona-2019/dp-storm"})
    list.push_back({key, true});
  return list;
}

/// What one would try first: 200 steps of 0.1, of Adam 0.01, and no clip that bites.
Settings by_hand(const std::string& algorithm, const Instance& instance) {
  Settings settings{{"steps", "200"},
                    {"clip", fmt::format("{}", instance.constant(constant::lipschitz))},
                    {"step_size", algorithm == "abadi-2016/dp-adam" ? "0.01" : "0.1"}};
  if (algorithm == "cutkosky-orabona-2019/dp-storm") {
    settings["momentum"] = "0.1";
    settings["smoothness"] = fmt::format("{}", instance.constant(constant::smoothness));
  }
  return settings;
}

Reached run(const Contender& contender, const AdviceQuestion& q, const Place& place,
            const Instance& instance) {
  RunSpec spec = instance.spec;
  spec.algorithm = contender.algorithm;
  spec.records = q.records;
  spec.epsilon = q.epsilon;
  const auto all = methods();
  const Method& method = *std::ranges::find(all, contender.algorithm, &Method::algorithm);
  const std::size_t trial = committed_choices().trial(place, contender.algorithm, budgets.back());
  if (contender.by_hand || trial != default_trial) spec.noise = NoiseRule::calibrated;
  spec.settings = contender.by_hand ? by_hand(contender.algorithm, instance)
                                    : settings_of(method, trial, instance);
  if (instance.group->simulated && find_algorithm(contender.algorithm)->card().single_pass)
    spec.problem_settings["sampling"] = "stream";
  try {
    const RunResult result = compute_run(describe(spec));
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {.level = result.output.sosp_level.value_or(none),
            .start = result.start.sosp_level.value_or(none),
            .outside = !result.output.in_region};
  } catch (const RunFailed&) {
    return {};
  }
}

/// Logarithms of counted levels: [contender][seed].
std::vector<std::vector<double>> levels(const AdviceQuestion& q, std::uint64_t k) {
  const Advice advice = advise(q).front();
  const Group& group = find_group(q.kind);
  const Place place{.group = &group, .dimension = advice.dimension, .records = advice.records};
  const auto all = contenders();
  std::vector<std::vector<double>> logs(all.size(), std::vector<double>(seeds));
  const auto of_seed = [&](std::uint64_t s) {
    const Instance instance = instance_of(group, q.dimension, first_seed + 100 * k + s);
    std::vector<Reached> reached;
    for (const Contender& c : all) reached.push_back(run(c, q, place, instance));
    const double start = std::ranges::find_if(reached, [](const Reached& r) {
                           return std::isfinite(r.start);
                         })->start;
    for (std::size_t a = 0; a < all.size(); ++a) logs[a][s] = std::log(counted(reached[a], start));
  };
  std::thread odd([&] {
    for (std::uint64_t s = 1; s < seeds; s += 2) of_seed(s);
  });
  for (std::uint64_t s = 0; s < seeds; s += 2) of_seed(s);
  odd.join();
  return logs;
}

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
double error(const std::vector<double>& x) {
  double squares = 0;
  for (const double v : x) squares += std::pow(v - mean(x), 2);
  return std::sqrt(squares / static_cast<double>((x.size() - 1) * x.size()));
}
std::vector<double> difference(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> list;
  std::ranges::transform(x, y, std::back_inserter(list), std::minus{});
  return list;
}

TEST(LeagueDrawn, AdviceIsNearTheBestAndNoFixedChoiceIsBetter) {
  constexpr double allowed = 1.3, t_of_19 = 2.093;
  const auto all = contenders();
  std::vector<double> regret, chances;                // of being within `allowed` of a try by hand
  std::vector<std::vector<double>> over(all.size());  // [contender][question], over the advice
  for (std::uint64_t k = 0; k < drawn; ++k) {
    const AdviceQuestion q = question(k);
    const auto logs = levels(q, k);
    const std::string first = advise(q).front().choices.front().algorithm;
    const auto chosen = static_cast<std::size_t>(
        std::ranges::find(all, first, &Contender::algorithm) - all.begin());
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < all.size(); ++a) {
      const auto behind = difference(logs[chosen], logs[a]);
      over[a].push_back(-mean(behind));
      if (!all[a].by_hand) best = std::min(best, mean(logs[a]));
      if (!all[a].by_hand) continue;
      const double ahead = mean(behind) - std::log(allowed), e = error(behind);
      chances.push_back(e > 0 ? std::erfc(ahead / e / std::sqrt(2.0)) / 2 : ahead <= 0);
    }
    regret.push_back(mean(logs[chosen]) - best);
    fmt::print("{} n = {}, d = {}, eps = {:.2g}: {} {:.3g}, best tuned {:.3g}\n", q.kind, q.records,
               q.dimension, q.epsilon, first, std::exp(mean(logs[chosen])), std::exp(best));
  }
  fmt::print("advice over best tuned {:.3f}, worst {:.3g}\n", std::exp(mean(regret)),
             std::exp(std::ranges::max(regret)));
  EXPECT_LE(std::exp(mean(regret)), allowed);
  for (std::size_t a = 0; a < all.size(); ++a) {
    const double middle = mean(over[a]), half = t_of_19 * error(over[a]);
    fmt::print("{}{} over advice {:.3f} [{:.3f}, {:.3f}]\n", all[a].algorithm,
               all[a].by_hand ? " by hand" : "", std::exp(middle), std::exp(middle - half),
               std::exp(middle + half));
    EXPECT_GE(middle + half, 0) << all[a].algorithm;
  }
  EXPECT_GT(std::ranges::min(chances), 0.05 / static_cast<double>(chances.size())) << "Holm";
}

}  // namespace
}  // namespace dpsosp::league::league_drawn_repro_test
