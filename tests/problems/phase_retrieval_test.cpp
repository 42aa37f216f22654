// SPDX-License-Identifier: Apache-2.0
// phase-retrieval and robust-phase-retrieval.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/phase_retrieval.hpp"
#include "dpsosp/problems/robust_phase_retrieval.hpp"

namespace dpsosp::phase_retrieval_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Matrix dense_hessian(const Objective& f, ConstVectorRef x) {
  const Index d = f.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) f.hessian_product(x, Vector::Unit(d, j), H.col(j));
  return H;
}

double lambda_min(const Objective& f, ConstVectorRef x) {
  return symmetric_eigenvalues(dense_hessian(f, x))[0];
}

Vector normal_vector(Index size, std::uint64_t seed, double spread = 1.0) {
  Vector v(size);
  Stream({.seed = seed}).fill_normal(spread, v);
  return v;
}

// xu-2026 notes, 9
const Matrix a{{1, 0, 1, 1}, {0, 1, 1, -1}};
const Vector b{{1, 0.25, 2.25, 0.25}};

TEST(RobustPhaseRetrieval, ValueGradientAndHessianMatchReference) {
  const auto phi = robust_phase_value({a, b});
  const Vector x{{0.2, 0.1}};
  EXPECT_NEAR(phi->value(x), 0.7128, 1e-14);
  Vector g(2);
  phi->gradient(x, g);
  EXPECT_LT((g - Vector{{-0.432, -0.324}}).norm(), 1e-14);
  EXPECT_LT((dense_hessian(*phi, x) - Matrix{{-1.54, -0.88}, {-0.88, -1.21}}).norm(), 1e-13);
  const Vector at_zero = symmetric_eigen(dense_hessian(*phi, Vector::Zero(2))).values;
  EXPECT_LT((at_zero - Vector{{-2.5799262873, -0.5450737127}}).norm(), 1e-9);
  EXPECT_NEAR(phi->value(Vector{{1, 0.5}}), 0.0, 1e-15);
}

TEST(RobustPhaseRetrieval, RecordsMatchFormulasWithAndWithoutDual) {
  const auto records = robust_phase_records({a, b});
  const Vector x{{0.3, -0.7}}, y{{0.5, -1, 0.25, 2}}, none;
  for (const double limit : {unlimited, 0.4})
    for (const bool local : {false, true}) {
      const Index size = local ? 2 : 6;
      Vector sum = Vector::Zero(size), expected = sum;
      for (Index i = 0; i < 4; ++i) {
        const double t = a.col(i).dot(x), residual = t * t - b[i];
        const double dual = local ? residual : y[i];
        Vector v = Vector::Zero(size);
        v.head(2) = 2 * dual * t * a.col(i);
        if (!local) v[2 + i] = residual - dual;
        expected += v * std::min(1.0, limit / v.norm());
      }
      records->add_gradients(local ? Point(x) : Point(x, y), local ? Block::x : Block::joint,
                             BatchView(0, 4), limit, sum);
      EXPECT_LT((sum - expected).norm(), 1e-13) << limit << ' ' << local;
    }
  Vector u = Vector::Zero(4);
  EXPECT_THROW(records->add_gradients(Point(x), Block::y, BatchView(0, 4), unlimited, u),
               InputError);
}

TEST(RobustPhaseRetrieval, RecordsWithoutDualAverageToValueGradient) {
  const Vector x{{0.2, 0.1}};
  Vector sum = Vector::Zero(2), moved = sum, at_zero = sum;
  const Vector previous{{-0.4, 0.3}};
  const auto records = robust_phase_records({a, b});
  records->add_gradients(Point(x), Block::x, BatchView(0, 4), unlimited, sum);
  EXPECT_LT((sum / 4 - Vector{{-0.432, -0.324}}).norm(), 1e-14);
  records->add_gradients(Point(previous), Block::x, BatchView(0, 4), unlimited, at_zero);
  records->add_gradient_differences(Point(x), Point(previous), Block::x, BatchView(0, 4), unlimited,
                                    moved);
  EXPECT_LT((moved - (sum - at_zero)).norm(), 1e-13);
}

