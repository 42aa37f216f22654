// SPDX-License-Identifier: Apache-2.0
// The trust-region subproblem, and DP-TR.
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/trust_region.hpp"
#include "dpsosp/baselines/dp_trust_region.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::dp_trust_region_test {
namespace {

using namespace baselines;
using namespace test;

void expect_minimiser(const Matrix& H, const Vector& g, double r, const TrustRegionStep& s) {
  const double scale = H.norm() + g.norm() / r;
  const double least = symmetric_eigen(H).values[0];
  EXPECT_LE(s.step.norm(), r * (1 + 1e-12));
  EXPECT_GE(s.multiplier, 0);
  EXPECT_GE(least + s.multiplier, -1e-12 * scale);
  EXPECT_LE((H * s.step + s.multiplier * s.step + g).norm(), 1e-10 * scale * r);
  if (s.multiplier > 1e-10 * scale) {
    EXPECT_NEAR(s.step.norm() / r, 1, 1e-10);
  }
}

TEST(TrustRegion, SatisfiesOptimalityConditions) {
  Stream stream({.seed = 2});
  for (int trial = 0; trial < 400; ++trial) {
    const Index d = 1 + trial % 7;
    Matrix a(d, d);
    stream.fill_normal(1.0, a.reshaped());
    Matrix H = 0.5 * (a + a.transpose());
    if (trial % 4 == 1) H = a * a.transpose() + 0.1 * Matrix::Identity(d, d);
    if (trial % 4 == 2) H = -a * a.transpose();
    Vector g(d);
    stream.fill_normal(std::pow(10.0, trial % 9 - 4), g);
    const double r = std::pow(10.0, trial % 5 - 2);
    expect_minimiser(H, g, r, trust_region_step(H, g, r));
  }
}

TEST(TrustRegion, SolvesHardAndNearlyHardCases) {
  const Matrix rotation = thin_qr(Matrix::Random(4, 4)).q;
  const Matrix H = rotation * Vector{{-2, -1, 0.5, 3}}.asDiagonal() * rotation.transpose();
  const Vector rest = rotation * Vector{{0, 0.3, -0.2, 0.1}};
  for (const double along : {0.0, 1e-300, 1e-17, 1e-12, 1e-6, -1e-9, 1e-2}) {
    const Vector g = rest + along * rotation.col(0);
    const TrustRegionStep s = trust_region_step(H, g, 1.0);
    expect_minimiser(H, g, 1.0, s);
    EXPECT_NEAR(s.multiplier, 2, 1.1 * std::abs(along) + 1e-10);
    EXPECT_NEAR(s.step.norm(), 1, 1e-10);  // without τ q₁ it is 0.31
  }
  const TrustRegionStep zero = trust_region_step(H, Vector::Zero(4), 1.0);
  expect_minimiser(H, Vector::Zero(4), 1.0, zero);
  EXPECT_TRUE(zero.hard_case);
  EXPECT_NEAR(std::abs(zero.step.dot(rotation.col(0))), 1, 1e-12);
}

TEST(TrustRegion, IsNoWorseThanAnyGridPoint) {
  Stream stream({.seed = 3});
  for (int trial = 0; trial < 30; ++trial) {
    Matrix a(2, 2);
    stream.fill_normal(1.0, a.reshaped());
    const Matrix H = a + a.transpose();
    Vector g(2);
    stream.fill_normal(1.0, g);
    if (trial % 3 == 0) g.setZero();
    const auto value = [&](const Vector& h) { return g.dot(h) + 0.5 * h.dot(H * h); };
    const double best = value(trust_region_step(H, g, 0.7).step);
    for (double x = -0.7; x <= 0.7; x += 0.02)
      for (double y = -0.7; y <= 0.7; y += 0.02)
        if (x * x + y * y <= 0.49) {
          EXPECT_LE(best, value(Vector{{x, y}}) + 1e-12);
        }
  }
}

TEST(TrustRegion, ReturnsZeroStepForZeroModel) {
  const TrustRegionStep s = trust_region_step(Matrix::Zero(3, 3), Vector::Zero(3), 1.0);
  EXPECT_EQ(s.step, Vector::Zero(3));
  EXPECT_EQ(s.multiplier, 0);
}

TEST(DpTrustRegion, MatchesValuesAtReferencePoint) {
  DpTrustRegion method;
  at_reference(method, 0.1);
  const DpTrustRegionParameters& p = method.parameters;
  EXPECT_EQ(p.steps, 190);
  EXPECT_NEAR(p.radius(), 0.316227766, 5e-10);
  EXPECT_NEAR(p.gradient_noise * sensitivity, 0.00176646110, 5e-12);
  EXPECT_NEAR(p.hessian_noise * frobenius, 0.0124907662, 5e-11);  // i.i.d.; GOE is 1/√2 of it
}

TEST(DpTrustRegion, LeavesTheoryBelowSmallestAlpha) {
  const ProblemNumbers q = numbers_of(reference_facts());
  const double R = 0.0243559703595;
  EXPECT_NEAR(DpTrustRegion().min_alpha(q, R), 0.200, 1e-3);  // GOE
  DpTrustRegion one;
  one.parameters.hessian_rank = 1;
  EXPECT_NEAR(one.min_alpha(q, R), 0.126, 1e-3);  // the gradient's alone binds
  DpTrustRegion method;
  const Scheduled below = at_reference(method, 0.1);
  EXPECT_EQ(below.utility, Utility::outside_theory);
  EXPECT_NE(below.note.find("tolerances"), std::string::npos);
  EXPECT_EQ(at_reference(method, 0.0).utility, Utility::repaired);
  EXPECT_NEAR(method.parameters.alpha, 0.200, 1e-3);
  const Scheduled above = at_reference(method, 0.205);
  EXPECT_EQ(above.utility, Utility::repaired);
  EXPECT_NEAR(above.alpha, 4.7 * 0.205, 1e-12);
}

TEST(DpTrustRegion, EqualsTrustRegionMethodWithoutNoise) {
  for (const std::string name : {"cosine-saddle", "double-well", "phase-retrieval"}) {
    const Exact exact(name);
    DpTrustRegion method;
    method.parameters.alpha = 0.05;
    method.parameters.steps = 400;
    const Ran ran = exact.run(method);
    Vector x = exact.problem.facts.initial_point;
    for (const Vector& seen : ran.iterates) {
      EXPECT_LT((seen - x).norm(), 1e-9) << name;
      x += trust_region_step(hessian_of(exact.f(), x), gradient_of(exact.f(), x), std::sqrt(0.05))
               .step;
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-9);
    EXPECT_EQ(ran.outcome.status, Status::certified);
  }
}

// With exact information a step that is not the last lowers F by 1/3 · α^{3/2}/√ρ, and the output
// is an approximate stationary point.
TEST(DpTrustRegion, DescendsToStationaryPointWithoutNoise) {
  const Exact exact;
  const double rho = exact.problem.facts.constants[constant::hessian_lipschitz], alpha = 0.05;
  DpTrustRegion method;
  method.parameters.alpha = alpha;
  method.parameters.hessian_lipschitz = rho;
  method.parameters.steps = 1000;
  const Ran ran = exact.run(method);
  ASSERT_GT(ran.iterates.size(), 3U);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    EXPECT_LE(exact.f().value(ran.iterates[t + 1]) - exact.f().value(ran.iterates[t]),
              -std::pow(alpha, 1.5) / (6 * std::sqrt(rho)));
  EXPECT_LE(gradient_of(exact.f(), ran.outcome.point).norm(), 1.75 * alpha);
  EXPECT_GE(symmetric_eigen(hessian_of(exact.f(), ran.outcome.point)).values[0],
            -2.17 * std::sqrt(rho * alpha));
}

/// A slope of 2α everywhere.
class SlopeRecords final : public test::WrittenRecords {
 public:
  explicit SlopeRecords(double slope) : WrittenRecords(10), slope_(slope) {}
  bool has_second_order() const override { return true; }

