// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/curvature.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"
#include "test_objectives.hpp"

namespace dpsosp::curvature_test {
namespace {

using testing::Quadratic;
using testing::random_vector;
using testing::Wells;

/// Difficult spectra, each of norm about one: name, eigenvalues.
struct NamedSpectrum {
  const char* name;
  Vector values;
};
std::vector<NamedSpectrum> hard_spectra(Index d) {
  const Vector ramp = Vector::LinSpaced(d, 0.0, 1.0);
  Vector rank_one_negative = Vector::Zero(d);
  rank_one_negative[0] = -1;
  Vector rank_one_positive = Vector::Zero(d);
  rank_one_positive[d - 1] = 1;
  Vector clustered = Vector::Ones(d);
  for (Index i = 0; i < std::min<Index>(d, 5); ++i)
    clustered[i] = -0.5 + 1e-9 * static_cast<double>(i);
  Vector saddle = Vector::Ones(d);
  saddle[0] = -1e-3;
  Vector outlier = 1e-6 * ramp;
  outlier[d - 1] = 1;
  outlier[0] = -1e-6;
  return {{"indefinite", (2 * ramp.array() - 1).matrix()},
          {"positive definite", (0.5 + 0.5 * ramp.array()).matrix()},
          {"negative definite", (-1 - ramp.array()).matrix()},
          {"rank one negative", rank_one_negative},
          {"rank one positive", rank_one_positive},
          {"identity", Vector::Ones(d)},
          {"minus identity", -Vector::Ones(d)},
          {"clustered", clustered},
          {"saddle among ones", saddle},
          {"outlier above", outlier},
          {"semidefinite ramp", ramp},
          {"square root edge", ramp.array().square().matrix()}};
}

TEST(TestObjectives, MatchFiniteDifferences) {
  const Quadratic quadratic(Vector::LinSpaced(7, -1, 2), 5);
  const Wells wells(Vector::LinSpaced(7, 0.5, 1.5), 0.3);
  for (const Objective* f :
       {static_cast<const Objective*>(&quadratic), static_cast<const Objective*>(&wells)}) {
    const Vector x = random_vector(7, 1), v = random_vector(7, 2);
    Vector g(7), g_plus(7), g_minus(7), product(7);
    constexpr double h = 1e-5;
    f->gradient(x, g);
    f->gradient(x + h * v, g_plus);
    f->gradient(x - h * v, g_minus);
    f->hessian_product(x, v, product);
    EXPECT_NEAR((f->value(x + h * v) - f->value(x - h * v)) / (2 * h), g.dot(v), 1e-7);
    EXPECT_LE(((g_plus - g_minus) / (2 * h) - product).norm(), 1e-7);
  }
}

TEST(Curvature, MatchesPrescribedSpectrumInEveryDimension) {
  for (const Index d : {1, 2, 3, 20, 48, 49, 50, 200, 1500}) {
    for (const auto& [name, values] : hard_spectra(d)) {
      const Quadratic f(values, static_cast<std::uint64_t>(d));
      const CurvatureEstimate e = estimate_lambda_min(f, Vector::Zero(d));
      ASSERT_EQ(e.status, EvaluationStatus::ok);
      // a gap of 1/d² to the next eigenvalue: the budget ends first, and the estimate says so
      const bool hopeless = name == std::string("square root edge") && d == 1500;
      EXPECT_EQ(e.converged, !hopeless) << name << " " << d << " residual " << e.residual;
      EXPECT_NEAR(e.lambda_min, f.lambda_min(), hopeless ? 1e-6 : 1e-8) << name << " " << d;
      EXPECT_GE(e.lambda_min, f.lambda_min() - 1e-13) << name << " " << d;
      EXPECT_NEAR(e.direction.norm(), 1.0, 1e-12);
    }
  }
}

TEST(Curvature, ResidualBoundsDistanceToAnEigenvalue) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint8_t size, std::uint8_t budget) {
    const Index d = 50 + size;
    const Vector spectrum = random_vector(d, seed);
    const Quadratic f(spectrum, seed);
    const CurvatureEstimate e =
        estimate_lambda_min(f, Vector::Zero(d), {.max_products = 1 + budget});
    const double distance = (spectrum.array() - e.lambda_min).abs().minCoeff();
    RC_ASSERT(distance <= e.residual + 1e-12);
    RC_ASSERT(e.lambda_min >= f.lambda_min() - 1e-12);
  }));
}

