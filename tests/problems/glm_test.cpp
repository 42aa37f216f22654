// SPDX-License-Identifier: Apache-2.0
// Generalised linear models: scalar losses, sums over records, populations, critical points.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm_logistic.hpp"
#include "dpsosp/problems/glm_robust.hpp"
#include "dpsosp/problems/glm_sigmoid.hpp"
#include "dpsosp/problems/quadrature.hpp"

namespace dpsosp::glm_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

double at(const ScalarLoss& loss, int order, double t, double y) {
  Vector out(1);
  loss.derivative(order, Vector{{t}}, Vector{{y}}, out);
  return out[0];
}

struct NamedLoss {
  const char* name;
  std::shared_ptr<const ScalarLoss> loss;
  std::vector<double> labels;
};
std::vector<NamedLoss> losses() {
  return {{"sigmoid-square", sigmoid_square_loss(), {0, 0.3, 1}},
          {"logistic", logistic_loss(), {0, 0.3, 1}},
          {"welsch", welsch_loss(1.3), {-2, 0, 5}},
          {"tukey", tukey_loss(2.5), {-2, 0, 5}}};
}

TEST(ScalarLosses, MatchReferenceValues) {  // lowy-2024 notes, 8
  const auto s = sigmoid_square_loss();
  const double t = 0.6 - 2 * 0.8;
  EXPECT_NEAR(at(*s, 0, t, 0.3), 4.823176533e-4, 1e-13);
  EXPECT_NEAR(0.6 * at(*s, 1, t, 0.3), -0.0036638923, 1e-10);
  EXPECT_NEAR(0.8 * at(*s, 1, t, 0.3), -0.0048851898, 1e-10);
  EXPECT_NEAR(at(*s, 2, t, 0.3), 0.0358343398, 1e-10);
  const auto w = welsch_loss(1);
  EXPECT_NEAR(at(*w, 0, 0.5, 0), 0.1105996085, 1e-10);
  EXPECT_NEAR(at(*w, 1, 0.5, 0), 0.3894003915, 1e-10);
  EXPECT_NEAR(at(*w, 2, 0.5, 0), 0.3894003915, 1e-10);
  const auto k = tukey_loss(2);
  EXPECT_NEAR(at(*k, 0, 1, 0), 0.3854166667, 1e-10);
  EXPECT_NEAR(at(*k, 1, 1, 0), 0.5625, 1e-15);
  EXPECT_NEAR(at(*k, 2, 1, 0), -0.1875, 1e-15);
}

TEST(ScalarLosses, BoundsMatchPublishedValues) {
  EXPECT_NEAR(sigmoid_square_loss()->bound(1).value, 4.0 / 27, 1e-15);
  EXPECT_NEAR(sigmoid_square_loss()->bound(2).value, 0.07703, 1e-5);
  EXPECT_NEAR(sigmoid_square_loss()->bound(3).value, 0.10101, 1e-5);
  EXPECT_NEAR(welsch_loss(2)->bound(1).value, 2 / std::sqrt(2 * std::numbers::e), 1e-15);
  EXPECT_NEAR(welsch_loss(2)->bound(3).value, 1.9518 / 2, 1e-4);
  EXPECT_NEAR(tukey_loss(2)->bound(1).value, 32 / (25 * std::sqrt(5.0)), 1e-15);
  EXPECT_NEAR(tukey_loss(2)->bound(3).value, 4, 1e-15);
}

TEST(ScalarLosses, DerivativesMatchFiniteDifferences) {
  for (const NamedLoss& l : losses())
    for (const double y : l.labels)
      for (double t = -6; t <= 6; t += 0.137)
        for (const int order : {1, 2}) {
          const double h = 1e-5;
          const double slope =
              (at(*l.loss, order - 1, t + h, y) - at(*l.loss, order - 1, t - h, y)) / (2 * h);
          EXPECT_NEAR(at(*l.loss, order, t, y), slope, 1e-8) << l.name << ' ' << t << ' ' << y;
        }
}

