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
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/privacy/accounting/advanced_composition.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

template <class Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

template <class Enum, std::size_t N>
Enum named(std::string_view kind, const Names<Enum, N>& names, const std::string& text) {
  std::vector<std::string> candidates;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    candidates.emplace_back(name);
  }
  reject_unknown(kind, text, candidates);
}

template <class Enum, std::size_t N>
std::string_view name_in(const Names<Enum, N>& names, Enum value) {
  for (const auto& [v, name] : names)
    if (v == value) return name;
  return {};
}

constexpr Names<Calibrator, 4> calibrators{{{Calibrator::bun_steinke, "bun-steinke"},
                                            {Calibrator::cks, "cks"},
                                            {Calibrator::exact_gaussian, "exact-gaussian"},
                                            {Calibrator::rdp, "rdp"}}};
constexpr Names<Variant, 2> variants{
    {{Variant::printed, "printed"}, {Variant::repaired, "repaired"}}};
constexpr Names<Schedule, 2> schedules{
    {{Schedule::paper, "paper"}, {Schedule::practical, "practical"}}};
constexpr Names<NoiseRule, 4> noise_rules{{{NoiseRule::schedule, "schedule"},
                                           {NoiseRule::calibrated, "calibrated"},
                                           {NoiseRule::advanced, "advanced"},
                                           {NoiseRule::none, "none"}}};
constexpr Names<Door, 7> doors{{{Door::enforced, "enforced"},
                                {Door::no_noise, "no_noise"},
                                {Door::no_data, "no_data"},
                                {Door::not_private, "not_private"},
                                {Door::batch_mean_clip, "batch_mean_clip"},
                                {Door::no_clipping, "no_clipping"},
                                {Door::script, "script"}}};

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
  scheduled.note += scheduled.note.empty() ? "" : "; ";
  scheduled.note += "constants of the problem are estimates";
}

/// Schedule, settings and noise of an algorithm on a problem.
Scheduled prepare(Algorithm& algorithm, const json& d, const PublicFacts& facts) {
  const PrivacyBudget budget{d.at("epsilon"), d.at("delta")};
  const auto calibrator = named("calibrator", calibrators, d.at("calibrator"));
  const auto rule = named("noise rule", noise_rules, d.at("noise"));
  const std::map<std::string, std::string> settings = d.at("settings");
  algorithm.set_variant(named("variant", variants, d.at("variant")));
  if (rule == NoiseRule::schedule) {
    // Settings decide what a schedule plans for (the release of the dual, streams), so they come
    // first; and they overrule its numbers, so they come again.
    apply_settings(algorithm, settings);
    const auto kind = named("schedule", schedules, d.at("schedule"));
    Scheduled scheduled = algorithm.schedule(kind, facts, budget, calibrator);
    const auto planned = values_of(algorithm.fields());
    apply_settings(algorithm, settings);
    algorithm.check(facts);
    const bool told = std::ranges::any_of(d.at("problem_settings").items(), [](const auto& item) {
      return item.key().starts_with(Told::prefix);
    });
    qualify(scheduled, told || values_of(algorithm.fields()) != planned, facts);
    return scheduled;
  }
  apply_settings(algorithm, settings);
  algorithm.check(facts);
  Scheduled scheduled;
  scheduled.note = "settings of the exhibit, no schedule";
  if (rule == NoiseRule::none) return scheduled;
  const auto plan = algorithm.plan(facts);
  if (rule == NoiseRule::calibrated) {
    const CalibratedNoise noise = calibrate_common_noise(plan, facts.records, budget, calibrator);
    algorithm.set_common_noise(noise.sensitivity_ratio);
    scheduled.rule = noise.rule;
    return scheduled;
  }
  std::int64_t queries = d.at("noise_queries");
  if (queries == 0)
    for (const PlannedQuery& q : plan) queries += q.count;
  algorithm.set_common_noise(advanced_noise_multiplier(budget.epsilon, budget.delta, queries));
  scheduled.rule = filter_rule(budget, calibrator);
  return scheduled;
}

InstanceSpec instance_of(const json& d) {
  std::optional<Index> dimension;
  if (d.contains("dimension")) dimension = d.at("dimension").get<Index>();
  return {.records = d.at("records"),
          .dimension = dimension,
          .seed = d.at("seed"),
          .data_seed = d.at("data_seed")};
}

