// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/certificate.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "test_objectives.hpp"

namespace dpsosp::certificate_test {
namespace {

using testing::Quadratic;
using testing::random_vector;
using testing::Wells;

TEST(SospLevel, MatchesClosedForm) {
  EXPECT_EQ(sosp_level(0.3, 1.0, 2.0), 0.3);
  EXPECT_EQ(sosp_level(0.3, 0.0, 2.0), 0.3);
  EXPECT_EQ(sosp_level(0.3, -1.0, 2.0), 0.5);
  EXPECT_EQ(sosp_level(0.3, -0.5, 2.0), 0.3);
  EXPECT_EQ(sosp_level(0.3, 0.0, 0.0), 0.3);
  EXPECT_TRUE(std::isinf(sosp_level(0.3, -1e-9, 0.0)));
  EXPECT_TRUE(std::isinf(sosp_level(0.3, -1e-200, 0.0)));  // λ² underflows
  EXPECT_THROW(sosp_level(0.3, NAN, 1.0), InputError);     // max would drop it and call x a minimum
  EXPECT_THROW(sosp_level(NAN, 1.0, 1.0), InputError);
  EXPECT_THROW(sosp_level(0, 0, -1), InputError);
  EXPECT_THROW(sosp_level(0, 0, NAN), InputError);
}

TEST(SospLevel, IsSmallestAlphaOfTheDefinition) {
  EXPECT_TRUE(rc::check([](std::uint16_t g, std::int16_t l, std::uint16_t r) {
    const double gradient = g / 1000.0, lambda = l / 1000.0, rho = (1 + r) / 1000.0;
    const double alpha = sosp_level(gradient, lambda, rho);
    const auto is_sosp = [&](double a) {
      return gradient <= a * (1 + 1e-15) && lambda >= -std::sqrt(rho * a) * (1 + 1e-15);
    };
    RC_ASSERT(is_sosp(alpha));
    const bool smaller_would_do = alpha > 0 && is_sosp(alpha * (1 - 1e-12));
    RC_ASSERT(!smaller_would_do);
  }));
}

Quadratic saddle(Index d, double lambda) {
  Vector spectrum = Vector::Ones(d);
  spectrum[d / 2] = lambda;
  return Quadratic(spectrum);
}

TEST(Certificate, NeverCertifiesSaddleAsMinimum) {
  constexpr double rho = 2.0;
  for (const Index d : {2, 40, 512, 513, 3000}) {
    const Quadratic f = saddle(d, -1e-3);
    const Certificate c = certify(f, Vector::Zero(d), {.hessian_lipschitz = rho});
    ASSERT_EQ(c.status, EvaluationStatus::ok);
    EXPECT_EQ(c.gradient_norm, 0.0);
    EXPECT_NEAR(c.lambda_min, -1e-3, 1e-11);
    EXPECT_LE(c.lambda_min_lower, -1e-3);
    EXPECT_GT(c.lambda_min_lower, -1e-3 - 1e-7);
    ASSERT_TRUE(c.sosp_level && c.sosp_level_upper);
    EXPECT_NEAR(*c.sosp_level, 1e-6 / rho, 1e-13);
    EXPECT_GE(*c.sosp_level_upper, 1e-6 / rho);
    EXPECT_NEAR(*c.sosp_level_upper, 1e-6 / rho, 1e-9);
    EXPECT_EQ(c.method, d <= 512 ? CurvatureMethod::dense : CurvatureMethod::lanczos);
  }
}

TEST(Certificate, HoldsAtEveryScaleOfHessian) {
  for (const double scale : {1e-300, 1e-200, 1e-30, 1e-22, 1e-8, 1.0, 1e30, 1e160, 1e200, 1e300})
    for (const Index d : {2, 20, 60, 600}) {
      const Vector spectrum = scale * Vector::LinSpaced(d, -3.0, 4.0);
      const Certificate c = certify(Quadratic(spectrum), Vector::Zero(d), {});
      ASSERT_EQ(c.status, EvaluationStatus::ok) << scale << ' ' << d;
      EXPECT_NEAR(c.lambda_min / scale, -3, 1e-7) << scale << ' ' << d;
      EXPECT_LE(c.lambda_min_lower, spectrum[0]) << scale << ' ' << d;
      EXPECT_GE(c.lambda_min_lower / scale, -3.01) << scale << ' ' << d;
    }
}

TEST(Certificate, BoundCoversSaddleMissedByRitzValue) {
  // Too few steps for a saddle of −1e-3 at the edge of a ramp: the Ritz value says "minimum".
  const Index d = 4000;
  Vector spectrum = Vector::LinSpaced(d, 0.0, 1.0);
  spectrum[0] = -1e-3;
  const Quadratic f(spectrum);
  const Certificate c =
      certify(f, Vector::Zero(d), {.hessian_lipschitz = 1.0, .smoothness = 1.0, .steps = 6});
  EXPECT_GT(c.lambda_min, 0.0);
  EXPECT_EQ(*c.sosp_level, 0.0);
  EXPECT_LE(c.lambda_min_lower, -1e-3);
  EXPECT_GE(*c.sosp_level_upper, 1e-6);
}

TEST(Certificate, WholeMatrixBoundsEveryKindOfSpectrum) {
  const auto certain = [](const Vector& spectrum, const char* which) {
    for (const double scale : {1e-9, 1.0, 1e9}) {
      const Quadratic f(scale * spectrum);
      const Certificate c = certify(f, Vector::Zero(spectrum.size()), {.hessian_lipschitz = 1.0});
      const double norm = scale * spectrum.norm(), exact = scale * spectrum.minCoeff();
      EXPECT_EQ(c.method, CurvatureMethod::dense) << which;
      EXPECT_LE(c.lambda_min_lower, exact) << which;
      EXPECT_GE(c.lambda_min_lower, exact - 1e-9 * norm) << which;
      EXPECT_NEAR(c.lambda_min, exact, 1e-9 * norm) << which;
      EXPECT_EQ(c.failure_probability, 0.0) << which;
    }
  };
  for (const Index d : {49, 130, 300}) {
    Vector spectrum = Vector::LinSpaced(d, -1.0, 3.0);
    certain(spectrum, "a saddle");
    certain(Vector::LinSpaced(d, 1e-3, 3.0), "a minimiser");
    spectrum = Vector::LinSpaced(d, 0.0, 1.0).array().cube();
    certain(spectrum, "a cluster at zero");
    spectrum.head(d / 2).setZero();
    certain(spectrum, "half of the eigenvalues zero");
    spectrum[d / 2] = -1e-12;
    certain(spectrum, "a negative eigenvalue beside a cluster");
    certain(Vector::Constant(d, -2.0), "one eigenvalue");
    certain(Vector::Zero(d), "zero");
    certain(-Vector::LinSpaced(d, 1.0, 4.0), "a maximiser");
  }
}

TEST(Certificate, MatrixWhoseTraceOverflowsHasABound) {
  for (const double value : {4e306, -4e306}) {
    const Quadratic f(Vector::Constant(50, value));
    const Certificate c = certify(f, Vector::Zero(50), {.hessian_lipschitz = 1.0});
    ASSERT_EQ(c.status, EvaluationStatus::ok);
    EXPECT_LE(c.lambda_min_lower, value);
    EXPECT_NEAR(c.lambda_min_lower / 4e306, value / 4e306, 1e-9);
  }
}

TEST(Certificate, DiagonalHessianAnswersItself) {
  const auto problem = find_problem("quartic-saddle")->make({.records = 50, .dimension = 700});
  const Vector x = random_vector(700, 4, 1);
  const Certificate c = certify(*problem.empirical, x, {.hessian_lipschitz = 1.0});
  EXPECT_EQ(c.method, CurvatureMethod::diagonal);
  double least = INFINITY;
  Vector product(700);
  for (Index j = 0; j < 700; ++j) {
    problem.empirical->hessian_product(x, Vector::Unit(700, j), product);
    least = std::min(least, product[j]);
  }
  EXPECT_EQ(c.lambda_min, least);
  EXPECT_LE(c.lambda_min_lower, least);
  EXPECT_GE(c.lambda_min_lower, least - 1.001 * c.rounding_allowance);
  Vector entries(700);
  problem.empirical->hessian_diagonal(x, entries);
  EXPECT_NEAR(c.rounding_allowance, 8 * 700 * 2.220446049250313e-16 * entries.norm(), 1e-15);
  EXPECT_EQ(estimate_lambda_min(*problem.empirical, x).lambda_min, least);
}

TEST(Certificate, DenseAndLanczosAgree) {
  const Index d = 300;
  const Wells f(Vector::LinSpaced(d, 0.5, 1.5), -1.0);
  for (std::uint32_t k = 0; k < 5; ++k) {
    const Vector x = random_vector(d, 9, k);
    const Certificate dense = certify(f, x, {.hessian_lipschitz = 9.0});
    const Certificate krylov =
        certify(f, x, {.hessian_lipschitz = 9.0, .steps = 200, .dense_limit = 0});
    EXPECT_EQ(dense.products, d);
    EXPECT_EQ(krylov.products, 201);
    EXPECT_EQ(dense.value, krylov.value);
    EXPECT_EQ(dense.gradient_norm, krylov.gradient_norm);
    EXPECT_NEAR(dense.lambda_min, krylov.lambda_min, 1e-10);
    EXPECT_LE(krylov.lambda_min_lower, dense.lambda_min);
    EXPECT_NEAR(krylov.lambda_min_lower, dense.lambda_min, 1e-9);
    EXPECT_LE(krylov.residual, 1e-4);
    EXPECT_EQ(dense.failure_probability, 0.0);
    EXPECT_EQ(krylov.failure_probability, 1e-6);
  }
}

/// A quadratic whose matrix is written down at once.
class CheapQuadratic final : public Quadratic {
 public:
  using Quadratic::Quadratic;
  Index hessian_cost() const override { return 2; }
};

TEST(Certificate, TakesCheapMatricesWholeUnlessFewStepsExhaustThem) {
  const Index d = 600;
  const Vector full = Vector::LinSpaced(d, -0.5, 1.0);
  const Certificate whole = certify(CheapQuadratic(full), Vector::Zero(d), {});
  EXPECT_EQ(whole.method, CurvatureMethod::dense);
  EXPECT_EQ(whole.failure_probability, 0.0);
  EXPECT_NEAR(whole.lambda_min, -0.5, 1e-12);
  EXPECT_LE(whole.lambda_min_lower, whole.lambda_min);
  EXPECT_GE(whole.lambda_min_lower, -0.5 - 1e-8);
  EXPECT_EQ(certify(Quadratic(full), Vector::Zero(d), {}).method, CurvatureMethod::lanczos);
  EXPECT_EQ(certify(CheapQuadratic(full), Vector::Zero(d), {.cheap_dense_limit = 599}).method,
            CurvatureMethod::lanczos);

  Vector low_rank = Vector::Zero(d);
  low_rank.head(5) << 3, 2, 1, -1, -2;
  const Certificate few = certify(CheapQuadratic(low_rank), Vector::Zero(d), {});
  EXPECT_EQ(few.method, CurvatureMethod::lanczos);
  EXPECT_LT(few.products, 32);
  EXPECT_NEAR(few.lambda_min, -2, 1e-10);
}

TEST(Certificate, HoldsAtEveryScale) {
  for (const Index d : {1, 2, 30, 600}) {
    for (const double scale : {1e-12, 1e-6, 1.0, 1e6, 1e12}) {
      Vector spectrum = Vector::LinSpaced(d, -0.5, 1.0);
      const Quadratic f(scale * spectrum);
      const Certificate c = certify(f, Vector::Zero(d), {.smoothness = 2 * scale});
      EXPECT_NEAR(c.lambda_min / scale, spectrum.minCoeff(), 1e-6);
      EXPECT_LE(c.lambda_min_lower / scale, spectrum.minCoeff());
      EXPECT_GE(c.lambda_min_lower / scale, spectrum.minCoeff() - 1e-3);
      EXPECT_GT(c.rounding_allowance, 0.0);
    }
  }
}

TEST(Certificate, IsExactForMultiplesOfIdentity) {
  for (const Index d : {1, 50, 2000}) {
    for (const double value : {0.0, 1.0, -1.0}) {
      const Quadratic f(Vector::Constant(d, value));
      const Certificate c = certify(f, Vector::Ones(d), {.hessian_lipschitz = 1.0});
      EXPECT_NEAR(c.lambda_min, value, 1e-13);
      EXPECT_LE(c.lambda_min_lower, value);
      // the Krylov space is invariant to ε alone, and an eigenvector of weight 1e-8 could hide in
      // ε/1e-8
      EXPECT_NEAR(c.lambda_min_lower, value, 1e-7 * std::abs(value));
    }
  }
}

TEST(Certificate, IgnoresFalseSmoothness) {
  const Quadratic f(Vector::LinSpaced(800, -1.0, 1.0));
  const Certificate free = certify(f, Vector::Zero(800), {.steps = 30});
  const Certificate wrong = certify(f, Vector::Zero(800), {.smoothness = 0.5, .steps = 30});
  EXPECT_TRUE(wrong.smoothness_contradicted);
  EXPECT_EQ(wrong.lambda_min_lower, free.lambda_min_lower);
  EXPECT_LE(free.lambda_min_lower, -1.0);
  const Certificate right = certify(f, Vector::Zero(800), {.smoothness = 1.0, .steps = 30});
  EXPECT_FALSE(right.smoothness_contradicted);
  EXPECT_GE(right.lambda_min_lower, free.lambda_min_lower);
  EXPECT_LE(right.lambda_min_lower, -1.0);
}

TEST(Certificate, HasNoLevelWithoutHessianLipschitzConstant) {
  const Certificate c = certify(saddle(5, -1), Vector::Zero(5), {.in_region = false});
  EXPECT_FALSE(c.sosp_level);
  EXPECT_FALSE(c.sosp_level_upper);
  EXPECT_FALSE(c.in_region);
  EXPECT_NEAR(c.lambda_min, -1, 1e-14);
}

/// ½‖x‖² with one number replaced, or an asymmetric Hessian.
class Faulty : public Quadratic {
 public:
  enum class Fault { value, gradient, product, asymmetric };
  Faulty(Index d, Fault fault) : Quadratic(Vector::Ones(d)), fault_(fault) {}
  double value(ConstVectorRef x) const override {
    return fault_ == Fault::value ? NAN : Quadratic::value(x);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    Quadratic::gradient(x, out);
    if (fault_ == Fault::gradient) out[0] = INFINITY;
  }
  void hessian_product(ConstVectorRef, ConstVectorRef v, VectorRef out) const override {
    out = v.cwiseProduct(Vector::LinSpaced(v.size(), 0.0, 1.0));
    if (fault_ == Fault::product) out[0] = NAN;
    if (fault_ == Fault::asymmetric) out[0] += v[1];
  }