TEST(ScalarLosses, BoundsAreTightOnFineGrid) {
  for (const NamedLoss& l : losses()) {
    std::array<double, 3> largest{};
    const double h = 1e-3;
    for (const double y : l.labels)
      for (double t = -20; t <= 20; t += h) {
        const double curvature = at(*l.loss, 2, t, y);
        largest[0] = std::max(largest[0], std::abs(at(*l.loss, 1, t, y)));
        largest[1] = std::max(largest[1], std::abs(curvature));
        largest[2] = std::max(largest[2], std::abs(at(*l.loss, 2, t + h, y) - curvature) / h);
        EXPECT_LE(at(*l.loss, 0, t, y), l.loss->largest_fall(std::abs(t)).value * (1 + 1e-12));
      }
    for (const int order : {1, 2, 3}) {
      const double share =
          largest[static_cast<std::size_t>(order - 1)] / l.loss->bound(order).value;
      EXPECT_LE(share, 1 + 1e-9) << l.name << ' ' << order;
      EXPECT_GE(share, 0.99) << l.name << ' ' << order;
    }
  }
}

TEST(ScalarLosses, StayFiniteAtLargeArguments) {
  for (const NamedLoss& l : losses())
    for (const double t : {-1e5, -800.0, 800.0, 1e5})
      for (const int order : {0, 1, 2}) {
        EXPECT_TRUE(std::isfinite(at(*l.loss, order, t, 1.0))) << l.name;
        if (order == 2) {
          EXPECT_NEAR(at(*l.loss, order, t, 1.0), 0, 1e-300) << l.name;
        }
      }
}

TEST(Quadrature, IsExactForPolynomials) {
  for (const double alpha : {-0.5, 0.0, 0.5, 3.0, 40.0})
    for (const Index size : {1, 2, 5, 24}) {
      const QuadratureRule rule = gauss_jacobi(size, alpha);
      double moment = 1;  // E t^k of Beta(1, alpha + 1)
      for (Index k = 0; k < 2 * size; ++k) {
        const auto j = static_cast<double>(k);
        if (k > 0) moment *= j / (alpha + 1 + j);
        EXPECT_NEAR(rule.weights.dot(rule.nodes.array().pow(j).matrix()), moment, 1e-13)
            << alpha << ' ' << size << ' ' << k;
      }
      const double next =
          moment * static_cast<double>(2 * size) / (alpha + 1 + static_cast<double>(2 * size));
      if (size <= 2) {
        EXPECT_GT(std::abs(rule.weights.dot(
                               rule.nodes.array().pow(static_cast<double>(2 * size)).matrix()) -
                           next),
                  1e-9);
      }
    }
  EXPECT_THROW(gauss_jacobi(0, 0), InputError);
  EXPECT_THROW(gauss_jacobi(3, -1), InputError);
}

TEST(PlaneRule, MatchesMomentsOfFeatureLaws) {
  using Kind = FeatureLaw::Kind;
  for (const Index d : {1, 2, 3, 4, 10, 300}) {
    const auto m = static_cast<double>(d);
    for (const Kind kind : {Kind::ball, Kind::sphere}) {
      const PlaneRule rule = plane_rule({.kind = kind}, d);
      const double second = kind == Kind::ball ? 1 / (m + 2) : 1 / m;
      const double fourth = 3 * second / (kind == Kind::ball ? m + 4 : m + 2);
      EXPECT_NEAR(rule.weight.sum(), 1, 1e-13);
      EXPECT_NEAR(rule.weight.dot(rule.along.cwiseAbs2()), second, 1e-13);
      EXPECT_NEAR(rule.weight.dot(rule.along.array().pow(4).matrix()), fourth, 1e-13);
      if (d >= 3) {
        EXPECT_NEAR(rule.weight.dot(rule.rest), second, 1e-13);
      }
      if (d >= 2) {
        EXPECT_NEAR(rule.weight.dot(rule.across.cwiseAbs2()), second, 1e-13);
        EXPECT_NEAR(rule.weight.dot(rule.along.cwiseProduct(rule.across)), 0, 1e-14);
      }
    }
  }
  // clipped Gaussians in the plane: |x|² is exponential with mean spread² before clipping
  for (const double spread : {0.1, 0.5, 2.0}) {
    const PlaneRule rule = plane_rule({.kind = Kind::gaussian, .spread = spread}, 2);
    const double square = spread * spread;
    const double second = square * (1 - std::exp(-1 / square)) / 2;
    EXPECT_NEAR(rule.weight.dot(rule.along.cwiseAbs2()), second, 1e-10) << spread;
    EXPECT_NEAR(rule.weight.sum(), 1, 1e-13);
  }
}