 private:
  Vector of(Index, const Summand& s) const override {
    Vector v = Vector::Zero(s.entries());
    if (s.kind == Summand::Kind::gradient && !s.previous) v[0] = slope_;
    return v;
  }
  double slope_;
};

// B4: down a slope of 2α the horizon's steps of length sqrt(α/ρ) lower F by 12 Δ₀, and those of
// length α/ρ by 12 sqrt(α/ρ) Δ₀, less than Δ₀ for α < ρ/144.
TEST(DpTrustRegion, HorizonSufficesOnlyWithRootRadius) {
  const double alpha = 1.0 / 400, B = 0.05;
  const SlopeRecords records(2 * alpha);
  PublicFacts facts = reference_facts();
  facts.records = 10;
  facts.dimension = 2;
  facts.initial_point = Vector::Zero(2);
  const auto fallen = [&](RadiusRule rule) {
    DpTrustRegion method;
    DpTrustRegionParameters& p = method.parameters;
    p.alpha = alpha;
    p.radius_rule = rule;
    p.steps = static_cast<Index>(std::ceil(trust_region_horizon(1, B, alpha)));
    const Ran ran = run_unsound(method, facts, records, exact);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    return -2 * alpha * ran.outcome.point[0];
  };
  EXPECT_NEAR(fallen(RadiusRule::root) / (12 * B), 1, 1e-3);
  EXPECT_NEAR(fallen(RadiusRule::printed) / (0.6 * B), 1, 1e-3);
}

// B4: the reference code multiplies the Hessian's noise by √d once more than its budget asks.
TEST(DpTrustRegion, PrintedHessianNoiseLeavesBudgetUnspent) {
  const Problem p = small_problem("cosine-saddle", 60);
  const auto spent = [&](bool repeated) {
    DpTrustRegion method;
    method.parameters.repeated_root = repeated;
    const Scheduled s = method.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
    set(method, {{"alpha", "1e-300"}});
    const Ran ran = run_enforced(method, p.facts, *p.records, s.rule);
    double rho = 0;
    for (const LedgerEntry& e : ran.ledger.entries())
      rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
    return rho / s.rule.capacity;
  };
  EXPECT_NEAR(spent(false), 1.0, 1e-9);
  EXPECT_NEAR(spent(true), 0.5 + 0.5 / 6, 1e-9);  // d = 6
}

}  // namespace
}  // namespace dpsosp::dp_trust_region_test
