// SPDX-License-Identifier: Apache-2.0
// Noisy Newton: method without noise, split of the budget, error of the last step, schedule.
#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/trust_region.hpp"
#include "dpsosp/baselines/noisy_newton.hpp"
#include "dpsosp/core/errors.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::noisy_newton_test {
namespace {

using namespace baselines;
using namespace test;

TEST(NoisyNewton, EqualsNewtonWithinRadiusWithoutNoiseAndDoesNotStop) {
  const Exact exact;
  NoisyNewton method;
  method.parameters.steps = 40;
  method.parameters.radius = 0.4;
  const Ran ran = exact.run(method);
  ASSERT_EQ(ran.iterates.size(), 40U);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  Vector x = exact.problem.facts.initial_point;
  bool limited = false, inside = false;
  for (const Vector& seen : ran.iterates) {
    ASSERT_LT((seen - x).norm(), 1e-9);
    const Matrix H = hessian_of(exact.f(), x);
    const Vector g = gradient_of(exact.f(), x);
    const TrustRegionStep step = trust_region_step(H, g, 0.4);
    (step.multiplier > 0 ? limited : inside) = true;
    if (step.multiplier == 0) {
      EXPECT_LT((H * step.step + g).norm(), 1e-12);
    }
    x += step.step;
  }
  EXPECT_TRUE(limited && inside);
  EXPECT_LT(gradient_of(exact.f(), ran.outcome.point).norm(), 1e-12);
}

double charge(const Ledger& ledger, const FilterRule& rule, const std::string& query) {
  double rho = 0;
  for (const LedgerEntry& e : ledger.entries())
    if (e.query == query) rho += static_cast<double>(e.count) * rule.charge(*e.event);
  return rho;
}

TEST(NoisyNewton, SplitsWholeBudgetAsAsked) {
  const Problem p = small_problem("cosine-saddle", 60);
  NoisyNewton method;
  const Scheduled s = method.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  const double common = method.parameters.gradient_noise;
  for (const double share : {0.0, 0.5, 0.9}) {
    method.parameters.gradient_share = share;
    method.set_common_noise(common);
    const Ran ran = run_enforced(method, p.facts, *p.records, s.rule);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    const double R = s.rule.capacity, first = share > 0 ? share : 0.5;
    EXPECT_NEAR(charge(ran.ledger, s.rule, "gradient") / R, first, 1e-9) << share;
    EXPECT_NEAR(charge(ran.ledger, s.rule, "hessian") / R, 1 - first, 1e-9) << share;
  }
  method.parameters.sampling = Sampling::sample;
  method.parameters.batch = 10;
  EXPECT_THROW(method.check_settings(p.facts), InputError);
}

/// A bowl ½ xᵀ diag(curvature) x in every record.
class BowlRecords final : public UncheckedRecords {
 public:
  explicit BowlRecords(Vector curvature) : curvature_(std::move(curvature)) {}
  Index size() const override { return 1000; }
  bool has_second_order() const override { return true; }
  ClipReport add(const Summand& s, const BatchView& batch, double, VectorRef out) const override {
    const bool product = s.kind == Summand::Kind::hessian_product;
    out += static_cast<double>(batch.size()) *
           curvature_.cwiseProduct(product ? Vector(s.v) : Vector(s.point.x));
    return {};
  }

 private:
  Vector curvature_;
};

// However long the valley is, one step leaves a gradient of the length of the last answer's noise.
TEST(NoisyNewton, LastStepLeavesGradientOfNoiseWhateverTheCurvature) {
  const Index d = 30;
  const Vector curvature =
      Vector::LinSpaced(d, 0.0, 4.0).unaryExpr([](double k) { return std::pow(10.0, -k); });
  const BowlRecords records(curvature);
  PublicFacts facts = reference_facts();
  facts.records = records.size();
  facts.dimension = d;
  facts.initial_point = Vector::Ones(d);
  NoisyNewton method;
  NoisyNewtonParameters& p = method.parameters;
  p.steps = 8;
  p.radius = 1e3;
  p.gradient_noise = 0.005;
  p.hessian_noise = 0;
  const double deviation = 0.005 * 2.0 / 1000;
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Vector x = run_unsound(method, facts, records, {}, seed).outcome.point;
    mean += curvature.cwiseProduct(x).squaredNorm() / 40;
  }
  EXPECT_NEAR(mean / (static_cast<double>(d) * deviation * deviation), 1, 0.15);
}

TEST(NoisyNewton, ScheduleHasStepsToGetNearAndThenTheirLogarithm) {
  NoisyNewton method;
  const Scheduled s = method.schedule(Schedule::practical, reference_facts(1, 4), reference_budget,
                                      Calibrator::cks);
  EXPECT_EQ(method.parameters.radius, 0.25);
  EXPECT_EQ(method.parameters.steps, 6 + 12);  // √2/0.25 and ln 10⁵
  EXPECT_EQ(s.utility, Utility::heuristic);
  EXPECT_NEAR(18 / std::pow(method.parameters.gradient_noise, 2), s.rule.capacity, 1e-9);
}

}  // namespace
}  // namespace dpsosp::noisy_newton_test