/// E φ(δ⟨x, e⟩) by Simpson's rule with the density (1 − x²)^power of one coordinate.
template <class Function>
double one_coordinate_mean(double power, double delta, const Function& phi) {
  constexpr int steps = 20000;
  double sum = 0, mass = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = -1 + 2.0 * i / steps;
    const double weight =
        (i == 0 || i == steps ? 1 : 2 + 2 * (i % 2)) * std::pow(std::max(0.0, 1 - x * x), power);
    sum += weight * phi(delta * x);
    mass += weight;
  }
  return sum / mass;
}

TEST(GlmPopulation, RobustRegressionMatchesOneDimensionalIntegral) {
  for (const auto kind : {FeatureLaw::Kind::ball, FeatureLaw::Kind::sphere})
    for (const Index d : {5, 20}) {
      GlmWelsch family;
      family.features.kind = kind;
      const Problem p = family.make({.records = 1, .dimension = d});
      ASSERT_FALSE(p.landmarks.empty());
      const Vector planted = p.landmarks.front().point;
      const Vector e = (Vector::Ones(d) - 0.3 * planted).normalized();
      const auto phi = [](double t) {
        double mean = 0;
        for (const auto& [share, noise] : {std::pair{0.9, 0.1}, std::pair{0.1, 3.0}}) {
          const double k2 = 1 + 2 * noise * noise;
          mean += share * 0.5 * (1 - std::exp(-t * t / k2) / std::sqrt(k2));
        }
        return mean;
      };
      const double power = (static_cast<double>(d) - (kind == FeatureLaw::Kind::ball ? 1 : 3)) / 2;
      for (const double delta : {0.0, 0.5, 3.0, 9.0})
        EXPECT_NEAR(p.population->value(planted + delta * e),
                    one_coordinate_mean(power, delta, phi), 1e-11);
    }
}

TEST(GlmPopulation, IsExactOrOmittedForNarrowLossAndWideDomain) {
  GlmWelsch family;
  family.features.kind = FeatureLaw::Kind::ball;
  family.noise = family.outliers = 0;
  for (const double scale : {0.3, 0.1}) {
    family.scale = scale;
    const Problem p = family.make({.records = 1, .dimension = 5});
    const Vector planted = p.landmarks.front().point;
    const Vector e = (Vector::Ones(5) - 0.3 * planted).normalized();
    const auto phi = [scale](double t) {
      return -0.5 * scale * scale * std::expm1(-t * t / (scale * scale));
    };
    for (const double delta : {0.5, 3.0, 9.0})
      EXPECT_NEAR(p.population->value(planted + delta * e) / (scale * scale),
                  one_coordinate_mean(2, delta, phi) / (scale * scale), 1e-10);
  }
  family.scale = 0.01;
  EXPECT_EQ(family.make({.records = 1}).population, nullptr);
  GlmSigmoid wide;
  wide.radius = 300;
  wide.planted_norm = 200;
  EXPECT_EQ(wide.make({.records = 1}).population, nullptr);
}

TEST(GlmPopulation, MatrixHasTheBitsOfItsProducts) {
  GlmLogistic family;
  family.regulariser = 0.2;
  const Problem p = family.make({.records = 1, .dimension = 5});
  const Vector w = Vector::LinSpaced(5, -1, 2);
  Matrix h(5, 5);
  p.population->hessian(w, h);
  for (Index j = 0; j < 5; ++j) {
    Vector column(5);
    p.population->hessian_product(w, Vector::Unit(5, j), column);
    EXPECT_EQ(column, h.col(j));
  }
}