/// What the algorithm of a run is told of the problem's facts.
PublicFacts facts_told(const json& d, const PublicFacts& facts) {
  return facts_told(facts, told_of(d.at("problem"), d.at("problem_settings")));
}

Scheduled prepare_on(Algorithm& algorithm, const json& d, const PublicFacts& facts) {
  try {
    return prepare(algorithm, d, facts);
  } catch (const MissingConstant& missing) {
    throw InputError(
        fmt::format("{}: problem {} states no `{}`; choose a problem that does, or set the "
                    "parameters and a noise rule by hand",
                    algorithm.card().key,
                    d.at("problem").get<std::string>(),
                    missing.name()));
  }
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

Setup set_up(const json& d) {
  Setup s;
  const auto family = make_family(d.at("problem"), d.at("problem_settings"));
  s.problem = family->make(instance_of(d));
  s.told = facts_told(d, s.problem.facts);
  s.algorithm = find_algorithm(d.at("algorithm").get<std::string>());
  s.door = named("door", doors, d.at("door"));
  s.scheduled = prepare_on(*s.algorithm, d, s.told);
  return s;
}

StreamKey key_of(const json& d) {
  json shared = d;
  for (const char* name : {"data_seed", "door", "observations", "seed"}) shared.erase(name);
  const std::string hash = RunKey(shared).hash();
  return {.seed = d.at("seed"),
          .run = static_cast<std::uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16)),
          .path = std::stoull(hash.substr(8, 16), nullptr, 16)};
}

std::string_view name_of(Door door) { return name_in(doors, door); }

Door door_of(const std::string& text) { return named("door", doors, text); }

json describe(const RunSpec& spec) {
  const auto family = make_family(spec.problem, spec.problem_settings);
  const auto algorithm = find_algorithm(spec.algorithm);
  check(PrivacyBudget{spec.epsilon, spec.delta});
  named("calibrator", calibrators, spec.calibrator);
  named("variant", variants, spec.variant);
  if (spec.noise == NoiseRule::schedule) named("schedule", schedules, spec.schedule);
  if (spec.observations != 0 && spec.observations < 2)
    reject("run", "observations", static_cast<double>(spec.observations), "0 or at least 2");
  apply_settings(*algorithm, spec.settings);
  const bool unsound_needed = !algorithm->card().is_private() || spec.noise == NoiseRule::none;
  Door door = spec.door;
  const bool clips = algorithm->card().privacy == PrivacyLabel::enforced;
  if (unsound_needed && door == Door::enforced) door = clips ? Door::no_noise : Door::not_private;
  if (!clips && door == Door::enforced) door = Door::no_clipping;
  if (!clips && door == Door::no_noise) door = Door::not_private;
  if (door == Door::enforced && spec.variant == "printed" &&
      algorithm->card().printed_privacy == PrivacyLabel::violated)
    door = Door::script;
  json d{
      {"algorithm", spec.algorithm},
      {"problem", spec.problem},
      {"settings", spec.settings},
      {"problem_settings", changed_settings(*family, told_of(spec.problem, spec.problem_settings))},
      {"records", spec.records == 0 ? family->default_records() : spec.records},
      {"epsilon", spec.epsilon},
      {"delta", spec.delta},
      {"calibrator", spec.calibrator},
      {"variant", spec.variant},
      {"schedule", spec.noise == NoiseRule::schedule ? spec.schedule : "none"},
      {"noise", name_in(noise_rules, spec.noise)},
      {"noise_queries", spec.noise_queries},
      {"door", name_in(doors, door)},
      {"seed", spec.seed},
      {"data_seed", spec.data_seed},
      {"observations", spec.observations},
      {"numbers_version",
       {{"algorithm", algorithm->card().numbers_version}, {"problem", family->numbers_version()}}}};
  if (spec.dimension) d["dimension"] = *spec.dimension;
  check_records(spec.problem, d.at("records"));
  return d;
}

std::map<std::string, std::string> scheduled_parameters(const json& d) {
  const auto family = make_family(d.at("problem"), d.at("problem_settings"));
  const auto algorithm = find_algorithm(d.at("algorithm").get<std::string>());
  prepare_on(*algorithm, d, facts_told(d, family->facts(instance_of(d))));
  return values_of(algorithm->fields());
}

void check_run(const json& d) { scheduled_parameters(d); }

}  // namespace dpsosp
