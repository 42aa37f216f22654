// SPDX-License-Identifier: Apache-2.0
// A method in Python has the bits of the same method in C++.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "paths.hpp"
#include "python.hpp"

namespace dpsosp::patterns_test {
namespace {

constexpr Index steps = 12;

struct Run {
  Curator& curator;
  Stream stream;
  double noise;
  Vector x;

  GradientQuery query(double limit, double ratio) const {
    return {.limit = limit, .noise = Noise::sensitivity_ratio(ratio)};
  }
  Vector gradient(const BatchPolicy& policy, double ratio) {
    Vector g(x.size());
    curator.gradient(Point(x), curator.draw(policy), query(1.0, ratio), g);
    return g;
  }
};

Vector momentum(Run r) {
  Vector m = Vector::Zero(r.x.size());
  for (Index t = 0; t < steps; ++t) {
    m = 0.9 * m + 0.1 * r.gradient(BatchPolicy::all(), r.noise);
    r.x = r.x - 0.1 * m;
  }
  return r.x;
}

Vector normalised(Run r) {
  for (Index t = 0; t < steps; ++t) {
    const Vector g = r.gradient(BatchPolicy::poisson(0.2), r.noise);
    double square = 0;
    for (const double entry : g) square += entry * entry;
    r.x = r.x - 0.05 / std::sqrt(square) * g;
  }
  return r.x;
}

Vector adam(Run r) {
  Vector m = Vector::Zero(r.x.size()), v = m;
  double start1 = 1, start2 = 1;
  for (Index t = 0; t < steps; ++t) {
    const Vector g = r.gradient(BatchPolicy::sample(20), r.noise);
    m = 0.9 * m + 0.1 * g;
    v = 0.99 * v + 0.01 * g.cwiseAbs2();
    start1 *= 0.9;
    start2 *= 0.99;
    const Vector up = 0.05 / (1.0 - start1) * m;
    r.x = r.x - Vector(up.array() / ((v.array() / (1.0 - start2)).sqrt() + 1e-8));
  }
  return r.x;
}

Vector tree(Run r) {
  TreeStream sums(r.curator, 30.0, steps);
  Vector previous = r.x, g(r.x.size());
  for (Index t = 0; t < steps; ++t) {
    const Batch batch = r.curator.draw(BatchPolicy::fresh(5));
    if (t == 0)
      sums.push_gradient(Point(r.x), batch, r.query(1.0, 0.0), g);
    else
      sums.push_difference(Point(r.x), Point(previous), batch, r.query(0.5, 0.0), g);
    previous = r.x;
    r.x = r.x - 0.1 * g;
  }
  return r.x;
}

Vector spider(Run r) {
  const Index chosen = r.stream.below(steps);
  Stream kicks = r.stream.child(1);
  Vector g = Vector::Zero(r.x.size()), previous = r.x, output = r.x, kick(r.x.size());
  for (Index t = 0; t < steps; ++t) {
    if (t % 5 == 0) {
      g = r.gradient(BatchPolicy::fresh(10), 20.0);
      kicks.fill_ball(0.01, kick);
      r.x = r.x + kick;
    } else {
      Vector change(r.x.size());
      r.curator.gradient_difference(Point(r.x), Point(previous),
                                    r.curator.draw(BatchPolicy::fresh(5)), r.query(0.2, 20.0),
                                    change);
      g = g + change;
    }
    if (t == chosen) output = r.x;
    previous = r.x;
    kicks.fill_normal(1.0, kick);
    const Vector along = r.x - 0.1 * g;
    r.x = along + 1e-3 * kick;
  }
  return output;
}

Vector second_order(Run r) {
  const Index d = r.x.size();
  const Batch everyone = r.curator.draw(BatchPolicy::all());
  const Noise noise = Noise::sensitivity_ratio(20.0);
  Matrix hessian(d, d);
  r.curator.hessian(Point(r.x), everyone, {.limit = 4.0, .noise = noise}, hessian);
  const Vector v = hessian.col(0);
  Vector product(d), of_anchor(d), g(d);
  r.curator.hessian_product(Point(r.x), v, everyone, {.limit = 4.0, .noise = noise}, product);
  Vector after = r.x - 0.1 * product;
  HessianStream sums(r.curator);
  sums.refresh(Point(r.x), everyone, 4.0);
  HessianStream anchor = sums;
  sums.add(Point(after), Point(r.x), everyone, 0.4);
  sums.product(v, 0.5, product);
  anchor.product(v, 0.5, of_anchor);
  after = after - 0.1 * product - 0.1 * of_anchor;
  Curator late = r.curator.child(
      {.name = "late", .share = 0.5, .range = RecordRange{100, 200}, .initial_point = after});
  late.gradient_combination(0.5, Point(late.facts().initial_point), Point(r.x),
                            late.draw(BatchPolicy::all()),
                            {.limit = 1.0, .difference_limit = 0.5, .noise = noise}, g);
  return after - 0.1 * g;
}

struct Pattern {
  std::string name;
  std::function<Vector(Run)> body;
  std::int64_t queries = steps;  ///< at least
};

class EveryPattern : public testing::TestWithParam<Pattern> {};

TEST_P(EveryPattern, HasTheBitsOfItsTwinInCpp) {
  if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  const auto program =
      find_algorithm(register_program(in_checkout("tests/python/programs/patterns.toml")));
  Fields fields = program->fields();
  set_field(fields, "patterns", "pattern", GetParam().name);
  const Problem p = find_problem("double-well")->make({.records = 200, .dimension = 5});
  const bool sampled = GetParam().name == "normalised" || GetParam().name == "adam";
  const Calibrator calibrator = sampled ? Calibrator::rdp : Calibrator::cks;
  const PrivacyBudget budget{8, 1e-6};
  const FilterRule rule = program->schedule(Schedule::practical, p.facts, budget, calibrator).rule;
  const auto plan = program->plan(p.facts);
  const double noise =
      calibrate_common_noise(plan, p.facts.records, budget, calibrator).sensitivity_ratio;
  class Nobody final : public Observer {
    void iterate(Index, ConstVectorRef) override {}
  } nobody;
  const Stream stream = Stream::sealed({.seed = 3, .purpose = Purpose::algorithm});
  Curator here(p.facts, *p.records, rule, {.seed = 5}, nullptr);
  Curator there(p.facts, *p.records, rule, {.seed = 5}, nullptr);
  const Vector twin = GetParam().body({here, stream, noise, p.facts.initial_point});
  const Outcome outcome = program->run(there, stream, nobody);
  EXPECT_EQ(outcome.status, Status::steps_done);
  EXPECT_EQ(outcome.point, twin);
  EXPECT_EQ(here.ledger().queries(), there.ledger().queries());
  EXPECT_GE(there.ledger().queries(), GetParam().queries);
}

INSTANTIATE_TEST_SUITE_P(Python, EveryPattern,
                         testing::Values(Pattern{"momentum", momentum},
                                         Pattern{"normalised", normalised}, Pattern{"adam", adam},
                                         Pattern{"tree", tree, 1}, Pattern{"spider", spider},
                                         Pattern{"second_order", second_order, 5}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace dpsosp::patterns_test