TEST(GlmPopulation, HessianIsContinuousNearPlantedLine) {
  // on the line through w*, every direction orthogonal to it has one curvature
  for (const Index d : {2, 3, 10}) {
    const Problem p = GlmSigmoid().make({.records = 1, .dimension = d});
    const Vector e = p.landmarks.front().point.normalized();
    Vector v = Vector::Unit(d, 0) - e[0] * e, out(d), near(d);
    v.normalize();
    p.population->hessian_product(1.5 * e, v, out);
    p.population->hessian_product(1.5 * e + 1e-7 * v, v, near);
    EXPECT_LT((out - near).norm(), 1e-7);
    EXPECT_LT((out - out.dot(v) * v).norm(), 1e-14);
  }
}

TEST(GlmSigmoid, QuasarConvexityIsSharpForOneRecord) {
  const auto loss = sigmoid_square_loss();
  const auto s = [](double t) { return 1 / (1 + std::exp(-t)); };
  for (const double reach : {0.5, 1.0, 1.76, 2.0, 3.0, 6.0}) {
    const double q = sigmoid_quasar_convexity(reach);
    double least = unlimited;
    constexpr int steps = 600;
    for (int i = 0; i <= steps; ++i)
      for (int j = 0; j <= steps; ++j) {
        const double t = reach * (2.0 * i / steps - 1), u = reach * (2.0 * j / steps - 1);
        const double gap = at(*loss, 0, t, s(u));
        if (i != j) least = std::min(least, at(*loss, 1, t, s(u)) * (t - u) / gap);
      }
    EXPECT_GE(least, q * (1 - 1e-9)) << reach;
    if (q < 1) {
      EXPECT_LE(least, q * 1.0002) << reach;
    }
  }
  EXPECT_NEAR(sigmoid_quasar_convexity(3), 0.526113, 1e-6);
  EXPECT_EQ(sigmoid_quasar_convexity(1), 1);
}

TEST(GlmSigmoid, PopulationIsPlAndQuasarConvex) {
  const Problem p = GlmSigmoid().make({.records = 1});
  const double mu = p.facts.constants[constant::pl];
  const double q = p.facts.constants[constant::quasar_convexity];
  const double gamma = p.facts.constants[constant::kl_gamma];
  const Vector planted = p.landmarks.front().point;
  Stream stream({.seed = 3, .purpose = Purpose::test});
  double least = unlimited;
  Vector w(10), g(10);
  for (int k = 0; k < 400; ++k) {
    stream.fill_ball(3.0, w);
    if (k % 4 == 1) w.normalize(), w *= 3.0;
    if (k % 4 == 2) w = -planted * (1.5 - 0.001 * k);
    const double F = p.population->value(w);
    p.population->gradient(w, g);
    EXPECT_GE(g.dot(w - planted), q * F);
    EXPECT_LE(F, gamma * gamma * g.squaredNorm() * (1 + 1e-9));
    least = std::min(least, g.squaredNorm() / (2 * F));
  }
  EXPECT_GE(least, mu * (1 - 1e-9));
  EXPECT_LE(least, mu * 1.05);
}

TEST(GlmSigmoid, BinaryLabelsKeepPlantedMinimiser) {
  GlmSigmoid family;
  family.labels = GlmSigmoid::Labels::binary;
  const Problem p = family.make({.records = 50});
  ASSERT_EQ(p.landmarks.size(), 1U);
  EXPECT_EQ(p.landmarks.front().of, Landmark::Of::population);
  Vector g(10);
  p.population->gradient(p.landmarks.front().point, g);
  EXPECT_LT(g.norm(), 1e-15);
  EXPECT_FALSE(p.facts.constants.contains(constant::pl));
  family.flips = 0.2;
  EXPECT_TRUE(family.make({.records = 50}).landmarks.empty());
}

double least_eigenvalue(const Objective& F, const Vector& x) {
  double least = unlimited;  // by powers of 2 − H; the curvatures are within [−1, 1]
  Vector v = Vector::LinSpaced(x.size(), 1, 2).normalized(), Hv(x.size());
  for (int k = 0; k < 2000; ++k) {
    F.hessian_product(x, v, Hv);
    least = v.dot(Hv);
    v = (2 * v - Hv).normalized();
  }
  return least;
}