TEST(RobustPhaseRetrieval, PopulationIsTwiceIntensityPopulation) {
  const Problem minimax = RobustPhaseRetrieval().make({.records = 5, .data_seed = 4});
  const Problem plain = PhaseRetrieval().make({.records = 5, .data_seed = 4});
  const Vector x = normal_vector(10, 1, 0.4);
  EXPECT_NEAR(minimax.population->value(x), 2 * plain.population->value(x), 1e-14);
  EXPECT_NEAR(minimax.empirical->value(x), 2 * plain.empirical->value(x), 1e-12);
  EXPECT_NEAR(lambda_min(*minimax.population, Vector::Zero(10)), -6 * 10.0 / 12, 1e-13);
}

TEST(RobustPhaseRetrieval, JointSmoothnessIsTightOverMaximiserRange) {
  const Problem p = RobustPhaseRetrieval().make({.records = 1});
  const double T = p.facts.domain.radius * std::sqrt(10.0), s = 0.1;
  const double range = std::max(T * T + s, 10.0 + s);
  double largest = 0;
  for (const double y : {-range, 0.0, range})
    for (const double t : {0.0, 0.5 * T, T}) {
      const Matrix H{{2 * y * 10, 2 * t * std::sqrt(10.0)}, {2 * t * std::sqrt(10.0), -1}};
      largest = std::max(largest, symmetric_eigenvalues(H).cwiseAbs().maxCoeff());
    }
  EXPECT_NEAR(p.facts.constants[constant::joint_smoothness], largest, 1e-12 * largest);
}

TEST(PhaseRetrieval, IntensityPopulationHasPredictedSaddles) {
  for (const Design design : {Design::gaussian, Design::sphere})
    for (const Index d : {2, 7}) {
      PhaseRetrieval family;
      family.design = design;
      family.signal_norm = 1.5;
      const Problem p = family.make({.records = 3, .dimension = d});
      const double D = static_cast<double>(d);
      const double unit = 2.25 * (design == Design::sphere ? D / (D + 2) : 1.0);
      ASSERT_EQ(p.landmarks.size(), 5U);
      const Vector& signal = p.landmarks[0].point;
      EXPECT_NEAR(signal.norm(), 1.5, 1e-14);
      EXPECT_NEAR(p.population->value(signal), 0.25 * 0.01, 1e-16);
      EXPECT_NEAR(lambda_min(*p.population, signal), 2 * unit, 1e-12);
      EXPECT_NEAR(lambda_min(*p.population, Vector::Zero(d)), -3 * unit, 1e-12);
      const Vector& saddle = p.landmarks[3].point;
      EXPECT_NEAR(saddle.dot(signal), 0.0, 1e-14);
      EXPECT_NEAR(saddle.norm(), 1.5 / std::numbers::sqrt3, 1e-14);
      EXPECT_NEAR(lambda_min(*p.population, saddle), -2 * unit, 1e-12);
      // ¾‖x‖⁴ − ½‖x‖²‖x*‖² − (x·x*)² + ¾‖x*‖⁴, as it is usually written
      const Vector x = normal_vector(d, 3, 0.7);
      const double xx = x.squaredNorm(), xs = x.dot(signal);
      EXPECT_NEAR(p.population->value(x),
                  unit / 2.25 * (0.75 * xx * xx - 0.5 * xx * 2.25 - xs * xs + 0.75 * 2.25 * 2.25) +
                      0.25 * 0.01,
                  1e-12);
    }
}

TEST(PhaseRetrieval, PopulationIsExactInOneDimension) {
  for (const PhaseLoss loss : {PhaseLoss::intensity, PhaseLoss::amplitude}) {
    PhaseRetrieval family;
    family.loss = loss;
    const Problem p = family.make({.records = 4, .dimension = 1});
    const auto at = phase_objective(std::make_shared<PhaseData>(
        PhaseData{.columns = {Matrix::Ones(1, 2), Vector{{1.1, 0.9}}}, .loss = loss}));
    for (const double x : {-1.2, 0.0, 0.4}) {
      const Vector point = Vector::Constant(1, x);
      EXPECT_NEAR(p.population->value(point), at->value(point), 1e-14);
      EXPECT_NEAR(lambda_min(*p.population, point), lambda_min(*at, point), 1e-13);
    }
  }
}

