// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/problem.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

/// Refuses settings at which the start or a constant leaves the numbers of double precision: none
/// is infinite but a clipped constant, and none that is proved is 0 but a suboptimality.
void check_numbers(const PublicFacts& facts) {
  if (!facts.initial_point.allFinite())
    reject(facts.name, "x0", facts.initial_point.norm(), "finite; a setting is too large");
  for (const auto& [name, c] : facts.constants.all()) {
    if (c.origin != Origin::clipped && !std::isfinite(c.value))
      reject(facts.name, name, c.value, "finite; a setting is too large");
    const bool positive = c.value > 0 || (c.value == 0 && name == constant::suboptimality);
    if (c.origin == Origin::proved && !positive)
      reject(facts.name, name, c.value,
             "> 0; settings leave double precision, or a constant that is zero is not left out");
  }
}

}  // namespace

void check_records(std::string_view problem, Index records) {
  if (records < 1) reject(problem, "records", static_cast<double>(records), ">= 1");
}

std::optional<Slice> first_two_coordinates(std::string caption, Vector origin, double from,
                                           double to) {
  const Index d = origin.size();
  if (d < 2) return std::nullopt;
  return Slice{std::move(caption),
               std::move(origin),
               Vector::Unit(d, 0),
               Vector::Unit(d, 1),
               from,
               to,
               from,
               to};
}

Problem ProblemFamily::make(const InstanceSpec& spec) const {
  Problem problem;
  problem.facts = facts(spec);
  draw(spec, problem);
  if ((problem.records == nullptr) == (problem.simulated == nullptr))
    throw std::logic_error(fmt::format("{}: draw sets records or simulated, one of them", name()));
  return problem;
}

std::optional<PublicFacts> ProblemFamily::known_facts(const InstanceSpec& spec) const {
  if (facts_need_data() && !missing().empty()) return {};
  return facts(spec);
}

PublicFacts ProblemFamily::facts(const InstanceSpec& spec) const {
  check_records(name(), spec.records);
  check_ranges_of(name(), *this);
  PublicFacts made;
  made.name = name();
  made.dimension = dimension(spec);
  check_settings(made.dimension);
  made.records = spec.records;
  settle(Stream({.seed = spec.seed, .purpose = Purpose::initial_point}), made);
  made.constants = constants(made);
  check_numbers(made);
  return made;
}

Index ProblemFamily::dimension(const InstanceSpec& spec) const {
  const Index d = spec.dimension.value_or(default_dimension());
  if (d < least_dimension())
    reject(name(), "dimension", static_cast<double>(d), fmt::format(">= {}", least_dimension()));
  return d;
}

void set_dual(PublicFacts& facts, DualKind kind, Vector initial, const Domain& domain) {
  facts.dual_kind = kind;
  facts.dual_dimension = initial.size();
  facts.dual_domain = domain;
  facts.initial_dual = std::move(initial);
}

void share_landmarks(std::vector<Landmark>& landmarks) {
  for (const Landmark& of_population : std::vector(landmarks)) {
    landmarks.push_back(of_population);
    landmarks.back().of = Landmark::Of::empirical;
  }
}

Constant proved(double value, std::string region, std::string proof, double attained) {
  return {value, Origin::proved, std::move(region), std::move(proof), attained};
}

}  // namespace dpsosp
