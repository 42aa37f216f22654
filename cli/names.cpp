// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/reproductions/reproductions.hpp"

namespace dpsosp {

std::vector<Named> algorithm_names() {
  std::vector<Named> names;
  for (const AlgorithmEntry& entry : algorithm_registry())
    names.push_back({entry.key, entry.create()->card().title});
  return names;
}

std::vector<Named> audited_names() {
  std::vector<Named> names = algorithm_names();
  for (const std::string& key : audited_algorithms())
    if (std::ranges::find(names, key, &Named::name) == names.end())
      names.push_back({key, "a mechanism of the audit's own"});
  return names;
}

std::vector<Named> problem_names() {
  std::vector<Named> names;
  for (const ProblemEntry& entry : problem_registry()) names.push_back({entry.name, {}});
  return names;
}

std::vector<Named> exhibit_names() {
  std::vector<Named> names;
  for (const ExhibitEntry& e : reproductions().catalogue.exhibits) {
    const std::string group = e.id.substr(0, e.id.find('/'));
    if (std::ranges::find(names, group, &Named::name) == names.end() && group != e.id)
      names.push_back({group, "all exhibits of " + group});
    names.push_back({e.id, e.title});
  }
  return names;
}

std::vector<Named> sweep_names() {
  std::vector<Named> names;
  for (const BuiltInSweep& s : reproductions().catalogue.sweeps)
    names.push_back({std::string(s.name), {}});
  return names;
}

std::vector<Named> plant_names() {
  std::vector<Named> names;
  for (const AuditPlant& plant : audit_plants()) names.push_back({plant.name, plant.wrong});
  return names;
}

std::string algorithm_among(std::string_view kind, std::string_view word,
                            const std::vector<Named>& names, std::string_view lists) {
  if (is_card(word)) return register_program(word);
  try {
    return resolve_name(kind, word, names, lists);
  } catch (const InputError& e) {
    const std::string card = card_meant_by(word);
    if (card.empty()) throw;
    throw InputError(fmt::format("{}; a program is named by its card, {}", e.what(), card));
  }
}

std::string the_algorithm(std::string_view word) {
  return algorithm_among("algorithm", word, algorithm_names(), "dpsosp list algorithms");
}

std::string the_audited(std::string_view word) {
  return algorithm_among("algorithm", word, audited_names(), "dpsosp list algorithms");
}

std::string the_problem(std::string_view word) {
  return resolve_name("problem", word, problem_names(), "dpsosp list problems");
}

std::string the_exhibit(std::string_view word) {
  return resolve_name("exhibit", word, exhibit_names(), "dpsosp list exhibits");
}

std::string the_sweep(std::string_view word) {
  return resolve_name("sweep", word, sweep_names(), "dpsosp list sweeps");
}

}  // namespace dpsosp