/// The amplitude population of one signal, by one quadrature and by one of four times the nodes.
TEST(PhaseRetrieval, AmplitudeQuadratureHasConverged) {
  for (const Design design : {Design::gaussian, Design::sphere})
    for (const Index d : {2, 3, 10, 100}) {
      PhaseRetrieval family;
      family.loss = PhaseLoss::amplitude;
      family.design = design;
      family.smoothing = 0.5;  // reach/(3e) = 1
      family.domain_factor = 1.5;
      const Problem coarse = family.make({.records = 1, .dimension = d});
      family.domain_factor = 3.0;
      const Problem fine = family.make({.records = 1, .dimension = d});
      const Vector direction = normal_vector(d, 5).normalized();
      for (const double length : {0.0, 0.3, 1.0, 1.5}) {
        const Vector x = length * direction;
        EXPECT_NEAR(coarse.population->value(x), fine.population->value(x), 1e-9);
        Vector g(d), h(d);
        coarse.population->gradient(x, g);
        fine.population->gradient(x, h);
        EXPECT_LT((g - h).norm(), 1e-8);
      }
    }
}

TEST(PhaseRetrieval, AmplitudeDerivativesMatchFiniteDifferences) {
  for (const Design design : {Design::gaussian, Design::sphere})
    for (const Index d : {1, 2, 3, 6}) {
      PhaseRetrieval family;
      family.loss = PhaseLoss::amplitude;
      family.design = design;
      const Problem p = family.make({.records = 1, .dimension = d});
      const Objective& F = *p.population;
      const Vector axis = p.landmarks.back().point.norm() > 0 ? p.landmarks.back().point
                                                              : Vector(Vector::Unit(d, 0));
      for (const Vector& x : {Vector(normal_vector(d, 1, 0.4)), Vector(0.8 * axis),
                              Vector(axis + normal_vector(d, 2, 1e-7)), Vector(Vector::Zero(d))}) {
        const Vector v = normal_vector(d, 3).normalized(), w = normal_vector(d, 4).normalized();
        Vector g(d), Hv(d), Hw(d), plus(d), minus(d);
        F.gradient(x, g);
        F.hessian_product(x, v, Hv);
        F.hessian_product(x, w, Hw);
        const double h = 1e-4;
        EXPECT_NEAR((F.value(x + h * v) - F.value(x - h * v)) / (2 * h), g.dot(v), 1e-6);
        F.gradient(x + h * v, plus);
        F.gradient(x - h * v, minus);
        EXPECT_LT(((plus - minus) / (2 * h) - Hv).norm(), 1e-5);
        EXPECT_NEAR(w.dot(Hv), v.dot(Hw), 1e-9);
      }
    }
}

TEST(PhaseRetrieval, AmplitudePopulationIsMeanOfRecords) {
  for (const Design design : {Design::gaussian, Design::sphere}) {
    PhaseRetrieval family;
    family.loss = PhaseLoss::amplitude;
    family.design = design;
    constexpr Index n = 40000, d = 4, parts = 20;
    const Problem p = family.make({.records = n, .dimension = d});
    const Vector x = normal_vector(d, 2, 0.4), centre = Vector::Zero(d);
    // the mean of loss differences, against its own standard error over 20 parts; t with 19 degrees
    // is beyond 9 with probability 3e-8
    Vector means(parts);
    for (Index k = 0; k < parts; ++k) {
      double sum = 0;
      p.records->add_loss_differences(
          Point(x), Point(centre), BatchView(k * n / parts, (k + 1) * n / parts), unlimited, sum);
      means[k] = sum * parts / n;
    }
    const double error =
        std::sqrt((means.array() - means.mean()).square().sum() / (parts - 1) / parts);
    EXPECT_NEAR(means.mean(), p.population->value(x) - p.population->value(centre), 9 * error);
    EXPECT_LT(error, 2e-3);
  }
}

TEST(PhaseRetrieval, AmplitudePopulationKeepsSaddlesAndMinima) {
  PhaseRetrieval family;
  family.loss = PhaseLoss::amplitude;
  family.label_noise = 0.0;
  const Problem p = family.make({.records = 3});
  ASSERT_EQ(p.landmarks.size(), 4U);  // ±x*, the origin, the orthogonal saddle
  for (const Landmark& l : p.landmarks) {
    Vector g(10);
    p.population->gradient(l.point, g);
    EXPECT_LT(g.norm(), 1e-12) << l.name;
    const double curvature = lambda_min(*p.population, l.point);
    EXPECT_EQ(l.kind == Landmark::Kind::strict_saddle, curvature < -0.05) << l.name << curvature;
  }
  EXPECT_NEAR(p.population->value(p.landmarks[0].point), 0.0, 1e-15);
}

