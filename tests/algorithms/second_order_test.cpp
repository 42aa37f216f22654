// SPDX-License-Identifier: Apache-2.0
// Second-order baselines: reference points of their schedules, textbook methods without noise,
// budgets, and errata of their sources.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "dpsosp/algorithms/trust_region.hpp"
#include "dpsosp/baselines/dp_gd_sosp.hpp"
#include "dpsosp/baselines/dp_srm.hpp"
#include "dpsosp/baselines/dp_trust_region.hpp"
#include "dpsosp/baselines/short_steps.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"
#include "runs.hpp"

namespace dpsosp {
namespace {

using namespace baselines;
using test::Ran;

constexpr PrivacyBudget reference_budget{1.0, 1e-6};

/// n = 10⁵, d = 50, G = M = ρ = Δ₀ = 1: baselines, section 0.
PublicFacts reference_facts(double M = 1.0, double rho = 1.0) {
  PublicFacts facts;
  facts.name = "reference";
  facts.dimension = 50;
  facts.records = 100'000;
  facts.initial_point = Vector::Zero(50);
  for (const auto& [name, value] : {std::pair{constant::lipschitz, 1.0},
                                    std::pair{constant::smoothness, M},
                                    std::pair{constant::hessian_lipschitz, rho},
                                    std::pair{constant::suboptimality, 1.0}})
    facts.constants.set(name, {value, Origin::proved});
  return facts;
}
template <class Method>
Scheduled at_reference(Method& method,
                       double alpha,
                       Schedule kind = Schedule::practical,
                       Calibrator calibrator = Calibrator::cks) {
  method.parameters.target = alpha;
  return method.schedule(kind, reference_facts(), reference_budget, calibrator);
}
constexpr double sensitivity = 2.0 / 100'000;
const double frobenius = 2.0 * std::sqrt(50.0) / 100'000;

Matrix hessian_of(const Objective& f, const Vector& x) {
  Matrix h(x.size(), x.size());
  for (Index j = 0; j < x.size(); ++j) {
    Vector column(x.size());
    f.hessian_product(x, Vector::Unit(x.size(), j), column);
    h.col(j) = column;
  }
  return 0.5 * (h + h.transpose());
}
Vector gradient_of(const Objective& f, const Vector& x) {
  Vector g(x.size());
  f.gradient(x, g);
  return g;
}

/// An objective with a saddle, asked for through the door without noise and clipping.
struct Exact {
  explicit Exact(const std::string& name = "cosine-saddle")
      : problem(test::small_problem(name, 60)) {
    Stream({.seed = 6, .purpose = Purpose::test}).add_normal(0.3, problem.facts.initial_point);
  }
  Ran run(const Algorithm& algorithm) const {
    return test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
  }
  const Objective& f() const { return *problem.empirical; }
  Problem problem;
};

// ---- DP-GD with selection

TEST(DpGdSosp, HasTheNumbersOfTheReferencePoint) {
  DpGdSosp method;
  at_reference(method, 0.1);
  const DpGdSospHorizon h = dp_gd_sosp_horizon(method.parameters, 50, 1, 1, 1, 0.1);
  EXPECT_EQ(h.log_factor, 1.0);
  EXPECT_NEAR(h.decrease, 0.188152416, 5e-10);
  EXPECT_NEAR(h.escape, 2.21359436, 5e-9);
  EXPECT_EQ(method.parameters.steps, 400);
  EXPECT_NEAR(method.parameters.noise * sensitivity, 0.00256305115, 5e-12);
}

// s₁ = (2G/n) sqrt(2T/R) and s₂ = (M/n) sqrt(4dT/R) on R/4 each, T the number of candidates.
TEST(DpGdSosp, ItsNoisySelectionHasTheNoiseOfTheSpecification) {
  DpGdSosp method;
  method.parameters.stored = 400;
  const Scheduled s = at_reference(method, 0.1, Schedule::paper);
  const double R = s.rule.capacity;
  EXPECT_NEAR(R, 0.0243559703595, 1e-12);
  EXPECT_EQ(method.parameters.selection, Selecting::noisy);
  EXPECT_NEAR(
      method.parameters.selection_gradient_noise * sensitivity / (2e-5 * std::sqrt(800 / R)),
      1.0,
      1e-12);
  EXPECT_NEAR(method.parameters.selection_hessian_noise * frobenius / std::numbers::sqrt2 /
                  (1e-5 * std::sqrt(4 * 50 * 400 / R)),
              1.0,
              1e-12);
}

TEST(DpGdSosp, WithoutNoiseIsGradientDescentAndReturnsTheFirstStoredPointThatIsStationary) {
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
    const double curvature =
        -Eigen::SelfAdjointEigenSolver<Matrix>(hessian_of(exact.f(), x)).eigenvalues()[0];
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
TEST(DpGdSosp, ItsHorizonGivesEveryDescentStepTheDecreaseThatSmoothnessAllows) {
  DpGdSospParameters p;
  const double M = 100, rho = 1, B = 1, alpha = 0.1;
  const double needed = B / (alpha * alpha / (2 * M));  // steps at ‖∇F‖ = α exactly
  EXPECT_GE(dp_gd_sosp_horizon(p, 50, M, rho, B, alpha).steps, needed);
  p.printed_horizon = true;
  EXPECT_LT(dp_gd_sosp_horizon(p, 50, M, rho, B, alpha).steps, needed);
  EXPECT_EQ(dp_gd_sosp_horizon(p, 50, 1, rho, B, alpha).steps,
            B / (alpha * alpha / 4));  // invisible at M = ρ = 1
}

// B2: in one dimension GOE(s) is N(0, 2s²); the acceptance threshold must hold on 2s + tail.
TEST(GoeTail, HoldsWhereTheOneOfTheSpecificationDoesNot) {
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
TEST(DpGdSosp, TheReferenceCodesNoiseCostsTwiceItsEpsilon) {
  const double epsilon = 1, log_delta = std::log(1e6);
  const double rho = 2 * (epsilon * epsilon / log_delta) / 2;  // T cancels
  const double cost = rho + 2 * std::sqrt(rho * log_delta);    // Bun-Steinke
  EXPECT_NEAR(cost, 2 * epsilon, 0.08);
  EXPECT_GT(cost, 2 * epsilon);
  EXPECT_LT(rho_for(epsilon, 1e-6, Conversion::bs), rho);
}

// ---- trust region

void expect_minimiser(const Matrix& H, const Vector& g, double r, const TrustRegionStep& s) {
  const double scale = H.norm() + g.norm() / r;
  const double least = Eigen::SelfAdjointEigenSolver<Matrix>(H).eigenvalues()[0];
  EXPECT_LE(s.step.norm(), r * (1 + 1e-12));
  EXPECT_GE(s.multiplier, 0);
  EXPECT_GE(least + s.multiplier, -1e-12 * scale);
  EXPECT_LE((H * s.step + s.multiplier * s.step + g).norm(), 1e-10 * scale * r);
  if (s.multiplier > 1e-10 * scale) {
    EXPECT_NEAR(s.step.norm() / r, 1, 1e-10);
  }
}

TEST(TrustRegion, SatisfiesTheConditionsOfAMinimiser) {
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

TEST(TrustRegion, SolvesTheHardCaseAndItsNeighbourhood) {
  const Matrix rotation =
      Eigen::HouseholderQR<Matrix>(Matrix::Random(4, 4)).householderQ() * Matrix::Identity(4, 4);
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

TEST(TrustRegion, IsNoWorseThanAnyPointOfAGrid) {
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

TEST(TrustRegion, WithoutCurvatureAndSlopeStays) {
  const TrustRegionStep s = trust_region_step(Matrix::Zero(3, 3), Vector::Zero(3), 1.0);
  EXPECT_EQ(s.step, Vector::Zero(3));
  EXPECT_EQ(s.multiplier, 0);
}

TEST(DpTrustRegion, HasTheNumbersOfTheReferencePoint) {
  DpTrustRegion method;
  at_reference(method, 0.1);
  const DpTrustRegionParameters& p = method.parameters;
  EXPECT_EQ(p.steps, 190);
  EXPECT_NEAR(p.radius(), 0.316227766, 5e-10);
  EXPECT_NEAR(p.gradient_noise * sensitivity, 0.00176646110, 5e-12);
  EXPECT_NEAR(p.hessian_noise * frobenius, 0.0124907662, 5e-11);  // i.i.d.; GOE is 1/√2 of it
}

TEST(DpTrustRegion, ItsTolerancesHoldFromTheStatedAccuracyOn) {
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

TEST(DpTrustRegion, WithoutNoiseIsTheTrustRegionMethod) {
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
TEST(DpTrustRegion, WithoutNoiseEveryStepLowersTheObjectiveAndTheOutputIsStationary) {
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
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(hessian_of(exact.f(), ran.outcome.point))
                .eigenvalues()[0],
            -2.17 * std::sqrt(rho * alpha));
}

/// A slope of 2α everywhere.
class SlopeRecords final : public Records {
 public:
  explicit SlopeRecords(double slope) : slope_(slope) {}
  Index size() const override { return 10; }
  bool has_second_order() const override { return true; }
  ClipReport add_gradients(
      const Point&, Block, const BatchView& batch, double, VectorRef out) const override {
    out[0] += slope_ * static_cast<double>(batch.size());
    return {};
  }
  ClipReport add_gradient_differences(
      const Point&, const Point&, Block, const BatchView&, double, VectorRef) const override {
    return {};
  }
  ClipReport add_hessian_products(
      const Point&, ConstVectorRef, const BatchView&, double, VectorRef) const override {
    return {};
  }

 private:
  double slope_;
};

// B4: down a slope of 2α the horizon's steps of length sqrt(α/ρ) lower F by 12 Δ₀, and those of
// length α/ρ by 12 sqrt(α/ρ) Δ₀, less than Δ₀ for α < ρ/144.
TEST(DpTrustRegion, TheHorizonNeedsTheRadiusThatItIsComputedFrom) {
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
    const Ran ran = test::run_unsound(method, facts, records, test::exact);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    return -2 * alpha * ran.outcome.point[0];
  };
  EXPECT_NEAR(fallen(RadiusRule::root) / (12 * B), 1, 1e-3);
  EXPECT_NEAR(fallen(RadiusRule::printed) / (0.6 * B), 1, 1e-3);
}

// B4: the reference code multiplies the Hessian's noise by √d once more than its budget asks.
TEST(DpTrustRegion, ThePrintedHessianNoiseLeavesItsShareUnspent) {
  const Problem p = test::small_problem("cosine-saddle", 60);
  const auto spent = [&](bool repeated) {
    DpTrustRegion method;
    method.parameters.repeated_root = repeated;
    const Scheduled s = method.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
    test::set(method, {{"alpha", "1e-300"}});
    const Ran ran = test::run_enforced(method, p.facts, *p.records, s.rule);
    double rho = 0;
    for (const LedgerEntry& e : ran.ledger.entries())
      rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
    return rho / s.rule.capacity;
  };
  EXPECT_NEAR(spent(false), 1.0, 1e-9);
  EXPECT_NEAR(spent(true), 0.5 + 0.5 / 6, 1e-9);  // d = 6
}

// ---- short steps

TEST(ShortSteps, HasTheNumbersOfTheReferencePoint) {
  ShortSteps method;
  at_reference(method, 0.1);
  const ShortStepsParameters& p = method.parameters;
  EXPECT_NEAR(p.gradient_threshold(), 0.0909090909, 5e-11);
  EXPECT_NEAR(p.curvature_threshold(), 0.287479787, 5e-10);
  EXPECT_NEAR(p.decrease(), 0.00330578512, 5e-12);
  EXPECT_EQ(p.steps, 303);
  EXPECT_NEAR(p.gradient_noise * sensitivity, 0.00223073813, 5e-12);
  EXPECT_NEAR(p.hessian_noise * frobenius, 0.0157737006, 5e-11);
  method.parameters.step_rule = StepRule::line_search;
  at_reference(method, 0.1);
  EXPECT_NEAR(p.safe_step(), 0.6, 1e-15);
  EXPECT_NEAR(p.safe_curvature_step(), 1.64628607910488, 5e-14);
  EXPECT_NEAR(p.decrease(), 0.00148760331, 5e-12);
  // noise multipliers and Laplace ε⁻¹ all equal sqrt(3T/(2R))
  const double z = std::sqrt(3.0 * static_cast<double>(p.steps) / (2 * 0.0243559703595));
  EXPECT_NEAR(p.gradient_noise / z, 1, 1e-10);
  EXPECT_NEAR(p.hessian_noise / z, 1, 1e-10);
  EXPECT_NEAR(p.search_epsilon * z, 1, 1e-10);
}

/// The method on exact gradients and Hessians.
TEST(ShortSteps, WithoutNoiseIsTheMethodOnExactDerivatives) {
  for (const std::string name : {"cosine-saddle", "double-well"}) {
    const Exact exact(name);
    ShortSteps method;
    ShortStepsParameters& p = method.parameters;
    p.alpha = 0.02;
    p.smoothness = exact.problem.facts.constants[constant::smoothness];
    p.hessian_lipschitz = exact.problem.facts.constants[constant::hessian_lipschitz];
    p.steps = 400;
    const Ran ran = exact.run(method);
    Vector x = exact.problem.facts.initial_point;
    for (const Vector& seen : ran.iterates) {
      EXPECT_LT((seen - x).norm(), 1e-8) << name;
      const Vector g = gradient_of(exact.f(), x);
      if (g.norm() > p.gradient_threshold()) {
        x -= g / p.smoothness;
        continue;
      }
      const Eigen::SelfAdjointEigenSolver<Matrix> eigen(hessian_of(exact.f(), x));
      const double lambda = eigen.eigenvalues()[0];
      if (lambda > -p.curvature_threshold()) break;
      Vector v = eigen.eigenvectors().col(0);
      if (v.dot(g) > 0) v = -v;
      x += 2 * std::abs(lambda) / p.hessian_lipschitz * v;
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-8) << name;
    EXPECT_EQ(ran.outcome.status, Status::certified) << name;
  }
}

TEST(ShortSteps, WithoutNoiseEveryRuleOfStepsLowersTheObjectiveByAtLeastItsPromise) {
  const Exact exact;
  for (const StepRule rule : {StepRule::fixed, StepRule::line_search})
    for (const CurvatureRule curvature : {CurvatureRule::dense, CurvatureRule::products}) {
      ShortSteps method;
      ShortStepsParameters& p = method.parameters;
      p.alpha = 0.2;
      p.clip = 10;
      p.steps = 400;
      p.step_rule = rule;
      p.curvature = curvature;
      p.power_iterations = 60;
      Exact start;
      start.problem.facts.initial_point.setConstant(0.001);
      start.problem.facts.initial_point[0] = std::numbers::pi;  // a saddle: curvature first
      const Ran ran = start.run(method);
      ASSERT_GT(ran.iterates.size(), 2U);
      EXPECT_GE(ran.outcome.counts.at("curvature_steps"), 1);
      for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
        EXPECT_LE(exact.f().value(ran.iterates[t + 1]),
                  exact.f().value(ran.iterates[t]) - p.decrease());
      EXPECT_EQ(ran.outcome.status, Status::certified);
    }
}

// Backtracking by hand: b times the safe step, then β of the last, the safe step at the end.
TEST(ShortSteps, TheLineSearchTakesTheLongestTrialThatLowersTheObjectiveEnough) {
  const Exact exact;
  ShortSteps method;
  ShortStepsParameters& p = method.parameters;
  p.step_rule = StepRule::line_search;
  p.alpha = 0.02;
  p.clip = 10;
  p.steps = 12;
  const Ran ran = exact.run(method);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    const Vector& x = ran.iterates[t];
    const Vector g = gradient_of(exact.f(), x);
    if (g.norm() <= p.gradient_threshold()) break;
    double gamma = 20 * p.safe_step();
    const auto tries = static_cast<int>(std::ceil(std::log(1.0 / 20) / std::log(0.6)));
    EXPECT_EQ(tries, 6);
    int k = 0;
    while (k < tries &&
           exact.f().value(x) - exact.f().value(x - gamma * g) < 0.6 * gamma * g.squaredNorm()) {
      gamma *= 0.6;
      ++k;
    }
    if (k == tries) gamma = p.safe_step();
    EXPECT_LT((ran.iterates[t + 1] - (x - gamma * g)).norm(), 1e-9) << t;
  }
}

TEST(ShortSteps, ThePowerMethodMeetsTheLowestEigenvalueToAFifthOfItsThreshold) {
  const Problem p = test::small_problem("double-well", 60);
  ShortSteps method;
  ShortStepsParameters& q = method.parameters;
  q.alpha = 0.3;
  q.curvature = CurvatureRule::products;
  q.smoothness = q.hessian_limit = p.facts.constants[constant::smoothness];
  q.hessian_lipschitz = p.facts.constants[constant::hessian_lipschitz];
  q.steps = 1;
  q.power_iterations = 100;
  PublicFacts facts = p.facts;
  facts.initial_point.setZero();  // the saddle
  const Ran ran = test::run_unsound(method, facts, *p.records, test::exact);
  const double lambda = -(ran.outcome.point - facts.initial_point).norm() * q.hessian_lipschitz / 2;
  const double exact =
      Eigen::SelfAdjointEigenSolver<Matrix>(hessian_of(*p.empirical, facts.initial_point))
          .eigenvalues()[0];
  EXPECT_NEAR(lambda, exact, q.curvature_threshold() / 5);
  EXPECT_LT(lambda, -q.curvature_threshold());
}

// B5: the code's line search takes e_H for e_H³ in the decrease of a curvature step. F falls along
// λ = −e_H by 2/3 · e_H³/ρ² at most where f''' = ρ, so a decrease in e_H is never reached.
TEST(ShortSteps, TheDecreaseOfACurvatureStepIsCubic) {
  ShortStepsParameters p;
  p.step_rule = StepRule::line_search;
  p.smoothness = 1e-3;  // so that the curvature's decrease is the smaller one
  for (const double alpha : {1e-1, 1e-2, 1e-3}) {
    p.alpha = alpha;
    const double eH = p.curvature_threshold();
    const double deepest = 2.0 / 3 * std::pow(eH, 3);  // of −e_H t²/2 + t³/6 at t = 2 e_H
    EXPECT_LE(p.decrease(), deepest);
    EXPECT_NEAR(
        p.decrease() / std::pow(eH, 3), 0.25 * 0.25 * std::pow(p.safe_curvature_step(), 2), 1e-12);
    const double printed = 0.25 * 0.25 * std::pow(p.safe_curvature_step(), 2) * eH;
    if (alpha <= 1e-2) {
      EXPECT_GT(printed, deepest);
    }
  }
}

// B6: the code's sensitivity of the curvature line search has the smoothness constant in place of
// G. On a slope of G a loss moves by G‖x − y‖ whatever M is.
TEST(ShortSteps, ItsLineSearchIsChargedTheSlopeOfTheLosses) {
  const Problem p = test::small_problem("cosine-saddle", 60);
  ShortSteps method;
  ShortStepsParameters& q = method.parameters;
  q.step_rule = StepRule::line_search;
  q.clip = 2.5;  // G, where M = 1
  q.alpha = 1e-3;
  q.steps = 1;
  q.gradient_noise = 1;
  q.search_epsilon = 0.5;
  PublicFacts facts = p.facts;
  facts.initial_point.setConstant(0.4);
  const Ran ran = test::run_unsound(method, facts, *p.records, {});
  const LedgerEntry& search = ran.ledger.entries().back();
  ASSERT_EQ(search.query, "line_search");
  const test::SpyRecords spy(*p.records);
  const Ran again = test::run_unsound(method, facts, spy, {});
  double farthest = 0;
  for (const test::Asked& a : spy.asked)
    if (a.kind == test::Asked::Kind::loss)
      farthest = std::max(farthest, (a.x - a.x_previous).norm());
  ASSERT_GT(farthest, 0);
  EXPECT_NEAR(search.sensitivity_high / (2 * 2.5 * farthest / 60), 1, 1e-6);
  EXPECT_GT(search.sensitivity_high, 1.5 * (2 * 1.0 * farthest / 60));  // with M it would be less
}

// B7: the code's mini-batch runs keep the sensitivity 2G/n of the full batch.
TEST(ShortSteps, AMiniBatchHasTheSensitivityOfItsOwnSize) {
  const Problem p = test::small_problem("cosine-saddle", 60);
  ShortSteps method;
  test::set(method, {{"steps", "1"}, {"sampling", "sample"}, {"batch", "6"}});
  method.set_common_noise(2);
  const Ran ran = test::run_unsound(method, p.facts, *p.records, {});
  EXPECT_DOUBLE_EQ(ran.ledger.entries()[0].sensitivity_high, 2 * 1.0 / 6);
  EXPECT_DOUBLE_EQ(ran.ledger.entries()[0].deviation_high, 2 * 2 * 1.0 / 6);
}

// ---- DP-SRM

TEST(DpSrm, HasTheNumbersOfTheReferencePoint) {
  const DpSrmNumbers s = dp_srm_numbers(numbers_of(reference_facts()), reference_budget, 1.0);
  EXPECT_NEAR(s.accuracy, 0.00410310201, 5e-12);
  EXPECT_EQ(s.steps, 237594);
  EXPECT_NEAR(s.momentum, 0.00410310201, 5e-12);
  EXPECT_EQ(std::ceil(s.batch), 244);
  EXPECT_EQ(std::ceil(s.corollary_batch), 206);
}

TEST(DpSrm, OnFullBatchesWithoutNoiseIsNormalisedGradientDescent) {
  const Exact exact;
  for (const double gamma : {0.1, 0.7, 1.0}) {
    DpSrm method;
    DpSrmParameters& p = method.parameters;
    p.steps = 50;
    p.accuracy = 0.2;
    p.step_divisor = 1.5;
    p.momentum = gamma;
    p.output = OutputRule::last;
    const Ran ran = exact.run(method);
    Vector x = exact.problem.facts.initial_point;
    for (std::size_t t = 0; t < 50; ++t) {
      EXPECT_LT((ran.iterates[t] - x).norm(), 1e-11) << gamma;
      const Vector g = gradient_of(exact.f(), x);
      x -= std::min(0.2 / (1.5 * g.norm()), 0.5 / 1.5) * g;
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-11);
  }
}

TEST(DpSrm, NoStepIsLongerThanItsClipOfDifferencesCovers) {
  const Problem p = test::small_problem("cosine-saddle", 200);
  DpSrm method;
  const Scheduled s = method.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = test::run_enforced(method, p.facts, *p.records, s.rule);
  const DpSrmParameters& q = method.parameters;
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    EXPECT_LE(q.smoothness * (ran.iterates[t + 1] - ran.iterates[t]).norm(),
              q.clip_difference * (1 + 1e-9));
}

TEST(DpSrm, WithTheCalibratorRdpItSamplesTheBatchOfItsCorollary) {
  const Problem p = test::small_problem("cosine-saddle", 400);
  for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
    DpSrm method;
    const Scheduled s = method.schedule(kind, p.facts, {1, 1e-6}, Calibrator::rdp);
    const DpSrmNumbers e = dp_srm_numbers(numbers_of(p.facts), {1, 1e-6}, 1.0);
    EXPECT_EQ(method.parameters.sampling, Sampling::sample);
    EXPECT_EQ(static_cast<double>(method.parameters.batch),
              std::max(1.0,
                       std::ceil(std::min(400.0,
                                          kind == Schedule::paper ? e.batch : e.corollary_batch))));
    const Ran ran = test::run_enforced(method, p.facts, *p.records, s.rule);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    EXPECT_NEAR(ran.ledger.spent(1e-6, {.accountant = Accountant::rdp}).epsilon, 1, 1e-6);
  }
}

// B8: the closed form 3.5 γ²a(Δ/s)² of the source needs (s/Δ)² ≥ 0.7; with its own parameters the
// condition is ζ ≤ 20 G³/(C³ M Δ₀ d), which only n ε ≳ d² meets.
TEST(DpSrm, TheClosedFormOfItsAmplificationFailsForItsOwnParameters) {
  const auto per_batch_ratio_squared = [](double n, double d) {
    const double epsilon = 1, log_delta = std::log(1e6), beta = 0.5;
    PublicFacts facts = reference_facts();
    ProblemNumbers q = numbers_of(facts);
    q.n = n;
    q.d = d;
    const DpSrmNumbers s = dp_srm_numbers(q, reference_budget, 1.0);
    const double a = 1 + log_delta / ((1 - beta) * epsilon);
    const double variance = 14 * s.steps * a / (beta * n * n * epsilon);  // s₀² at G = 1
    return variance * s.batch * s.batch / 4;                              // (s₀/(2G/b₀))²
  };
  EXPECT_LT(per_batch_ratio_squared(1e4, 1e4), 0.7);
  EXPECT_GE(per_batch_ratio_squared(1e9, 10), 0.7);
}

// B9: with C₁ and C₂ exchanged the sensitivity would be 2(γζ/n₀ + (1 − γ)G)/b.
TEST(DpSrm, IsChargedTheCombinationWithGammaOnTheGradient) {
  const Problem p = test::small_problem("cosine-saddle", 60);
  DpSrm method;
  DpSrmParameters& q = method.parameters;
  q.steps = 3;
  q.momentum = 0.1;
  q.clip = 2;
  q.clip_difference = 0.05;
  method.set_common_noise(3);
  const Ran ran = test::run_unsound(method, p.facts, *p.records, {});
  ASSERT_EQ(ran.ledger.entries().size(), 2U);
  EXPECT_NEAR(ran.ledger.entries()[1].sensitivity_high, 2 * (0.1 * 2 + 0.9 * 0.05) / 60, 1e-15);
}

// ---- budgets

template <class Method>
void expect_budget_spent(Method method, bool all_of_it, Schedule kind = Schedule::practical) {
  const Problem p = test::small_problem("cosine-saddle", 60);
  const Scheduled s = method.schedule(kind, p.facts, {1, 1e-6}, Calibrator::cks);
  test::set(method, {{"alpha", "1e-300"}});  // no end but the horizon's
  const Ran ran = test::run_enforced(method, p.facts, *p.records, s.rule);
  EXPECT_NE(ran.outcome.status, Status::budget);
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_LE(rho, s.rule.capacity * (1 + 1e-12));
  if (all_of_it) {
    EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
  }
}

TEST(SecondOrderBudgets, OfFullLengthRunsAreSpent) {
  expect_budget_spent(DpTrustRegion(), true);
  DpGdSosp scalar, noisy;
  noisy.parameters.selection = Selecting::noisy;
  for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
    expect_budget_spent(scalar, kind == Schedule::practical, kind);
    expect_budget_spent(noisy, false, kind);  // what follows an acceptance stays unspent
  }
  for (const bool phases : {false, true})
    for (const StepRule rule : {StepRule::fixed, StepRule::line_search})
      for (const CurvatureRule curvature : {CurvatureRule::dense, CurvatureRule::products}) {
        ShortSteps method;
        method.parameters.two_phase = phases;
        method.parameters.step_rule = rule;
        method.parameters.curvature = curvature;
        expect_budget_spent(method, false);  // curvature that no step asked for stays unspent
      }
}

/// A saddle everywhere: no gradient and the Hessian −I, so that every step asks for curvature.
class SaddleRecords final : public Records {
 public:
  explicit SaddleRecords(Index size) : size_(size) {}
  Index size() const override { return size_; }
  bool has_second_order() const override { return true; }
  ClipReport add_gradients(
      const Point&, Block, const BatchView&, double, VectorRef) const override {
    return {};
  }
  ClipReport add_gradient_differences(
      const Point&, const Point&, Block, const BatchView&, double, VectorRef) const override {
    return {};
  }
  ClipReport add_loss_differences(
      const Point&, const Point&, const BatchView&, double, double&) const override {
    return {};
  }
  ClipReport add_hessian_products(const Point&,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double,
                                  VectorRef out) const override {
    out -= static_cast<double>(batch.size()) * v;
    return {};
  }

 private:
  Index size_;
};

TEST(SecondOrderBudgets, OfShortStepsAreSpentWhereEveryStepAsksForCurvature) {
  PublicFacts facts = reference_facts();
  facts.records = 10'000'000;
  facts.dimension = 6;
  facts.initial_point = Vector::Zero(6);
  const SaddleRecords records(facts.records);
  for (const bool phases : {false, true})
    for (const CurvatureRule curvature : {CurvatureRule::dense, CurvatureRule::products}) {
      ShortSteps method;
      ShortStepsParameters& p = method.parameters;
      p.two_phase = phases;
      p.curvature = curvature;
      p.target = 0.1;
      const Scheduled s = method.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
      const Ran ran = test::run_enforced(method, facts, records, s.rule);
      EXPECT_EQ(ran.outcome.status, Status::steps_done);
      EXPECT_EQ(ran.outcome.steps, p.steps + (phases ? 17 : 0));  // ⌊√303⌋
      EXPECT_EQ(ran.outcome.counts.at("curvature_steps"), ran.outcome.steps);
      double rho = 0;
      for (const LedgerEntry& e : ran.ledger.entries())
        rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
      EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
    }
}

TEST(SecondOrderBudgets, OfANoisySelectionThatAcceptsNothingAreSpent) {
  PublicFacts facts = reference_facts();
  facts.records = 10'000'000;
  facts.dimension = 6;
  facts.initial_point = Vector::Zero(6);
  const SaddleRecords records(facts.records);
  DpGdSosp method;
  method.parameters.selection = Selecting::noisy;
  method.parameters.target = 0.1;
  const Scheduled s = method.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = test::run_enforced(method, facts, records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_EQ(ran.outcome.counts.at("asked"), 200);
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
}

// What the first phase does not ask for is the second one's: with gradients alone the second phase
// has R − 3R/8.
TEST(SecondOrderBudgets, TheSecondPhaseHasWhatTheFirstOneLeft) {
  PublicFacts facts = reference_facts();
  const test::ScriptedRecords records(
      facts.records,
      [](std::size_t, const Point& at, Block) -> Vector { return Vector::Unit(at.x.size(), 0); });
  ShortSteps method;
  method.parameters.two_phase = true;
  method.parameters.target = 0.1;
  const Scheduled s = method.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = test::run_enforced(method, facts, records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_NEAR(rho / s.rule.capacity, 0.375 + 0.5 * 0.625, 1e-9);
}

TEST(SecondOrderMethods, RefuseMinimaxProblemsAndDenseHessiansInHighDimension) {
  const PublicFacts minimax = test::small_problem("matrix-sensing").facts;
  PublicFacts large = test::small_problem("cosine-saddle").facts;
  large.dimension = 513;
  large.initial_point = Vector::Zero(513);
  DpGdSosp a;
  DpTrustRegion b;
  ShortSteps c, products;
  products.parameters.curvature = CurvatureRule::products;
  for (Algorithm* method : std::initializer_list<Algorithm*>{&a, &b, &c}) {
    EXPECT_THROW(method->check(minimax), InputError);
    EXPECT_THROW(method->check(large), InputError);
  }
  EXPECT_NO_THROW(products.check(large));
}

}  // namespace
}  // namespace dpsosp
