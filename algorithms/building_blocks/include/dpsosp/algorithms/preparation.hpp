// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp {

/// How the noise of a run is found. All but `schedule` come after the schedule and the settings,
/// for the plan that results.
enum class NoiseRule {
  schedule,    ///< by the algorithm's schedule, `paper` or `practical`
  calibrated,  ///< one common ratio, the least that fits the budget by our accountant
  advanced,    ///< one common ratio by advanced composition, as xu-2026 publishes it
  none,        ///< no noise: epsilon = infinity
};

constexpr auto words_of(NoiseRule) {
  using enum NoiseRule;
  return word_list<NoiseRule>(
      "noise rule",
      {{schedule, "schedule"}, {calibrated, "calibrated"}, {advanced, "advanced"}, {none, "none"}});
}

/// Inputs that decide an algorithm's parameters on a problem, beside the public facts.
struct Preparation {
  PrivacyBudget budget;
  Calibrator calibrator = Calibrator::cks;
  Variant variant = Variant::repaired;
  Schedule schedule = Schedule::practical;
  NoiseRule noise = NoiseRule::schedule;
  std::int64_t noise_queries = 0;  ///< for NoiseRule::advanced; 0: as many as the run plans
  /// Parameters that overrule the schedule's.
  std::map<std::string, std::string> settings;
  /// The facts are not the problem's: a schedule promises nothing.
  bool facts_changed = false;
};

/// Sets parameters by name. \throws InputError with the nearest name
void apply_settings(Algorithm& algorithm, const std::map<std::string, std::string>& settings);

/// Refuses what contradicts itself: no schedule and its noise; noise that a rule sets and a setting
/// gives. \param settings  of `algorithm`, which has them \throws InputError
void check_noise_rule(Algorithm& algorithm, Schedule schedule, NoiseRule noise,
                      const std::map<std::string, std::string>& settings);

/// Gives the algorithm its parameters. \throws InputError, also where the schedule needs a constant
/// that the facts do not state
Scheduled prepare(Algorithm& algorithm, const Preparation& how, const PublicFacts& facts);

}  // namespace dpsosp
