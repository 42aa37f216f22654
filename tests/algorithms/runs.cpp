// SPDX-License-Identifier: Apache-2.0
#include "runs.hpp"

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::test {

Problem small_problem(const std::string& name, Index records, std::uint64_t data_seed) {
  const auto family = find_problem(name);
  Fields fields = family->fields();
  InstanceSpec spec{.records = records, .dimension = {}, .seed = 3, .data_seed = data_seed};
  if (name == "matrix-sensing") {
    set_field(fields, name, "rows", "4");
    set_field(fields, name, "cols", "3");
    set_field(fields, name, "rank", "2");
  } else if (name == "cosine-minimax") {
    set_field(fields, name, "coupled", "3");
    set_field(fields, name, "free", "3");
  } else {
    spec.dimension = 6;
  }
  Problem problem = family->make(spec);
  if (name == "cosine-minimax")  // off the saddle, where nothing would move without noise
    Stream({.seed = 4, .purpose = Purpose::test}).fill_normal(0.5, problem.facts.initial_point);
  return problem;
}

void set(Algorithm& algorithm, const std::vector<std::pair<std::string, std::string>>& settings) {
  Fields fields = algorithm.fields();
  for (const auto& [name, text] : settings) set_field(fields, algorithm.card().key, name, text);
}

bool runs_on(const Algorithm& algorithm, const PublicFacts& facts) {
  try {
    algorithm.check(facts);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace dpsosp::test