TEST(GlmRobust, OpposedSignalsMakeOriginStrictSaddle) {
  GlmWelsch welsch;
  GlmTukey tukey;
  for (GlmRobust* family : std::array<GlmRobust*, 2>{&welsch, &tukey}) {
    family->opposed = 0.5;
    family->start.kind = StartOption::Kind::saddle;
    for (const std::uint64_t data_seed : {1U, 2U, 3U}) {
      const Problem p = family->make({.records = 100, .data_seed = data_seed});
      EXPECT_EQ(p.facts.initial_point.norm(), 0);
      Vector g(10);
      p.population->gradient(p.facts.initial_point, g);
      EXPECT_LT(g.norm(), 1e-16);
      EXPECT_LT(least_eigenvalue(*p.population, p.facts.initial_point), -0.01);
      ASSERT_FALSE(p.landmarks.empty());
      EXPECT_EQ(p.landmarks.back().kind, Landmark::Kind::strict_saddle);
    }
    family->planted_norm = 0.5;  // too weak: the origin is a minimum, and no saddle is offered
    EXPECT_THROW(family->make({.records = 100}), InputError);
    family->opposed = 0.4;
    EXPECT_THROW(family->make({.records = 100}), InputError);
  }
}

TEST(GlmRobust, PlantedPointFitsNoiselessRecords) {
  GlmTukey family;
  family.noise = 0;
  family.outliers = 0;
  const Problem p = family.make({.records = 30});
  ASSERT_EQ(p.landmarks.size(), 2U);
  for (const Landmark& l : p.landmarks) EXPECT_LT(p.empirical->value(l.point), 1e-28);
}

TEST(GlmRobust, LowRankFeaturesLeaveDirectionsFlat) {
  const Problem p = GlmWelsch().make({.records = 200, .dimension = 12});
  const Vector w = Vector::LinSpaced(12, -1, 1);
  Matrix H(12, 12);
  for (Index j = 0; j < 12; ++j) p.empirical->hessian_product(w, Vector::Unit(12, j), H.col(j));
  const Vector sigma = singular_values(H);
  EXPECT_EQ((sigma.array() > 1e-10 * sigma[0]).count(), 5);
}

TEST(GlmLogistic, RegulariserDerivativesMatchFiniteDifferences) {
  const double h = 1e-5;
  for (double u = -3; u <= 3; u += 0.17) {
    Vector slope = Vector::Zero(1), curvature = Vector::Zero(1), ahead = slope, behind = slope;
    add_ratio_penalty_gradient(0.7, Vector{{u}}, slope);
    add_ratio_penalty_curvature(0.7, Vector{{u}}, curvature);
    add_ratio_penalty_gradient(0.7, Vector{{u + h}}, ahead);
    add_ratio_penalty_gradient(0.7, Vector{{u - h}}, behind);
    EXPECT_NEAR(
        (ratio_penalty(0.7, Vector{{u + h}}) - ratio_penalty(0.7, Vector{{u - h}})) / (2 * h),
        slope[0], 1e-9);
    EXPECT_NEAR((ahead[0] - behind[0]) / (2 * h), curvature[0], 1e-8);
  }
}

TEST(GlmFamilies, RejectInvalidSettings) {
  const auto refused = [](auto family, auto&& change) {
    change(family);
    EXPECT_THROW(family.make({.records = 10}), InputError);
  };
  refused(GlmSigmoid(), [](GlmSigmoid& f) { f.planted_norm = 4; });  // outside the domain
  refused(GlmSigmoid(), [](GlmSigmoid& f) { f.flips = 0.1; });       // of realisable labels
  refused(GlmSigmoid(), [](GlmSigmoid& f) { f.radius = 0; });
  refused(GlmSigmoid(), [](GlmSigmoid& f) { f.support = -1; });
  refused(GlmSigmoid(), [](GlmSigmoid& f) { f.features.spread = 0; });
  refused(GlmSigmoid(), [](GlmSigmoid& f) { f.start.kind = StartOption::Kind::saddle; });
  refused(GlmWelsch(), [](GlmWelsch& f) { f.rank = 11; });
  refused(GlmWelsch(), [](GlmWelsch& f) { f.scale = 0; });
  refused(GlmTukey(), [](GlmTukey& f) { f.opposed = 0.5, f.support = 3; });
  refused(GlmLogistic(), [](GlmLogistic& f) { f.regulariser = -1; });
}

}  // namespace
}  // namespace dpsosp::glm_test
