// SPDX-License-Identifier: Apache-2.0
#include "run_setup.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/memory.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/public_constants.hpp"
#include "dpsosp/experiments/run_follower.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/sha256.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace {

/// Factors on the public constants that algorithms are given: a schedule that is tuned. The result
/// is judged by the true ones, and privacy rests on none of them, since records are clipped at what
/// is given.
struct Told {
  static constexpr std::string_view prefix = "told.";
  static constexpr std::array names{constant::lipschitz, constant::smoothness,
                                    constant::suboptimality};
  std::array<double, names.size()> factors{1.0, 1.0, 1.0};

  Fields fields() {
    Fields list;
    for (std::size_t k = 0; k < names.size(); ++k)
      list.push_back(field(fmt::format("{}{}", prefix, names[k]), factors[k], range::positive,
                           "factor on the constant"));
    return list;
  }
};

Told told_of(const std::string& problem, const std::map<std::string, std::string>& settings) {
  Told told;
  Fields fields = told.fields();
  for (const auto& [key, text] : settings)
    if (key.starts_with(Told::prefix)) set_field(fields, problem, key, text);
  check_ranges(problem, fields);
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

/// The problem's facts as the algorithm of a run is given them.
PublicFacts facts_told(const RunDescription& d, const PublicFacts& facts) {
  return facts_told(facts, told_of(d.problem, d.problem_settings));
}

std::atomic<std::uint64_t> secret_of_programs = 0;

constexpr std::string_view program_prefix = "program:";

/// The settings of the algorithm, with integers in digits, so that 1e3 and 1000 are one run. All
/// else is as it was given, since it is part of the run's key.
std::map<std::string, std::string> with_plain_integers(const RunSpec& spec) {
  std::map<std::string, std::string> settings = spec.settings;
  if (settings.empty()) return settings;
  const auto algorithm = find_algorithm(spec.algorithm);
  for (const Field& f : algorithm->fields()) {
    const auto given = settings.find(f.name);
    if (given == settings.end()) continue;
    f.set(given->second, spec.algorithm);
    if (f.integer) given->second = f.get();
  }
  return settings;
}

/// Curator that answers the requested run.
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

Preparation preparation_of(const RunDescription& d) {
  return {.budget = {d.epsilon, d.delta},
          .calibrator = d.calibrator,
          .variant = d.variant,
          .schedule = d.schedule,
          .noise = d.noise,
          .noise_queries = d.noise_queries,
          .settings = d.settings,
          .facts_changed = std::ranges::any_of(d.problem_settings, [](const auto& item) {
            return item.first.starts_with(Told::prefix);
          })};
}

Setup set_up(const RunDescription& d, const std::optional<Isolation>& isolation) {
  Setup s;
  s.actor = make_actor(d, isolation);
  const auto family = make_family(d.problem, d.problem_settings);
  s.problem = family->make(instance_of(d, *family));
  s.told = facts_told(d, s.problem.facts);
  s.scheduled = s.actor->prepare(s.told);
  return s;
}

StreamKey key_of(const RunDescription& d) {
  nlohmann::json shared = d;
  for (const char* name : {"data", "data_seed", "door", "observations", "seed"}) shared.erase(name);
  // Versions of a program are compared at common noise, but not on a caller's own records: the
  // difference of their answers would be bare.
  if (d.data.empty()) shared.erase("program");
  shared.at("numbers_version").erase("library");
  const std::string hash = RunKey(shared).hash();
  return {.seed = d.seed,
          .run = static_cast<std::uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16)),
          .path = std::stoull(hash.substr(8, 16), nullptr, 16)};
}

void set_program_secret(std::uint64_t secret) { secret_of_programs = secret; }
std::uint64_t program_secret() { return secret_of_programs; }

std::string program_key(const SealedProgram& program) {
  return fmt::format("{}{}", program_prefix, sha256(program.bytes()));
}

std::string program_key(const std::string& path) { return program_key(SealedProgram(path)); }

