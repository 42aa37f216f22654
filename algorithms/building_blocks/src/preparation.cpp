// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/preparation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/advanced_composition.hpp"

namespace dpsosp {
namespace {

/// Takes back what a schedule promises where its premises do not hold.
void qualify(Scheduled& scheduled, bool overruled, const PublicFacts& facts) {
  if (overruled) {
    scheduled.utility = Utility::heuristic;
    scheduled.alpha = 0.0;
    scheduled.bound_failure = 0.0;
    scheduled.note = "settings overrule the schedule: nothing is promised";
    return;
  }
  const bool estimated = std::ranges::any_of(
      facts.constants.all(), [](const auto& c) { return c.second.origin == Origin::estimated; });
  if (!estimated) return;
  scheduled.bound_failure = 0.0;
  if (scheduled.utility == Utility::proved || scheduled.utility == Utility::repaired)
    scheduled.utility = Utility::heuristic;
  scheduled.add_note("constants of the problem are estimates");
}

Scheduled by_schedule(Algorithm& algorithm, const Preparation& how, const PublicFacts& facts) {
  // Settings decide what a schedule plans for (the release of the dual, streams), so they come
  // first; and they overrule its numbers, so they come again.
  Scheduled scheduled = algorithm.schedule(how.schedule, facts, how.budget, how.calibrator);
  const auto planned = values_of(algorithm.fields());
  apply_settings(algorithm, how.settings);
  algorithm.check(facts);
  qualify(scheduled, how.facts_changed || values_of(algorithm.fields()) != planned, facts);
  return scheduled;
}

Scheduled by_rule(Algorithm& algorithm, const Preparation& how, const PublicFacts& facts) {
  algorithm.check(facts);
  Scheduled scheduled;
  scheduled.note = "settings of the exhibit, no schedule";
  if (how.noise == NoiseRule::none) return scheduled;
  const auto plan = algorithm.plan(facts);
  if (how.noise == NoiseRule::calibrated) {
    const CalibratedNoise noise =
        calibrate_common_noise(plan, facts.records, how.budget, how.calibrator);
    algorithm.set_common_noise(noise.sensitivity_ratio);
    scheduled.rule = noise.rule;
    return scheduled;
  }
  std::int64_t queries = how.noise_queries;
  if (queries == 0)
    for (const PlannedQuery& q : plan) queries += q.count;
  algorithm.set_common_noise(
      advanced_noise_multiplier(how.budget.epsilon, how.budget.delta, queries));
  scheduled.rule = filter_rule(how.budget, how.calibrator);
  return scheduled;
}

}  // namespace

void apply_settings(Algorithm& algorithm, const std::map<std::string, std::string>& settings) {
  Fields fields = algorithm.fields();
  for (const auto& [key, text] : settings) set_field(fields, algorithm.card().key, key, text);
}

Scheduled prepare(Algorithm& algorithm, const Preparation& how, const PublicFacts& facts) {
  algorithm.set_variant(how.variant);
  algorithm.set_budget(how.budget, how.calibrator);
  apply_settings(algorithm, how.settings);
  check_ranges_of(algorithm.card().key, algorithm);  // schedules rely on them
  try {
    return how.noise == NoiseRule::schedule ? by_schedule(algorithm, how, facts)
                                            : by_rule(algorithm, how, facts);
  } catch (const MissingConstant& missing) {
    throw InputError(
        fmt::format("{}: problem {} states no `{}`; choose a problem that does, or set the "
                    "parameters and a noise rule by hand",
                    algorithm.card().key,
                    facts.name,
                    missing.name()));
  }
}

}  // namespace dpsosp
