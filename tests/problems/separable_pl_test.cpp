// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"
#include "dpsosp/problems/separable_pl.hpp"

namespace dpsosp::separable_pl_test {
namespace {

double kappa(double t) { return t * t + 3 * std::sin(t) * std::sin(t); }
double kappa_slope(double t) { return 2 * t + 3 * std::sin(2 * t); }

/// [low, high], rounded outwards by more than the error of one operation.
struct Interval {
  double low = 0, high = 0;

  static Interval around(double low, double high) {
    const double slack = 4e-16 * (1 + std::max(std::abs(low), std::abs(high)));
    return {low - slack, high + slack};
  }
  double middle() const { return 0.5 * (low + high); }
  double radius() const { return 0.5 * (high - low); }
};
Interval operator+(Interval a, Interval b) {
  return Interval::around(a.low + b.low, a.high + b.high);
}
Interval operator-(Interval a, Interval b) {
  return Interval::around(a.low - b.high, a.high - b.low);
}
Interval operator*(Interval a, Interval b) {
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return Interval::around(low, high);
}
Interval operator*(double scale, Interval a) { return Interval{scale, scale} * a; }
Interval square(Interval a) {
  const double high = std::max(a.low * a.low, a.high * a.high);
  const double low = a.low > 0 || a.high < 0 ? std::min(a.low * a.low, a.high * a.high) : 0;
  const Interval out = Interval::around(low, high);
  return {std::max(0.0, out.low), out.high};
}
/// |sin x − sin m − (x − m) cos m| ≤ (x − m)²/2.
Interval sine(Interval a) {
  const double m = a.middle(), r = a.radius() * (1 + 1e-15);
  const Interval tangent = Interval{std::sin(m), std::sin(m)} + std::cos(m) * Interval{-r, r};
  const Interval out = tangent + Interval{-r * r / 2, r * r / 2};
  return {std::max(-1.0, out.low), std::min(1.0, out.high)};
}
Interval kappa(Interval t) { return square(t) + 3 * square(sine(t)); }
Interval kappa_slope(Interval t) { return 2 * t + 3 * sine(2 * t); }

/// (κ′(t) − κ′(s))² − 2μ(κ(t) − κ(s) − κ′(s)(t − s)): what is to be non-negative. Enclosed by the
/// mean value form, slopes bounded by |κ′(t) − κ′(s)| ≤ 8|t − s| and |κ″| ≤ 8.
Interval surplus(double mu, Interval s, Interval t) {
  const Interval pull = kappa_slope(t) - kappa_slope(s);
  const Interval direct = square(pull) - 2 * mu * (kappa(t) - kappa(s) - kappa_slope(s) * (t - s));
  const Interval sm{s.middle(), s.middle()}, tm{t.middle(), t.middle()};
  const Interval pull_m = kappa_slope(tm) - kappa_slope(sm);
  const Interval centre =
      square(pull_m) - 2 * mu * (kappa(tm) - kappa(sm) - kappa_slope(sm) * (tm - sm));
  // ∂_t = 2 pull (κ″(t) − μ), ∂_s = −2 κ″(s) (pull − μ (t − s)), κ″ = 2 + 6 cos 2u
  const auto curvature = [](Interval u) {
    return Interval{2, 2} +
           6 * sine(2 * u + Interval::around(std::numbers::pi / 2, std::numbers::pi / 2));
  };
  const Interval by_t = 2 * (pull * (curvature(t) - Interval{mu, mu}));
  const Interval by_s = -2 * (curvature(s) * (pull - mu * (t - s)));
  const double r = t.radius() * (1 + 1e-12), q = s.radius() * (1 + 1e-12);
  const Interval mean_value = centre + by_t * Interval{-r, r} + by_s * Interval{-q, q};
  return {std::max(direct.low, mean_value.low), std::min(direct.high, mean_value.high)};
}

/// Whether the surplus is positive on the whole box, by splitting it.
bool positive_on(double mu, Interval s, Interval t) {
  std::vector<std::pair<Interval, Interval>> open{{s, t}};
  for (int boxes = 0; !open.empty(); ++boxes) {
    const auto [a, b] = open.back();
    open.pop_back();
    const Interval value = surplus(mu, a, b);
    if (value.low > 0) continue;
    if (value.high < 0 || boxes > 2'000'000 || b.radius() < 1e-9) return false;
    if (8 * a.radius() > b.radius()) {
      open.push_back({{a.low, a.middle()}, b});
      open.push_back({{a.middle(), a.high}, b});
    } else {
      open.push_back({a, {b.low, b.middle()}});
      open.push_back({a, {b.middle(), b.high}});
    }
  }
  return true;
}

/// The minimiser of κ(t) − ct for c ≤ ½ is in [0, 0.06263], as κ′(0.06263) > ½ and κ′ rises there.
constexpr double farthest_minimiser = 0.06263;

TEST(SeparablePl, IntervalsCertifyCentredConstant) {
  EXPECT_TRUE(positive_on(SeparablePl::pl_centred, {0, 0}, {0.8, 3}));  // κ is even
  EXPECT_FALSE(positive_on(0.1756, {0, 0}, {0.8, 3}));
}

TEST(SeparablePl, IntervalsCertifyTiltedConstant) {
  EXPECT_GT(kappa_slope(farthest_minimiser), SeparablePl::certified_tilt);
  const Interval s{0, farthest_minimiser};  // c < 0 mirrors this
  EXPECT_TRUE(positive_on(SeparablePl::pl_tilted, s, {0.85, 4}));
  EXPECT_TRUE(positive_on(SeparablePl::pl_tilted, s, {-4, -0.85}));
}

TEST(SeparablePl, TiltedConstantIsSharp) {
  double s = 0.05;  // κ′(s) = ½
  for (int i = 0; i < 50; ++i) s += (0.5 - kappa_slope(s)) / 8;
  const double t = 2.1947;
  const double ratio =
      std::pow(kappa_slope(t) - 0.5, 2) / (2 * (kappa(t) - kappa(s) - 0.5 * (t - s)));
  EXPECT_GE(ratio, SeparablePl::pl_tilted);
  EXPECT_LT(ratio, 0.09552);
  EXPECT_FALSE(positive_on(0.0956, {s, s}, {2, 2.4}));
}

TEST(SeparablePl, ProofInequalitiesHold) {
  const auto curvature = [](double t) { return 2 + 6 * std::cos(2 * t); };
  EXPECT_GE(curvature(0.8), 1.82);
  EXPECT_GE(1.82 * 1.82, 2 * SeparablePl::pl_centred * 4);
  EXPECT_GE(curvature(0.85), 1.22);
  EXPECT_GE(1.22 * 1.22, 2 * SeparablePl::pl_tilted * 4);
  for (double t = 3; t < 100; t += 0.01)
    EXPECT_GE(std::pow(2 * t - 3, 2), 2 * SeparablePl::pl_centred * (t * t + 3));
  for (double t = 4; t < 100; t += 0.01)  // κ(t) − κ(s) − c(t − s) ≤ t² + 3 + ½(t + 0.07)
    EXPECT_GE(std::pow(2 * t - 3.5, 2),
              2 * SeparablePl::pl_tilted * (t * t + 3 + 0.5 * (t + 0.07)));
}

TEST(SeparablePl, CoordinateMatchesReference) {  // lowy-2024 notes, 8: t = 1, c = ½
  const auto p = SeparablePl().make({.records = 2, .dimension = 1});
  const auto tilted_down =
      tilted(std::shared_ptr<const Objective>(
                 SeparablePl().make({.records = 2, .dimension = 1}).population.release()),
             Vector{{-0.5}});
  const Vector one{{1}};
  Vector g(1), Hv(1);
  EXPECT_NEAR(tilted_down->value(one), 2.6242202548, 1e-10);
  tilted_down->gradient(one, g);
  EXPECT_NEAR(g[0], 4.2278922805, 1e-10);
  tilted_down->hessian_product(one, one, Hv);
  EXPECT_NEAR(Hv[0], -0.4968810193, 1e-10);
}

TEST(SeparablePl, WorstDataSetAttainsTiltedConstant) {
  SeparablePl family;
  family.sampling = RecordSampling::independent;  // one record: every |c| is ½
  const Problem p = family.make({.records = 1, .dimension = 3});
  const double mu = p.facts.constants[constant::pl];
  EXPECT_EQ(mu, SeparablePl::pl_tilted);
  Vector zero_gradient(3), g(3);
  p.empirical->gradient(Vector::Zero(3), zero_gradient);
  const Vector c = std::sqrt(3.0) * zero_gradient;
  EXPECT_LT((c.cwiseAbs() - Vector::Constant(3, 0.5)).norm(), 1e-14);
  Vector minimiser = -c / 8;
  for (int i = 0; i < 60; ++i) {
    p.empirical->gradient(minimiser / std::sqrt(3.0), g);
    minimiser -= std::sqrt(3.0) * g / 8;
  }
  minimiser /= std::sqrt(3.0);
  const double least = p.empirical->value(minimiser);
  const Vector worst = -2.1947 / std::sqrt(3.0) * c.cwiseSign();
  p.empirical->gradient(worst, g);
  const double ratio = g.squaredNorm() / (2 * (p.empirical->value(worst) - least));
  EXPECT_GE(ratio, mu);
  EXPECT_LT(ratio, 1.001 * mu);
}

TEST(SeparablePl, StatesNoConstantForLargerTilt) {
  SeparablePl family;
  family.tilt = 0.6;
  EXPECT_TRUE(family.make({.records = 4}).facts.constants.contains(constant::pl));  // balanced
  family.sampling = RecordSampling::whole;
  EXPECT_FALSE(family.make({.records = 4}).facts.constants.contains(constant::pl));
}

TEST(SeparablePl, LipschitzConstantIsLargestSlopeInBox) {
  for (const double width : {0.3, 0.9, 1.2, 3.0, 3.9, 4.2, 5.5, 11.0}) {
    SeparablePl family;
    family.half_width = width;
    double largest = 0;
    for (int i = 0; i <= 20000; ++i)
      largest = std::max(largest, std::abs(kappa_slope(width * i / 20000)));
    const double G = family.make({.records = 2}).facts.constants[constant::lipschitz] - family.tilt;
    EXPECT_LE(largest, G * (1 + 1e-14)) << width;
    EXPECT_GE(largest, G * (1 - 1e-6)) << width;
  }
}

TEST(SeparablePl, StationaryPointIsUniqueUpToStatedTilt) {
  for (const double c : {0.0, 0.5, 1.54, 1.55}) {
    int zeros = 0;
    for (double t = -5; t < 5; t += 1e-3)
      zeros += (kappa_slope(t) < c) != (kappa_slope(t + 1e-3) < c) ? 1 : 0;
    EXPECT_EQ(zeros, c < 1.544 ? 1 : 3) << c;
  }
}

}  // namespace
}  // namespace dpsosp::separable_pl_test