RunDescription describe(const RunSpec& spec) {
  RunDescription d{spec};
  const auto family = make_family(spec.problem, spec.problem_settings);
  AlgorithmCard card;  // of a program, of which nothing is known
  if (!spec.algorithm.starts_with(program_prefix)) {
    const auto algorithm = find_algorithm(spec.algorithm);
    card = algorithm->card();
    if (card.is_program() && spec.schedule == Schedule::paper)
      reject(card.key, "schedule", "paper", "practical or none: a program has no paper's");
    algorithm->set_variant(spec.variant);
    apply_settings(*algorithm, spec.settings);
    card = algorithm->card();  // settings may decide what it guarantees
    check_noise_rule(*algorithm, spec.schedule, spec.noise, spec.settings);
    d.settings = with_plain_integers(spec);
  }
  check(PrivacyBudget{spec.epsilon, spec.delta});
  if (spec.observations != 0 && spec.observations < 2)
    reject("run", "observations", static_cast<double>(spec.observations), "0 or at least 2");
  d.program = card.files;
  if (card.is_program()) d.secret = secret_of_programs;
  d.door = door_for(spec, card);
  d.problem_settings = changed_settings(*family, told_of(spec.problem, spec.problem_settings));
  const auto file = own_data(*family);
  const std::string missing = file.empty() ? "" : family->missing();
  if (missing.empty()) {
    const InstanceSpec instance = instance_of(spec, *family);
    d.records = instance.records;
    if (!file.empty()) {
      static_cast<void>(family->facts(instance));  // refuses what the file has not
      d.data = know_data(file);
    }
  } else {
    nlohmann::json others = nlohmann::json(d).at("problem_settings");
    others.erase(own_data_setting);
    const StoredData stored = stored_data_for(
        {.sha256 = {}, .problem = d.problem, .problem_settings = others}, file.string(), missing);
    d.data = stored.sha256;
    if (spec.records == 0) d.records = stored.records;
  }
  d.algorithm_numbers_version = card.numbers_version;
  d.problem_numbers_version = family->numbers_version();
  check_records(d.problem, d.records);
  return d;
}

std::optional<MemoryNeed> memory_need(const RunSpec& spec) {
  const auto family = make_family(spec.problem, spec.problem_settings);
  InstanceSpec instance = instance_of(spec, *family);
  const Index records = instance.records;
  // of a size that is made in a moment, whatever the dimension
  const Index few =
      std::clamp<Index>(1'000'000 / std::max<Index>(instance.dimension.value_or(1), 1), 2, 1000);
  const Index more = 3 * few;
  if (records <= more || !family->missing().empty()) return {};
  const auto bytes_at = [&](Index n) -> std::optional<double> {
    instance.records = n;
    try {
      const auto before = allocated_bytes();
      const Problem problem = family->make(instance);
      const auto after = allocated_bytes();
      if (!before || !after) return {};
      return static_cast<double>(*after) - static_cast<double>(*before);
    } catch (const InputError&) {  // so few records make no instance
      return {};
    } catch (const std::bad_alloc&) {
      return {};
    }
  };
  const auto at_few = bytes_at(few), at_more = bytes_at(more);
  const auto machine = machine_memory();
  if (!at_few || !at_more || !machine) return {};
  MemoryNeed need{.bytes = (*at_more - *at_few) / static_cast<double>(more - few) *
                           static_cast<double>(records),
                  .machine = *machine};
  for (const Field& f : family->fields())
    need.can_be_simulated =
        need.can_be_simulated ||
        (f.name == "sampling" && std::ranges::find(f.choices, "whole") != f.choices.end());
  return need;
}

std::map<std::string, double> public_constants(const RunDescription& d) {
  std::map<std::string, double> constants;
  try {
    const auto family = make_family(d.problem, d.problem_settings);
    if (const auto facts = family->known_facts(instance_of(d, *family))) {
      const PublicFacts told = facts_told(d, *facts);
      for (const auto& [name, constant] : told.constants.all())
        constants.emplace(name, constant.value);
    }
  } catch (const InputError&) {  // a caller's file that is elsewhere
  }
  return constants;
}

std::map<std::string, std::string> scheduled_parameters(const RunDescription& d) {
  const auto family = make_family(d.problem, d.problem_settings);
  const auto algorithm = find_algorithm(d.algorithm);
  prepare(*algorithm, preparation_of(d), facts_told(d, family->facts(instance_of(d, *family))));
  return values_of(algorithm->fields());
}

}  // namespace dpsosp
