// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// A clip limit that clips nothing.
inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Points of a problem's region at which a property is tried: the start, the landmarks, corners of
/// the domain, and `random` points on several scales.
std::vector<Vector> probe_points(const Problem& problem, std::uint64_t seed, int random);

/// Moves x into the region: onto the domain, then towards the initial point until it is inside.
void bring_into_region(const Problem& problem, VectorRef x);

/// A dual to go with a probe: zero entries for minimisation problems.
Vector probe_dual(const PublicFacts& facts, std::uint64_t seed);

Vector random_direction(Index size, std::uint64_t seed);

/// The length on which the gradient changes: M/ρ where both are known, at most 1.
double natural_length(const Constants& constants);

/// H of an objective at x, column by column.
Matrix dense_hessian(const Objective& objective, ConstVectorRef x);

/// The lowest value that projected descent finds from the probes, and where.
struct Lowest {
  double value;
  Vector point;
};
Lowest descend(const Problem& problem, const Objective& objective, std::uint64_t seed);

}  // namespace dpsosp