/// φ′, φ″ and φ‴ by the formulas, on a grid.
struct GridBounds {
  double slope = 0, curvature = 0, third = 0;
};
GridBounds grid_bounds(PhaseLoss loss, double e, double T, double lowest, double highest) {
  GridBounds g;
  for (const double label : {lowest, highest})
    for (int k = 0; k <= 20000; ++k) {
      const double t = T * k / 20000.0;
      const double h = std::sqrt(t * t + e * e), c = std::sqrt(label + e * e);
      const bool intensity = loss == PhaseLoss::intensity;
      g.slope = std::max(g.slope, std::abs(intensity ? t * t * t - label * t : t - c * t / h));
      g.curvature = std::max(g.curvature,
                             std::abs(intensity ? 3 * t * t - label : 1 - c * e * e / (h * h * h)));
      g.third = std::max(g.third, intensity ? 6 * t : 3 * c * e * e * t / std::pow(h, 5));
    }
  return g;
}

TEST(PhaseRetrieval, ConstantsAreSupremaOverRange) {
  for (const PhaseLoss loss : {PhaseLoss::intensity, PhaseLoss::amplitude})
    for (const double e : {0.4, 1.3})
      for (const double factor : {1.0, 1.1, 3.0})
        for (const Index d : {1, 2, 5}) {
          PhaseRetrieval family;
          family.loss = loss;
          family.smoothing = e;
          family.domain_factor = factor;
          const Problem p = family.make({.records = 2, .dimension = d});
          const double L = std::sqrt(static_cast<double>(d));
          const GridBounds grid = grid_bounds(loss, e, factor * L, -0.1, L * L + 0.1);
          const Constants& c = p.facts.constants;
          const auto near = [](double stated, double found) {
            EXPECT_GE(stated * (1 + 1e-12), found);
            EXPECT_LE(stated, found * (1 + 1e-6));
          };
          near(c[constant::lipschitz], L * grid.slope);
          near(c[constant::smoothness], L * L * grid.curvature);
          near(c[constant::hessian_lipschitz], L * L * L * grid.third);
        }
}

TEST(PhaseRetrieval, AmplitudeRecordsMatchFormulas) {
  const PhaseData amplitude{.columns = {a, b}, .loss = PhaseLoss::amplitude, .smoothing = 0.3};
  const auto records = phase_records(std::make_shared<PhaseData>(amplitude));
  const Vector x{{0.3, -0.7}};
  for (const double limit : {unlimited, 0.1}) {
    Vector sum = Vector::Zero(2), expected = sum;
    for (Index i = 0; i < 4; ++i) {
      const double t = a.col(i).dot(x), h = std::sqrt(t * t + 0.09);
      const Vector v = t * (1 - std::sqrt(b[i] + 0.09) / h) * a.col(i);
      expected += v * std::min(1.0, limit / v.norm());
    }
    records->add_gradients(Point(x), Block::x, BatchView(0, 4), limit, sum);
    EXPECT_LT((sum - expected).norm(), 1e-14);
  }
}

TEST(PhaseRetrieval, ZeroMeasurementsContributeNothing) {
  const auto records = phase_records(
      std::make_shared<PhaseData>(PhaseData{.columns = {Matrix::Zero(2, 3), Vector{{1, 0, -1}}}}));
  const Vector x{{0.3, -0.7}};
  Vector g = Vector::Zero(2), Hv = g;
  EXPECT_EQ(records->add_gradients(Point(x), Block::x, BatchView(0, 3), 0.1, g).clipped, 0);
  records->add_hessian_products(Point(x), x, BatchView(0, 3), 0.1, Hv);
  EXPECT_EQ(g, Vector::Zero(2));
  EXPECT_EQ(Hv, Vector::Zero(2));
}

TEST(PhaseRetrieval, RejectsInvalidSettings) {
  const auto refused = [](auto change) {
    PhaseRetrieval family;
    family.loss = PhaseLoss::amplitude;
    change(family);
    EXPECT_THROW(family.make({.records = 3}), InputError);
  };
  refused([](auto& f) { f.signal_norm = 0; });
  refused([](auto& f) { f.label_noise = -0.1; });
  refused([](auto& f) { f.label_noise = 0.26; });  // b + e² could be negative
  refused([](auto& f) { f.smoothing = 0.01; });
  refused([](auto& f) { f.domain_factor = 0.9; });
  refused([](auto& f) { f.initial_spread = -1; });
  EXPECT_THROW(PhaseRetrieval().make({.records = 0}), InputError);
  EXPECT_THROW(PhaseRetrieval().make({.records = 1, .dimension = 0}), InputError);
}

}  // namespace
}  // namespace dpsosp::phase_retrieval_test
