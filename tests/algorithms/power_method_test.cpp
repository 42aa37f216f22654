// SPDX-License-Identifier: Apache-2.0
// The noisy power method, and the selection that tests points with it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/power_method.hpp"
#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::avdiukhin_2024::power_method_test {
namespace {

constexpr StreamKey key{.seed = 4, .purpose = Purpose::algorithm};

Problem glm() {
  return find_problem("glm-sigmoid")
      ->make({.records = 60, .dimension = 8, .seed = 1, .data_seed = 1});
}

Problem double_well(Index n, Index d = 10) {
  return find_problem("double-well")
      ->make({.records = n, .dimension = d, .seed = 1, .data_seed = 1});
}

Matrix dense_hessian(const Problem& p, const Vector& x) {
  Matrix H(x.size(), x.size());
  for (Index j = 0; j < x.size(); ++j)
    p.objective().hessian_product(x, Vector::Unit(x.size(), j), H.col(j));
  return H;
}

Vector some_point(Index d) {
  Vector x(d);
  for (Index j = 0; j < d; ++j) x[j] = 0.3 * std::sin(1.0 + static_cast<double>(j));
  return x;
}

/// The Rayleigh quotient of Π_t (1 + γ_t (M − λ)) v₀, or of (M − λ)^{k−1} v₀, by the spectrum.
double by_spectrum(const Matrix& H, Vector v, const PowerMethod& m) {
  const SymmetricEigen eigen = symmetric_eigen(H);
  Vector weights = eigen.vectors.transpose() * v;
  for (Index j = 0; j < v.size(); ++j) {
    const double a = m.hessian_limit - eigen.values[j];
    for (Index t = 1; t < m.products; ++t)
      weights[j] *= m.gain > 0 ? 1.0 + m.gain / static_cast<double>(t) * a : a / m.hessian_limit;
  }
  return (weights.array().square() * eigen.values.array()).sum() / weights.squaredNorm();
}

TEST(NoisyPowerMethod, WithoutNoiseIsThatOfTheSpectrum) {
  const Problem p = glm();
  const Vector x = some_point(8);
  const Matrix H = dense_hessian(p, x);
  for (const double gain : {0.0, 2.0})
    for (const Index products : {1, 2, 7, 40}) {
      const PowerMethod m{products, gain, p.facts.constants[constant::smoothness], 1.0};
      UnsoundCurator curator(p.facts, *p.records, {.seed = 1}, test::no_noise);
      Stream stream(key), same(key);
      const LeastEigenpair found = noisy_power_method(curator, BatchPolicy::all(), x, m, stream);
      Vector start(8);
      same.fill_normal(1.0, start);
      EXPECT_NEAR(found.value, by_spectrum(H, start, m), 1e-12) << gain << ", " << products;
      EXPECT_EQ(found.products, products);
      EXPECT_NEAR(found.direction.norm(), 1.0, 1e-12);
      EXPECT_NEAR(found.direction.dot(H * found.direction), found.value, 1e-12);
    }
}

// avdiukhin-2024 notes, 8
TEST(NoisyPowerMethod, ReachesItsErrorInTheProductsStated) {
  EXPECT_EQ(power_products(0.5, 0.05, 1e4, 0.01), 178);
  const Problem p = glm();
  const Vector x = some_point(8);
  const double M = p.facts.constants[constant::smoothness], error = 0.1 * M;
  const double least = symmetric_eigen(dense_hessian(p, x)).values[0];
  const PowerMethod m{static_cast<Index>(power_products(M, error, 8, 0.05)), 0.0, M, 1.0};
  int far = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    UnsoundCurator curator(p.facts, *p.records, {.seed = 1}, test::no_noise);
    Stream stream({.seed = seed, .purpose = Purpose::algorithm});
    const double value = noisy_power_method(curator, BatchPolicy::all(), x, m, stream).value;
    EXPECT_GE(value, least - 1e-12);
    far += value > least + error;
  }
  EXPECT_LE(far, 5);
}

// ⟨v, y⟩ of one product is vᵀHv + N(0, s²), s = noise · 2M/n.
TEST(NoisyPowerMethod, QuotientHasTheNoiseOfItsProduct) {
  const Problem p = glm();
  const Vector x = some_point(8);
  const Matrix H = dense_hessian(p, x);
  const double M = p.facts.constants[constant::smoothness], s = 3.0 * 2.0 * M / 60.0;
  std::vector<double> standardised;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    UnsoundCurator curator(p.facts, *p.records, {.seed = seed}, {});
    Stream stream({.seed = seed, .purpose = Purpose::algorithm});
    const LeastEigenpair found =
        noisy_power_method(curator, BatchPolicy::all(), x, {1, 0.0, M, 3.0}, stream);
    standardised.push_back((found.value - found.direction.dot(H * found.direction)) / s);
  }
  std::ranges::sort(standardised);
  double distance = 0;
  for (std::size_t k = 0; k < standardised.size(); ++k) {
    const double law = 0.5 * std::erfc(-standardised[k] / std::sqrt(2.0));
    distance = std::max({distance, std::abs(law - static_cast<double>(k) / 2000),
                         std::abs(law - static_cast<double>(k + 1) / 2000)});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(2000.0));  // Kolmogorov-Smirnov at level 1e-3
}

