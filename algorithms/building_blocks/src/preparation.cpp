// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/preparation.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/advanced_composition.hpp"

namespace dpsosp {
namespace {

/// Takes back what a schedule promises where its premises do not hold.
/// \param why  they do not, beside estimated constants; empty: they do
void qualify(Scheduled& scheduled, std::string_view why, const PublicFacts& facts) {
  if (!why.empty()) {
    scheduled.utility = Utility::heuristic;
    scheduled.alpha = 0.0;
    scheduled.bound_failure = 0.0;
    scheduled.note = fmt::format("{}: nothing is promised", why);
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
  std::string_view why;
  if (how.noise != NoiseRule::schedule) why = "the noise is not the schedule's";
  if (how.facts_changed || values_of(algorithm.fields()) != planned)
    why = "settings overrule the schedule";
  qualify(scheduled, why, facts);
  return scheduled;
}

Scheduled by_settings(Algorithm& algorithm, const PublicFacts& facts) {
  algorithm.check(facts);
  return {.rule = {}, .note = "settings of the exhibit, no schedule"};
}

/// Largest charges of one record: it is in one fresh batch and no other.
std::vector<PlannedQuery> of_one_record(std::vector<PlannedQuery> plan) {
  bool met = false;
  for (PlannedQuery& q : plan) {
    if (q.policy.kind != BatchPolicy::Kind::fresh || q.use != BatchUse::one_query) continue;
    q.count = std::min<std::int64_t>(q.count, met ? 0 : 1);
    met = met || q.count > 0;
  }
  return plan;
}

/// One noise for all queries of the plan that schedule and settings have come to.
void set_noise(Algorithm& algorithm, const Preparation& how, const PublicFacts& facts,
               FilterRule& rule) {
  const auto plan = algorithm.plan(facts);
  if (how.noise == NoiseRule::calibrated) {
    const auto charged = of_one_record(plan);
    CalibratedNoise noise =
        calibrate_common_noise(charged, facts.records, how.budget, how.calibrator);
    if (const double share = algorithm.planned_share(noise.rule); share < 1) {
      if (!(share > 0))
        throw InputError(
            fmt::format("{}: its selection leaves no budget for the queries that are "
                        "planned; give it less",
                        algorithm.card().key));
      noise.sensitivity_ratio =
          noise_within(charged, facts.records, noise.rule,
                       share * (1.0 - 1e-11) * noise.rule.capacity, noise.sensitivity_ratio);
    }
    algorithm.set_common_noise(noise.sensitivity_ratio);
    rule = noise.rule;
    return;
  }
  std::int64_t queries = how.noise_queries;
  if (queries == 0)
    for (const PlannedQuery& q : plan) queries += q.count;
  algorithm.set_common_noise(
      advanced_noise_multiplier(how.budget.epsilon, how.budget.delta, queries));
  rule = filter_rule(how.budget, how.calibrator);
}

}  // namespace

void apply_settings(Algorithm& algorithm, const std::map<std::string, std::string>& settings) {
  Fields fields = algorithm.fields();
  for (const auto& [key, text] : settings) set_field(fields, algorithm.card().key, key, text);
}

void check_noise_rule(Algorithm& algorithm, Schedule schedule, NoiseRule noise,
                      const std::map<std::string, std::string>& settings) {
  const std::string& key = algorithm.card().key;
  if (schedule == Schedule::none && noise == NoiseRule::schedule)
    throw InputError(fmt::format(
        "{}: schedule = none with noise = schedule, expected a schedule or noise = calibrated",
        key));
  if (noise == NoiseRule::schedule || noise == NoiseRule::none) return;
  const auto given = values_of(algorithm.fields());
  algorithm.set_common_noise(0x1.23456789abcdep+3);  // that nobody gives
  const auto ruled = values_of(algorithm.fields());
  for (const auto& [name, text] : settings)
    if (ruled.at(name) != given.at(name))
      throw InputError(
          fmt::format("{}: {} = {} with noise = {}, which sets it; leave out one of them", key,
                      name, text, word_of(noise)));
}

Scheduled prepare(Algorithm& algorithm, const Preparation& how, const PublicFacts& facts) {
  algorithm.set_variant(how.variant);
  algorithm.set_budget(how.budget, how.calibrator);
  apply_settings(algorithm, how.settings);
  check_ranges_of(algorithm.card().key, algorithm);  // schedules rely on them
  try {
    Scheduled scheduled = how.schedule == Schedule::none ? by_settings(algorithm, facts)
                                                         : by_schedule(algorithm, how, facts);
    if (how.noise == NoiseRule::calibrated || how.noise == NoiseRule::advanced)
      set_noise(algorithm, how, facts, scheduled.rule);
    return scheduled;
  } catch (const MissingConstant& missing) {
    throw InputError(
        fmt::format("{}: problem {} states no `{}`; choose a problem that does, or set the "
                    "parameters by hand, with schedule = none and noise = calibrated",
                    algorithm.card().key, facts.name, missing.name()));
  }
}

}  // namespace dpsosp
