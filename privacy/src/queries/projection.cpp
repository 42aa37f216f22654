// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/projection.hpp"

#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

PublicFacts projected_facts(const PublicFacts& facts, Index k, double cap) {
  if (!(facts.feature_bound > 0))
    throw InputError(fmt::format(
        "projection: the records of {} have no features to project; choose a generalised linear "
        "model without regulariser",
        facts.name));
  if (k < 1) reject("projection", "dimension", static_cast<double>(k), ">= 1");
  if (!(cap > 0 && std::isfinite(cap))) reject("projection", "cap", cap, "finite and > 0");
  PublicFacts made = facts;
  made.dimension = k;
  made.initial_point = Vector::Zero(k);
  made.feature_bound = cap * facts.feature_bound;
  if (facts.domain.kind != Domain::Kind::everywhere)  // a box's corner is √d times its half width
    made.domain = Domain::ball(facts.domain.diameter(facts.dimension));
  made.constants = {};
  const auto scaled = [&](std::string_view name, double factor, Origin origin) {
    if (!facts.constants.contains(name)) return;
    Constant c = facts.constants.at(name);
    c.value *= factor;
    if (c.origin != Origin::clipped) c.origin = origin;
    c.proof = "projected features";
    made.constants.set(name, c);
  };
  scaled(constant::lipschitz, cap, Origin::proved);
  scaled(constant::smoothness, cap * cap, Origin::proved);
  scaled(constant::hessian_lipschitz, cap * cap * cap, Origin::proved);
  scaled(constant::quasar_convexity, 1.0, Origin::estimated);
  if (facts.constants.contains(constant::suboptimality)) {
    // F(0) ≤ F(x₀) + G‖x₀‖, and the scores at 0 are 0 before and after the map.
    Constant B = facts.constants.at(constant::suboptimality);
    const double away = facts.initial_point.norm();
    if (away > 0) B.value += facts.constants[constant::lipschitz] * away;
    B.origin = Origin::estimated;
    B.proof = "where no projected feature is capped";
    made.constants.set(constant::suboptimality, B);
  }
  return made;
}

}  // namespace dpsosp
