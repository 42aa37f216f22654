// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dpsosp/core/elementary.hpp"
#include "phase_link.hpp"

namespace dpsosp {
namespace {

using Array = Eigen::ArrayXd;

/// Gauss-Legendre nodes and weights on [from, to].
std::pair<Array, Array> gauss_legendre(Index count, double from, double to) {
  Array nodes(count), weights(count);
  const auto n = static_cast<double>(count);
  for (Index k = 0; k < count; ++k) {
    double u = portable_cos(std::numbers::pi * (static_cast<double>(k) + 0.75) / (n + 0.5));
    double slope = 0;
    for (int step = 0; step < 100; ++step) {
      double before = 1, p = u;
      for (Index j = 2; j <= count; ++j) {
        const auto degree = static_cast<double>(j);
        before = std::exchange(p, ((2 * degree - 1) * u * p - (degree - 1) * before) / degree);
      }
      slope = n * (u * p - before) / (u * u - 1);
      const double change = p / slope;
      u -= change;
      if (std::abs(change) < 1e-15) break;
    }
    nodes[k] = 0.5 * (from + to) + 0.5 * (to - from) * u;
    weights[k] = (to - from) / ((1 - u * u) * slope * slope);
  }
  return {nodes, weights};
}

/// Radii and probabilities of the part of a in a plane, d ≥ 2.
std::pair<Array, Array> radial_rule(Design design, Index d, Index count) {
  const auto dimension = static_cast<double>(d);
  if (design == Design::gaussian) {
    constexpr double tail = 9;  // e^{−81/2} is below the rounding
    auto [radius, weight] = gauss_legendre(count, 0, tail);
    weight *= radius * (-0.5 * radius.square()).exp();
    return {radius, weight / weight.sum()};
  }
  if (d == 2) return {Array::Constant(1, std::sqrt(2.0)), Array::Ones(1)};
  // radius √d sin ω with density ∝ sin ω cos^{d−3} ω
  auto [angle, weight] = gauss_legendre(count, 0, std::numbers::pi / 2);
  const Array sine = sines(angle);
  weight *= sine * cosines(angle).array().pow(dimension - 3);
  return {std::sqrt(dimension) * sine, weight / weight.sum()};
}

/// F(x) = φ(α, β) with α = x·x*/‖x*‖ and β = ‖x − α x*/‖x*‖‖, as a sum over a fixed set of nodes
/// (a₁, a₂) in the plane of x* and x, whose derivatives are exact.
class AmplitudePopulation final : public Objective {
 public:
  AmplitudePopulation(const Vector& signal, const AmplitudeLaw& law)
      : axis_(signal.normalized()), e_squared_(law.smoothing * law.smoothing) {
    place_nodes(law);
    const Array squared = (signal.norm() * first_).square() + e_squared_;
    target_ = 0.5 * ((squared + law.noise).sqrt() + (squared - law.noise).sqrt());
    spread_ = 0.5 * (weight_ * (squared - target_.square())).sum();
  }

  Index dimension() const override { return axis_.size(); }

  double value(ConstVectorRef x) const override {
    const Plane at = plane(x);
    return 0.5 * (weight_ * (height(at) - target_).square()).sum() + spread_;
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    const Plane at = plane(x);
    const Array slope = weighted_slope(at, height(at));
    out = (slope * first_).sum() * axis_ + (slope * second_).sum() * at.across;
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const Plane at = plane(x);
    const Array h = height(at);
    const Array curvature = weight_ * (1 - e_squared_ * target_ / h.cube());
    const double aa = (curvature * first_.square()).sum();
    const double ab = (curvature * first_ * second_).sum();
    const double bb = (curvature * second_.square()).sum();
    // φ_β/β for the directions in which x* and x have no part, φ_ββ in the limit
    constexpr double near_axis = 1e-5;
    const double rest = at.b > near_axis ? (weighted_slope(at, h) * second_).sum() / at.b : bb;
    const double along = axis_.dot(v), across = at.across.dot(v);
    out = rest * (v - along * axis_ - across * at.across) + (aa * along + ab * across) * axis_ +
          (ab * along + bb * across) * at.across;
  }

 private:
  struct Plane {
    double a = 0, b = 0;
    Vector across;  // unit, or zero where x is on the axis
  };

  void place_nodes(const AmplitudeLaw& law) {
    const Index d = axis_.size();
    if (d == 1 && law.design == Design::sphere) {
      first_ = weight_ = Array::Ones(1);
      second_ = Array::Zero(1);
      return;
    }
    // the integrand is analytic to a distance of about e/‖x‖ from the real axis
    const double detail = std::max(1.0, law.reach / (3 * law.smoothing));
    const auto angles = static_cast<Index>(160 * detail);
    const auto [radius, probability] = radial_rule(law.design, d, static_cast<Index>(120 * detail));
    // half a turn: the integrand is even in a
    const Array turn = std::numbers::pi / static_cast<double>(angles) *
                       Array::LinSpaced(angles, 0, static_cast<double>(angles - 1));
    first_ = (cosines(turn) * radius.matrix().transpose()).reshaped().array();
    second_ = (sines(turn) * radius.matrix().transpose()).reshaped().array();
    weight_ = (Vector::Constant(angles, 1 / static_cast<double>(angles)) *
               probability.matrix().transpose())
                  .reshaped()
                  .array();
  }

  Plane plane(ConstVectorRef x) const {
    Plane at;
    at.a = axis_.dot(x);
    at.across = x - at.a * axis_;
    at.b = at.across.norm();
    if (at.b > 0) at.across /= at.b;
    return at;
  }
  Array product(const Plane& at) const { return at.a * first_ + at.b * second_; }
  Array height(const Plane& at) const { return (product(at).square() + e_squared_).sqrt(); }
  Array weighted_slope(const Plane& at, const Array& h) const {
    return weight_ * product(at) * (1 - target_ / h);
  }

  Vector axis_;
  double e_squared_;
  Array first_, second_, weight_;  // nodes (a₁, a₂) and their probabilities
  Array target_;                   // E over the noise of √(b + e²)
  double spread_ = 0;              // half the variance that the noise leaves
};

}  // namespace

std::unique_ptr<const Objective> amplitude_population(Vector signal, const AmplitudeLaw& law) {
  return std::make_unique<AmplitudePopulation>(std::move(signal), law);
}

}  // namespace dpsosp