TEST(Curvature, IsAccurateAtEveryScale) {
  for (const Index d : {2, 30, 300}) {
    for (const auto& [name, values] : hard_spectra(d)) {
      for (const double scale : {1e-150, 1e-12, 1e-6, 1e6, 1e12, 1e150}) {
        const Quadratic f(scale * values);
        const CurvatureEstimate e = estimate_lambda_min(f, Vector::Zero(d));
        EXPECT_TRUE(e.converged) << name << " " << scale;
        EXPECT_NEAR(e.lambda_min / scale, values.minCoeff(), 1e-8) << name << " " << scale;
      }
    }
  }
}

TEST(Curvature, NeedsOneProductForZeroHessian) {
  const Quadratic f(Vector::Zero(1000));
  const CurvatureEstimate e = estimate_lambda_min(f, Vector::Ones(1000));
  EXPECT_EQ(e.lambda_min, 0.0);
  EXPECT_EQ(e.residual, 0.0);
  EXPECT_TRUE(e.converged);
  EXPECT_EQ(e.products, 1);
}

TEST(Curvature, FindsMinimumDespiteMisleadingWarmStart) {
  for (const Index d : {60, 500, 5000}) {
    for (const double gap : {0.5, 1e-1, 1e-2, 1e-3}) {
      Vector spectrum = Vector::LinSpaced(d, 0.0, 1.0);
      spectrum[0] = -0.1 - gap;  // the wanted one; the warm start is exactly orthogonal to it
      spectrum[1] = -0.1;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Quadratic f(spectrum, seed);
        const CurvatureOptions options{.key{.seed = seed, .purpose = Purpose::evaluation}};
        for (const Index stale : {Index{1}, d / 2, d - 1}) {
          const CurvatureEstimate e =
              estimate_lambda_min(f, Vector::Zero(d), options, f.eigenvector(stale));
          EXPECT_NEAR(e.lambda_min, -0.1 - gap, 1e-7) << d << " " << gap << " " << seed;
        }
      }
    }
  }
}

TEST(Curvature, EigenvectorAloneHidesMinimum) {  // the control for the test above
  Vector spectrum = Vector::Ones(100);
  spectrum[0] = -1;
  const Quadratic f(spectrum);
  HessianOperator hessian(f, Vector::Zero(100));
  const Vector v = f.eigenvector(50);
  Vector w(100);
  hessian.apply(v, w);
  EXPECT_LE((w - v).norm(), 1e-13);  // invariant: no residual shows the eigenvalue −1
  EXPECT_NEAR(estimate_lambda_min(f, Vector::Zero(100), {}, v).lambda_min, -1, 1e-12);
}

TEST(Curvature, FindsNewEigenvectorAfterCrossing) {
  const Index d = 400;
  Vector before = Vector::LinSpaced(d, 0.1, 1.0);
  Vector after = before;
  before[0] = -0.3;
  before[1] = -0.2;
  after[0] = -0.2;
  after[1] = -0.3;
  const Quadratic old_f(before), new_f(after);
  const Vector x = Vector::Zero(d);
  const Vector stale = estimate_lambda_min(old_f, x).direction;
  EXPECT_NEAR(std::abs(stale.dot(old_f.eigenvector(0))), 1.0, 1e-6);
  const CurvatureEstimate e = estimate_lambda_min(new_f, x, {}, stale);
  EXPECT_NEAR(e.lambda_min, -0.3, 1e-9);
  EXPECT_NEAR(std::abs(e.direction.dot(new_f.eigenvector(1))), 1.0, 1e-6);
}

TEST(Curvature, IgnoresZeroAndNonFiniteWarmStarts) {
  const Quadratic f(Vector::LinSpaced(100, -1, 1));
  const Vector x = Vector::Zero(100);
  const double cold = estimate_lambda_min(f, x).lambda_min;
  EXPECT_EQ(estimate_lambda_min(f, x, {}, Vector::Zero(100)).lambda_min, cold);
  EXPECT_EQ(estimate_lambda_min(f, x, {}, Vector::Constant(100, NAN)).lambda_min, cold);
}

