// SPDX-License-Identifier: Apache-2.0
// DP-GD with selection: schedule, method without noise, errata.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/baselines/dp_gd_sosp.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::dp_gd_sosp_test {
namespace {

using namespace baselines;
using namespace test;

TEST(DpGdSosp, MatchesValuesAtReferencePoint) {
  DpGdSosp method;
  at_reference(method, 0.1);
  const DpGdSospHorizon h = dp_gd_sosp_horizon(method.parameters, 50, 1, 1, 1, 0.1);
  EXPECT_EQ(h.log_factor, 1.0);
  EXPECT_NEAR(h.decrease, 0.188152416, 5e-10);
  EXPECT_NEAR(h.escape, 2.21359436, 5e-9);
  EXPECT_EQ(method.parameters.steps, 400);
  EXPECT_NEAR(method.parameters.noise * sensitivity, 0.00256305115, 5e-12);
}

// s₁ = (2G/n) sqrt(2K/R) and s₂ = (M/n) sqrt(4dK/R) on R/4 each, K the number of candidates
// (baselines notes, 3.1).
TEST(DpGdSosp, UsesSpecifiedNoiseForSelection) {
  DpGdSosp method;
  method.parameters.stored = 400;
  const Scheduled s = at_reference(method, 0.1, Schedule::paper);
  const double R = s.rule.capacity;
  EXPECT_NEAR(R, 0.0243559703595, 1e-12);
  EXPECT_EQ(method.parameters.selection, Selecting::noisy);
  EXPECT_NEAR(
      method.parameters.selection_gradient_noise * sensitivity / (2e-5 * std::sqrt(800 / R)), 1.0,
      1e-12);
  EXPECT_NEAR(method.parameters.selection_hessian_noise * frobenius / std::numbers::sqrt2 /
                  (1e-5 * std::sqrt(4 * 50 * 400 / R)),
              1.0, 1e-12);
}

TEST(DpGdSosp, ReturnsFirstStationaryStoredPointWithoutNoise) {
  const Exact exact;
  DpGdSosp method;
  DpGdSospParameters& p = method.parameters;
  p.steps = 60;
  p.step_size = 0.7;
  p.alpha = 0.05;
  p.stored = 20;
  const Ran ran = exact.run(method);
  Vector x = exact.problem.facts.initial_point;
  Vector first;
  for (std::size_t t = 0; t < 60; ++t) {
    EXPECT_LT((ran.iterates[t] - x).norm(), 1e-12);
    const double curvature = -symmetric_eigen(hessian_of(exact.f(), x)).values[0];
    const double q = std::max(gradient_of(exact.f(), x).norm() / p.alpha,
                              curvature / std::sqrt(p.hessian_lipschitz * p.alpha));
    if (t % 3 == 0 && first.size() == 0 && q <= p.slack) first = x;
    x -= p.step_size * gradient_of(exact.f(), x);
  }
  ASSERT_GT(first.size(), 0);
  EXPECT_LT((ran.outcome.point - first).norm(), 1e-12);
  EXPECT_EQ(ran.outcome.status, Status::certified);
  EXPECT_LE(ran.outcome.counts.at("asked"), 20);
  p.alpha = 1e-30;  // nothing is accepted: the last iterate
  const Ran none = exact.run(method);
  EXPECT_EQ(none.outcome.status, Status::steps_done);
  EXPECT_LT((none.outcome.point - x).norm(), 1e-12);
  EXPECT_EQ(none.outcome.counts.at("asked"), 20);
}

// B1: the reference code's α²/(4ρ) for a step at ‖∇F‖ = α. With M = 100 a step of 1/M lowers F by
// α²/(2M) at most, so a horizon with α²/(4ρ) is 100 times too short.
TEST(DpGdSosp, RepairedHorizonSufficesUnlikePrinted) {
  DpGdSospParameters p;
  const double M = 100, rho = 1, B = 1, alpha = 0.1;
  const double needed = B / (alpha * alpha / (2 * M));  // steps at ‖∇F‖ = α exactly
  EXPECT_GE(dp_gd_sosp_horizon(p, 50, M, rho, B, alpha).steps, needed);
  p.printed_horizon = true;
  EXPECT_LT(dp_gd_sosp_horizon(p, 50, M, rho, B, alpha).steps, needed);
  EXPECT_EQ(dp_gd_sosp_horizon(p, 50, 1, rho, B, alpha).steps,
            B / (alpha * alpha / 4));  // invisible at M = ρ = 1
}

// B2: in one dimension GOE(s) is N(0, 2s²), so the tail beyond 2s is that of deviation √2 s.
TEST(GoeTail, HoldsWhereSpecifiedTailFails) {
  for (const double T : {1e2, 1e5, 1e8}) {
    const double failure = 0.1 / (2 * T);
    const auto exceeds = [](double bound) { return 0.5 * std::erfc(bound / 2.0); };  // P(√2 Z > ·)
    EXPECT_LE(exceeds(hessian_noise_tail(1, failure)), failure);
    EXPECT_LE(exceeds(hessian_noise_norm(1, 1) + hessian_noise_tail(1, failure)), failure);
    const double stated = 2 + std::sqrt(2 * std::log(1 / failure));
    EXPECT_EQ(exceeds(stated) <= failure, T < 1e7) << T;
  }
}

// B3: the reference code releases two gradients a step with σ² = Δ²T ln(1/δ)/ε².
TEST(DpGdSosp, ReferenceCodeNoiseCostsTwiceItsEpsilon) {
  const double epsilon = 1, log_delta = std::log(1e6);
  const double rho = 2 * (epsilon * epsilon / log_delta) / 2;  // T cancels
  const double cost = rho + 2 * std::sqrt(rho * log_delta);    // Bun-Steinke
  EXPECT_NEAR(cost, 2 * epsilon, 0.08);
  EXPECT_GT(cost, 2 * epsilon);
  EXPECT_LT(rho_for(epsilon, 1e-6, Conversion::bs), rho);
}

}  // namespace
}  // namespace dpsosp::dp_gd_sosp_test
