// SPDX-License-Identifier: Apache-2.0
#include "run_setup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/privacy/accounting/advanced_composition.hpp"

namespace dpsosp {
namespace {

/// What algorithms are told of public constants, as factors on them: a schedule that is tuned. The
/// result is judged by the true ones, and privacy rests on none of them, since records are clipped
/// at what is told.
struct Told {
  static constexpr std::string_view prefix = "told.";
  static constexpr std::array names{
      constant::lipschitz, constant::smoothness, constant::suboptimality};
  std::array<double, names.size()> factors{1.0, 1.0, 1.0};

  Fields fields() {
    Fields list;
    for (std::size_t k = 0; k < names.size(); ++k)
      list.push_back(
          field(fmt::format("{}{}", prefix, names[k]), factors[k], "factor on the constant"));
    return list;
  }
};

Told told_of(const std::string& problem, const std::map<std::string, std::string>& settings) {
  Told told;
  Fields fields = told.fields();
  for (const auto& [key, text] : settings)
    if (key.starts_with(Told::prefix)) set_field(fields, problem, key, text);
  for (std::size_t k = 0; k < Told::names.size(); ++k)
    if (!(told.factors[k] > 0 && std::isfinite(told.factors[k])))
      reject(problem, fields[k].name, told.factors[k], "finite and > 0");
  return told;
}

/// \throws MissingConstant
PublicFacts facts_told(PublicFacts facts, const Told& told) {
  for (std::size_t k = 0; k < Told::names.size(); ++k) {
    if (told.factors[k] == 1.0) continue;
    Constant c = facts.constants.at(Told::names[k]);
    c.value *= told.factors[k];
    c.origin = Origin::estimated;
    facts.constants.set(Told::names[k], std::move(c));
  }
  return facts;
}

/// The settings that differ from the family's defaults: a setting that a family gains later does
/// not change the description, and so the random numbers, of the runs that leave it alone.
std::map<std::string, std::string> changed_settings(ProblemFamily& family, Told told) {
  auto changed = values_of(family.fields());
  changed.merge(values_of(told.fields()));
  auto standard = values_of(find_problem(family.name())->fields());
  standard.merge(values_of(Told{}.fields()));
  for (const auto& [name, text] : standard)
    if (changed.at(name) == text) changed.erase(name);
  return changed;
}

void apply_settings(Algorithm& algorithm, const std::map<std::string, std::string>& settings) {
  Fields fields = algorithm.fields();
  for (const auto& [key, text] : settings) set_field(fields, algorithm.card().key, key, text);
}

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

/// Schedule, settings and noise of an algorithm on a problem.
Scheduled prepare(Algorithm& algorithm, const RunDescription& d, const PublicFacts& facts) {
  const PrivacyBudget budget{d.epsilon, d.delta};
  algorithm.set_variant(d.variant);
  apply_settings(algorithm, d.settings);
  if (d.noise == NoiseRule::schedule) {
    // Settings decide what a schedule plans for (the release of the dual, streams), so they come
    // first; and they overrule its numbers, so they come again.
    Scheduled scheduled = algorithm.schedule(d.schedule, facts, budget, d.calibrator);
    const auto planned = values_of(algorithm.fields());
    apply_settings(algorithm, d.settings);
    algorithm.check(facts);
    const bool told = std::ranges::any_of(
        d.problem_settings, [](const auto& item) { return item.first.starts_with(Told::prefix); });
    qualify(scheduled, told || values_of(algorithm.fields()) != planned, facts);
    return scheduled;
  }
  algorithm.check(facts);
  Scheduled scheduled;
  scheduled.note = "settings of the exhibit, no schedule";
  if (d.noise == NoiseRule::none) return scheduled;
  const auto plan = algorithm.plan(facts);
  if (d.noise == NoiseRule::calibrated) {
    const CalibratedNoise noise = calibrate_common_noise(plan, facts.records, budget, d.calibrator);
    algorithm.set_common_noise(noise.sensitivity_ratio);
    scheduled.rule = noise.rule;
    return scheduled;
  }
  std::int64_t queries = d.noise_queries;
  if (queries == 0)
    for (const PlannedQuery& q : plan) queries += q.count;
  algorithm.set_common_noise(advanced_noise_multiplier(budget.epsilon, budget.delta, queries));
  scheduled.rule = filter_rule(budget, d.calibrator);
  return scheduled;
}

/// What the algorithm of a run is told of the problem's facts.
PublicFacts facts_told(const RunDescription& d, const PublicFacts& facts) {
  return facts_told(facts, told_of(d.problem, d.problem_settings));
}

Scheduled prepare_on(Algorithm& algorithm, const RunDescription& d, const PublicFacts& facts) {
  try {
    return prepare(algorithm, d, facts);
  } catch (const MissingConstant& missing) {
    throw InputError(
        fmt::format("{}: problem {} states no `{}`; choose a problem that does, or set the "
                    "parameters and a noise rule by hand",
                    algorithm.card().key,
                    d.problem,
                    missing.name()));
  }
}

/// What answers the run that is asked for.
Door door_for(const RunSpec& spec, const AlgorithmCard& card) {
  const bool unsound_needed = !card.is_private() || spec.noise == NoiseRule::none;
  const bool clips = card.privacy == PrivacyLabel::enforced;
  Door door = spec.door;
  if (unsound_needed && door == Door::enforced) door = clips ? Door::no_noise : Door::not_private;
  if (!clips && door == Door::enforced) door = Door::no_clipping;
  if (!clips && door == Door::no_noise) door = Door::not_private;
  if (door == Door::enforced && spec.variant == Variant::printed &&
      card.printed_privacy == PrivacyLabel::violated)
    door = Door::script;
  return door;
}

}  // namespace

std::unique_ptr<ProblemFamily> make_family(const std::string& name,
                                           const std::map<std::string, std::string>& settings) {
  auto family = find_problem(name);
  Fields fields = family->fields();
  for (const auto& [key, text] : settings)
    if (!key.starts_with(Told::prefix)) set_field(fields, name, key, text);
  return family;
}

InstanceSpec instance_of(const RunSpec& spec, const ProblemFamily& family) {
  return {.records = spec.records == 0 ? family.default_records() : spec.records,
          .dimension = spec.dimension,
          .seed = spec.seed,
          .data_seed = spec.data_seed};
}

Setup set_up(const RunDescription& d) {
  Setup s;
  const auto family = make_family(d.problem, d.problem_settings);
  s.problem = family->make(instance_of(d, *family));
  s.told = facts_told(d, s.problem.facts);
  s.algorithm = find_algorithm(d.algorithm);
  s.scheduled = prepare_on(*s.algorithm, d, s.told);
  return s;
}

StreamKey key_of(const RunDescription& d) {
  nlohmann::json shared = d;
  for (const char* name : {"data_seed", "door", "observations", "seed"}) shared.erase(name);
  shared.at("numbers_version").erase("library");
  const std::string hash = RunKey(shared).hash();
  return {.seed = d.seed,
          .run = static_cast<std::uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16)),
          .path = std::stoull(hash.substr(8, 16), nullptr, 16)};
}

RunDescription describe(const RunSpec& spec) {
  const auto family = make_family(spec.problem, spec.problem_settings);
  const auto algorithm = find_algorithm(spec.algorithm);
  check(PrivacyBudget{spec.epsilon, spec.delta});
  if (spec.observations != 0 && spec.observations < 2)
    reject("run", "observations", static_cast<double>(spec.observations), "0 or at least 2");
  apply_settings(*algorithm, spec.settings);
  RunDescription d{spec};
  d.door = door_for(spec, algorithm->card());
  d.problem_settings = changed_settings(*family, told_of(spec.problem, spec.problem_settings));
  d.records = instance_of(spec, *family).records;
  d.algorithm_numbers_version = algorithm->card().numbers_version;
  d.problem_numbers_version = family->numbers_version();
  check_records(d.problem, d.records);
  return d;
}

std::map<std::string, std::string> scheduled_parameters(const RunDescription& d) {
  const auto family = make_family(d.problem, d.problem_settings);
  const auto algorithm = find_algorithm(d.algorithm);
  prepare_on(*algorithm, d, facts_told(d, family->facts(instance_of(d, *family))));
  return values_of(algorithm->fields());
}

}  // namespace dpsosp