TEST(Curvature, RepeatsBitsForSameKey) {
  const Quadratic f(random_vector(300, 4));
  const Vector x = Vector::Zero(300), warm = random_vector(300, 5);
  const CurvatureEstimate a = estimate_lambda_min(f, x, {}, warm);
  const CurvatureEstimate b = estimate_lambda_min(f, x, {}, warm);
  EXPECT_EQ(a.lambda_min, b.lambda_min);
  EXPECT_EQ(a.products, b.products);
  EXPECT_TRUE(a.direction == b.direction);
}

TEST(Curvature, WarmStartSavesProductsOnSlowPath) {
  const Index d = 1000;
  const Wells f(Vector::LinSpaced(d, 0.5, 1.5), 0.5);
  Vector x = 0.2 * random_vector(d, 6), warm;
  const Vector velocity = 0.002 * random_vector(d, 7);
  Index cold_products = 0, warm_products = 0;
  for (int t = 0; t < 30; ++t, x += velocity) {
    const CurvatureEstimate cold = estimate_lambda_min(f, x);
    const CurvatureEstimate e = estimate_lambda_min(f, x, {}, warm);
    EXPECT_NEAR(e.lambda_min, cold.lambda_min, 1e-7);
    cold_products += cold.products;
    warm_products += e.products;
    warm = e.direction;
  }
  RecordProperty("cold_products", static_cast<int>(cold_products));
  RecordProperty("warm_products", static_cast<int>(warm_products));
  EXPECT_LT(warm_products, cold_products);
}

TEST(Curvature, MatchesDenseSolveForMovingHessian) {
  const Wells f(Vector::LinSpaced(120, 0.5, 1.5), -2.0);
  Vector warm;
  for (std::uint32_t k = 0; k < 20; ++k) {
    const Vector x = random_vector(120, 8, k);
    const CurvatureEstimate e = estimate_lambda_min(f, x, {}, warm);
    EXPECT_NEAR(e.lambda_min, symmetric_eigenvalues(f.whole_hessian(x))[0], 1e-8);
    warm = e.direction;
  }
}

TEST(Curvature, ReportsNonConvergenceOnSmallBudget) {
  const Quadratic f(Vector::LinSpaced(3000, 0, 1).array().square());
  const CurvatureEstimate e = estimate_lambda_min(f, Vector::Zero(3000), {.max_products = 40});
  EXPECT_FALSE(e.converged);
  EXPECT_LE(e.products, 50);
  EXPECT_GE(e.lambda_min, 0.0);
  EXPECT_LE(e.lambda_min, 0.05);
}

class BadHessian : public Quadratic {
 public:
  BadHessian(Index d, double entry) : Quadratic(Vector::Ones(d)), entry_(entry) {}
  void hessian_product(ConstVectorRef, ConstVectorRef v, VectorRef out) const override {
    out = v;
    out[0] = entry_ * v[1];
  }

 private:
  double entry_;
};

TEST(Curvature, ReportsNonFiniteAndAsymmetricInputAsStatus) {
  for (const Index d : {5, 100}) {
    const BadHessian f(d, NAN);
    const CurvatureEstimate e = estimate_lambda_min(f, Vector::Zero(d));
    EXPECT_EQ(e.status, EvaluationStatus::non_finite_hessian);
    EXPECT_FALSE(e.converged);
    EXPECT_EQ(estimate_lambda_min(f, Vector::Constant(d, INFINITY)).status,
              EvaluationStatus::non_finite_point);
  }
  EXPECT_EQ(estimate_lambda_min(BadHessian(5, 1.0), Vector::Zero(5)).status,
            EvaluationStatus::asymmetric_hessian);
}

TEST(Curvature, RejectsBadInput) {
  const Quadratic f(Vector::Ones(3));
  const Vector x = Vector::Zero(3);
  EXPECT_THROW(estimate_lambda_min(f, Vector::Zero(4)), InputError);
  EXPECT_THROW(estimate_lambda_min(f, x, {}, Vector::Zero(4)), InputError);
  EXPECT_THROW(estimate_lambda_min(f, x, {.tolerance = 0}), InputError);
  EXPECT_THROW(estimate_lambda_min(f, x, {.tolerance = NAN}), InputError);
  EXPECT_THROW(estimate_lambda_min(f, x, {.max_products = 0}), InputError);
  EXPECT_THROW(estimate_lambda_min(f, x, {.key{.purpose = Purpose::noise}}), InputError);
}

}  // namespace
}  // namespace dpsosp::curvature_test
