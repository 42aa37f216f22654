// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/problem.hpp"

#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void check_records(std::string_view problem, Index records) {
  if (records < 1) reject(problem, "records", static_cast<double>(records), ">= 1");
}

void ProblemFamily::check(const InstanceSpec& spec) const {
  check_records(name(), spec.records);
  check_ranges_of(name(), *this);
}

Problem ProblemFamily::make(const InstanceSpec& spec) const {
  check(spec);
  return build(spec);
}

PublicFacts ProblemFamily::facts(const InstanceSpec& spec) const {
  check(spec);
  return build_facts(spec);
}

void check_finite(const PublicFacts& facts) {
  if (!facts.initial_point.allFinite())
    reject(facts.name, "x0", facts.initial_point.norm(), "finite; a setting is too large");
  for (const auto& [name, constant] : facts.constants.all())
    if (constant.origin != Origin::clipped && !std::isfinite(constant.value))
      reject(facts.name, name, constant.value, "finite; a setting is too large");
}

Index check_dimension(std::string_view problem,
                      const InstanceSpec& spec,
                      Index standard,
                      Index least) {
  const Index d = spec.dimension.value_or(standard);
  if (d < least) reject(problem, "dimension", static_cast<double>(d), fmt::format(">= {}", least));
  return d;
}

void check_minimisation(std::string_view problem, Block block) {
  if (block != Block::x)
    throw InputError(fmt::format("{}: a minimisation problem has no dual block", problem));
}

}  // namespace dpsosp