DpSgd selecting(const Problem& p, Scheduled& scheduled, Calibrator calibrator = Calibrator::cks) {
  DpSgd algorithm;
  test::set(algorithm, {{"selection_share", "0.5"}, {"selection_eigenvalue", "power"}});
  scheduled = algorithm.schedule(Schedule::practical, p.facts, {1.0, 1e-5}, calibrator);
  return algorithm;
}

TEST(PowerSelection, KeepsTheBudgetInEveryProduct) {
  const Problem p = double_well(20000);
  for (const Calibrator calibrator :
       {Calibrator::cks, Calibrator::rdp, Calibrator::exact_gaussian}) {
    Scheduled scheduled;
    const DpSgd algorithm = selecting(p, scheduled, calibrator);
    algorithm.check(p.facts);
    EXPECT_EQ(algorithm.parameters.selection.epsilon, 0.0);
    EXPECT_GT(algorithm.parameters.power_products, 1);
    EXPECT_GT(algorithm.parameters.power_noise, 0);
    // whatever is accepted: all candidates and all of their products fit
    DpSgd asks_all = algorithm;
    asks_all.parameters.selection.slack = 1e-9;
    EXPECT_TRUE(test::run_enforced(asks_all, p.facts, *p.records, scheduled.rule)
                    .outcome.point.allFinite());
    const test::Ran ran = test::run_enforced(algorithm, p.facts, *p.records, scheduled.rule);
    std::int64_t products = 0;
    double charged = 0;
    for (const LedgerEntry& e : ran.ledger.entries()) {
      products += e.query == "hessian_product" ? e.count : 0;
      charged += static_cast<double>(e.count) * scheduled.rule.charge(*e.event);
    }
    EXPECT_GT(products, 0);
    EXPECT_LE(charged, scheduled.rule.capacity * (1 + 1e-9));
    const double planned = static_cast<double>(power_selection_queries(
        algorithm.parameters.selection.candidates, algorithm.parameters.power_products));
    const GaussianPlan one =
        plan_gaussian(BatchPolicy::all(), BatchUse::one_query, 20000, 1.0,
                      Noise::sensitivity_ratio(algorithm.parameters.power_noise));
    EXPECT_NEAR(planned * scheduled.rule.charge(*one.event) / scheduled.rule.capacity, 0.5, 1e-6);
  }
}

/// A run of no steps: the last point is the start, which alone is asked.
Outcome ask(const Problem& p, const Vector& x, double alpha) {
  PublicFacts facts = p.facts;
  facts.initial_point = x;
  DpSgd algorithm;
  algorithm.parameters = {.steps = 1, .step_size = 1e-12, .clip = 10, .noise = 1};
  algorithm.parameters.selection.alpha = alpha;
  algorithm.parameters.hessian_limit = p.facts.constants[constant::smoothness];
  algorithm.parameters.power_products = 30;
  algorithm.parameters.power_noise = 1e-6;  // d s² of it is taken off the squared gradient norm
  algorithm.check(facts);
  return test::run_unsound(algorithm, facts, *p.records, test::exact).outcome;
}

TEST(PowerSelection, AsksForGradientAndCurvature) {
  const Problem p = double_well(100);
  const double rho = p.facts.constants[constant::hessian_lipschitz];
  const Vector saddle = Vector::Zero(10);
  Vector well = Vector::Zero(10), slope = Vector::Zero(10);
  well[0] = 1.9150080;
  slope[1] = 1.0;  // gradient 1, λ_min = −1
  // λ_min = −1 at the saddle, 1.5 √(ρα) = 1 at α = 4/(9ρ)
  EXPECT_EQ(ask(p, saddle, 0.43 / rho).counts.at("selected"), 0);
  EXPECT_EQ(ask(p, saddle, 0.46 / rho).counts.at("selected"), 1);
  EXPECT_EQ(ask(p, saddle, 0.46 / rho).status, Status::certified);
  EXPECT_EQ(ask(p, well, 1e-3).counts.at("selected"), 1);
  EXPECT_EQ(ask(p, slope, 0.66).counts.at("selected"), 0);
  EXPECT_EQ(ask(p, slope, 0.67).counts.at("selected"), 1);
}

// E‖g‖² is ‖∇F‖² + d s²: at a well, with noise far above α, the norm of g alone would refuse.
TEST(PowerSelection, TakesTheNoiseOffTheGradientNorm) {
  const Problem p = double_well(100);
  PublicFacts facts = p.facts;
  facts.initial_point = Vector::Zero(10);
  facts.initial_point[0] = 1.9150080;
  DpSgd algorithm;
  algorithm.parameters = {.steps = 1, .step_size = 1e-12, .clip = 3, .noise = 1};
  algorithm.parameters.selection.alpha = 0.08;  // 1.5 α = 0.12; s = 0.06, s √d = 0.19
  algorithm.parameters.hessian_limit = p.facts.constants[constant::smoothness];
  algorithm.parameters.power_products = 5;
  algorithm.parameters.power_noise = 1;
  int selected = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    selected += static_cast<int>(
        test::run_unsound(algorithm, facts, *p.records, {}, seed).outcome.counts.at("selected"));
  EXPECT_GE(selected, 30);
}

TEST(PowerSelection, RefusesProblemsWithoutHessians) {
  const Problem p = test::small_problem("matrix-sensing");
  DpSgd algorithm;
  algorithm.parameters.selection.share = 0.5;
  algorithm.parameters.eigenvalue = EigenvalueRule::power;
  EXPECT_THROW(algorithm.schedule(Schedule::practical, p.facts, {1.0, 1e-5}, Calibrator::cks),
               InputError);
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024::power_method_test
