// SPDX-License-Identifier: Apache-2.0
#include "test_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dpsosp/core/stream.hpp"

namespace dpsosp {

void bring_into_region(const Problem& problem, VectorRef x) {
  problem.facts.domain.project(x);
  for (int i = 0; i < 60 && !problem.in_region(x); ++i)
    x = 0.7 * x + 0.3 * problem.facts.initial_point;
}

std::vector<Vector> probe_points(const Problem& problem, std::uint64_t seed, int random) {
  const PublicFacts& facts = problem.facts;
  const Index d = facts.dimension;
  std::vector<Vector> points{facts.initial_point};
  for (const Landmark& l : problem.landmarks) points.push_back(l.point);
  const Domain& domain = facts.domain;
  const bool bounded = domain.kind != Domain::Kind::everywhere;
  const double axis = bounded ? domain.radius : 3.0;
  const double diagonal =
      domain.kind == Domain::Kind::ball ? domain.radius / std::sqrt(static_cast<double>(d)) : axis;
  for (const double sign : {1.0, -1.0}) {
    points.emplace_back(Vector::Constant(d, sign * diagonal));
    points.emplace_back(sign * axis * Vector::Unit(d, 0));
    points.emplace_back(sign * axis * Vector::Unit(d, d - 1));
  }
  Stream stream({.seed = seed, .purpose = Purpose::test});
  constexpr std::array scales{0.1, 0.3, 1.0, 3.0};
  for (int k = 0; k < random; ++k) {
    const double scale = scales[static_cast<std::size_t>(k) % scales.size()];
    Vector x(d);
    if (domain.kind == Domain::Kind::ball && k % 2 == 0) {
      stream.fill_ball(domain.radius, x);
    } else if (domain.kind == Domain::Kind::box && k % 2 == 0) {
      for (double& entry : x) entry = domain.radius * (2 * stream.uniform() - 1);
    } else {
      stream.fill_normal(scale, x);
      if (k % 8 >= 4) x += points[static_cast<std::size_t>(k) % points.size()];
    }
    points.push_back(x);
  }
  for (Vector& x : points) bring_into_region(problem, x);
  return points;
}

Vector probe_dual(const PublicFacts& facts, std::uint64_t seed) {
  Vector y(facts.dual_dimension);
  Stream({.seed = seed, .purpose = Purpose::test, .path = 1}).fill_normal(1.0, y);
  return y;
}

Vector random_direction(Index size, std::uint64_t seed) {
  Vector v(size);
  Stream({.seed = seed, .purpose = Purpose::test, .path = 5}).fill_normal(1.0, v);
  return v.normalized();
}

double natural_length(const Constants& constants) {
  if (!constants.contains(constant::smoothness) ||
      !constants.contains(constant::hessian_lipschitz) ||
      !(constants[constant::hessian_lipschitz] > 0))
    return 0.1;
  return std::min(1.0, constants[constant::smoothness] / constants[constant::hessian_lipschitz]);
}

Matrix dense_hessian(const Objective& objective, ConstVectorRef x) {
  const Index d = objective.dimension();
  Matrix H(d, d);
  Vector column(d);
  for (Index j = 0; j < d; ++j) {
    objective.hessian_product(x, Vector::Unit(d, j), column);
    H.col(j) = column;
  }
  return H;
}

Lowest descend(const Problem& problem, const Objective& objective, std::uint64_t seed) {
  Lowest best{std::numeric_limits<double>::infinity(), problem.facts.initial_point};
  Vector gradient(objective.dimension());
  for (Vector x : probe_points(problem, seed, 8)) {
    double value = objective.value(x);
    double step = natural_length(problem.facts.constants);
    for (int i = 0; i < 200 && step > 1e-12; ++i) {
      objective.gradient(x, gradient);
      Vector trial = x - step * gradient;
      problem.facts.domain.project(trial);
      const double trial_value = objective.value(trial);
      if (problem.in_region(trial) && trial_value < value) {
        x = trial;
        value = trial_value;
        step *= 1.5;
      } else {
        step *= 0.5;
      }
    }
    if (value < best.value) best = {value, x};
  }
  return best;
}

}  // namespace dpsosp