 private:
  Fault fault_;
};

TEST(Certificate, FailsWithReasonOnNonFiniteOrAsymmetricInput) {
  using Fault = Faulty::Fault;
  const auto status = [](Index d, Fault fault, double entry) {
    const Certificate c =
        certify(Faulty(d, fault), Vector::Constant(d, entry), {.hessian_lipschitz = 1.0});
    EXPECT_FALSE(c.sosp_level);
    EXPECT_FALSE(c.sosp_level_upper);
    EXPECT_TRUE(std::isnan(c.lambda_min_lower));
    return c.status;
  };
  for (const Index d : {4, 600}) {
    EXPECT_EQ(status(d, Fault::value, 1), EvaluationStatus::non_finite_value);
    EXPECT_EQ(status(d, Fault::gradient, 1), EvaluationStatus::non_finite_gradient);
    EXPECT_EQ(status(d, Fault::product, 1), EvaluationStatus::non_finite_hessian);
    EXPECT_EQ(status(d, Fault::asymmetric, 1), EvaluationStatus::asymmetric_hessian);
    EXPECT_EQ(status(d, Fault::asymmetric, NAN), EvaluationStatus::non_finite_point);
  }
  EXPECT_EQ(to_string(EvaluationStatus::non_finite_point), "the point is not finite");
}

TEST(Certificate, RepeatsForSameKeyAndDiffersForAnother) {
  const Quadratic f(Vector::LinSpaced(700, -1, 1));
  const auto with_seed = [&](std::uint64_t seed) {
    return certify(f, Vector::Zero(700),
                   {.steps = 20, .key{.seed = seed, .purpose = Purpose::evaluation}});
  };
  EXPECT_EQ(with_seed(1).lambda_min, with_seed(1).lambda_min);
  EXPECT_EQ(with_seed(1).lambda_min_lower, with_seed(1).lambda_min_lower);
  EXPECT_NE(with_seed(1).lambda_min, with_seed(2).lambda_min);
}

TEST(Certificate, RejectsBadInput) {
  const Quadratic f(Vector::Ones(3));
  const Vector x = Vector::Zero(3);
  EXPECT_THROW(certify(f, Vector::Zero(2), {}), InputError);
  EXPECT_THROW(certify(f, x, {.hessian_lipschitz = -1.0}), InputError);
  EXPECT_THROW(certify(f, x, {.smoothness = NAN}), InputError);
  EXPECT_THROW(certify(f, x, {.failure_probability = 1e-10}), InputError);
  EXPECT_THROW(certify(f, x, {.steps = 0}), InputError);
  EXPECT_THROW(certify(f, x, {.key{.purpose = Purpose::test}}), InputError);
}

}  // namespace
}  // namespace dpsosp::certificate_test
