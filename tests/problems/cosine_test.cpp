// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/cosine_minimax.hpp"
#include "dpsosp/problems/cosine_saddle.hpp"

namespace dpsosp::cosine_test {
namespace {

TEST(CosineMinimax, ValueGradientAndCurvatureMatchReference) {  // xu-2026 notes, 9
  const auto phi =
      cosine_minimax_value(Vector{{2, 1.5}}, 1.0, 0.5, Vector::Zero(2), Vector::Zero(4));
  const Vector x{{0.3, -0.2, 1, -2}};
  Vector g(4), h(4);
  EXPECT_NEAR(phi->value(x), 1.2547792681, 1e-10);
  phi->gradient(x, g);
  EXPECT_LT((g - Vector{{1.0522398967, -0.3506653346, -0.4207354924, 0.4546487134}}).norm(), 1e-9);
  phi->hessian_diagonal(x, h);
  EXPECT_LT((h - Vector{{3.5223317554, 1.7599667111, -0.2701511529, 0.2080734183}}).norm(), 1e-9);
  EXPECT_NEAR(phi->value(Vector::Zero(4)), 2.0, 1e-15);
  EXPECT_NEAR(phi->lambda_min(Vector::Zero(4)), -0.5, 1e-15);
  const Vector minimum{{0, 0, std::numbers::pi, std::numbers::pi}};
  EXPECT_NEAR(phi->value(minimum), 0.0, 1e-15);
  EXPECT_NEAR(phi->lambda_min(minimum), 0.5, 1e-15);
}

TEST(CosineMinimax, RecordsAreCentredAndInTheUnitBall) {
  const Problem p = CosineMinimax().make({.records = 500, .data_seed = 2});
  Vector g(20);
  p.empirical->gradient(Vector::Zero(20), g);
  EXPECT_LT(g.norm(), 1e-14);  // the origin is an exact saddle
  Vector sum = Vector::Zero(30);
  const Vector x = Vector::Zero(20), y = Vector::Zero(10);
  const ClipReport report = p.records->add_gradients(Point(x, y), Block::joint, BatchView(0, 500),
                                                     std::sqrt(2.0) * (1 + 1e-12), sum);
  EXPECT_EQ(report.clipped, 0);  // ‖(s, e)‖ ≤ √2
}

TEST(CosineSaddle, StartsAtStrictSaddleOfPopulation) {
  const Problem p = CosineSaddle().make({.records = 100});
  Vector g(10);
  p.population->gradient(p.facts.initial_point, g);
  EXPECT_LT(g.norm(), 1e-14);
  const auto& F = dynamic_cast<const DiagonalObjective&>(*p.population);
  EXPECT_NEAR(F.lambda_min(p.facts.initial_point), -std::cos(0.5), 1e-14);
}

TEST(CosineSaddle, LambdaMinMatchesDenseEigensolve) {
  const Problem p = CosineSaddle().make({.records = 100});
  const auto& F = dynamic_cast<const DiagonalObjective&>(*p.empirical);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Vector x(10);
    Stream({.seed = seed}).fill_normal(2.0, x);
    Matrix H(10, 10);
    for (Index j = 0; j < 10; ++j) F.hessian_product(x, Vector::Unit(10, j), H.col(j));
    EXPECT_NEAR(symmetric_eigen(H).values[0], F.lambda_min(x), 1e-14);
  }
}

TEST(CosineSaddle, LipschitzConstantIsTight) {
  // attained where x_j − s z_j = π/2 for all j: one record, z known from its gradient at 0
  CosineSaddle family;
  const Problem p = family.make({.records = 1, .dimension = 6});
  Vector g = Vector::Zero(6);
  const Vector origin = Vector::Zero(6);
  p.records->add_gradients(Point(origin), Block::x, BatchView(0, 1), 1e9, g);
  const Vector x = std::numbers::pi / 2 - family.spread * g.array().sign();  // ∂f = −a sin(s) z
  const double G = p.facts.constants[constant::lipschitz];
  g.setZero();
  EXPECT_EQ(
      p.records->add_gradients(Point(x), Block::x, BatchView(0, 1), G * (1 + 1e-12), g).clipped, 0);
  EXPECT_EQ(p.records->add_gradients(Point(x), Block::x, BatchView(0, 1), 0.95 * G, g).clipped, 1);
}

}  // namespace
}  // namespace dpsosp::cosine_test
