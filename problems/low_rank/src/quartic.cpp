// SPDX-License-Identifier: Apache-2.0
#include "quartic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/hypotenuse.hpp"

namespace dpsosp {
namespace {

/// max |p r³ + q r| over r ∈ [0, R].
double cubic_peak(double p, double q, double radius) {
  const auto size = [&](double r) { return std::abs((p * r * r + q) * r); };
  double peak = size(radius);
  const double stationary = -q / (3 * p);
  if (stationary > 0 && stationary < radius * radius)
    peak = std::max(peak, size(std::sqrt(stationary)));
  return peak;
}

/// Ends and stationary value of b + 2bκ² − (3w/4)(1 + κ)² over κ ∈ [0, 1].
std::vector<double> curvatures(double w, double b) {
  const auto at = [&](double k) { return b + 2 * b * k * k - 0.75 * w * (1 + k) * (1 + k); };
  std::vector<double> values{at(0), at(1)};
  const double stationary = 1.5 * w / (4 * b - 1.5 * w);
  if (stationary > 0 && stationary < 1) values.push_back(at(stationary));
  return values;
}

}  // namespace

QuarticBounds quartic_bounds(double w, double b, double gamma, double radius) {
  const double squared = radius * radius;
  QuarticBounds bounds;
  bounds.gradient = std::max(cubic_peak(b, -gamma, radius), cubic_peak(b - w, -gamma, radius));
  bounds.hessian = gamma;
  for (const double factor : {0.0, w})
    for (const double c : curvatures(factor, b))
      bounds.hessian = std::max(bounds.hessian, std::abs(squared * c - gamma));
  bounds.third = 6 * radius * std::max(std::abs(b), std::abs(w - b));
  return bounds;
}

QuarticBounds either(const QuarticBounds& first, const QuarticBounds& second) {
  return {std::max(first.gradient, second.gradient), std::max(first.hessian, second.hessian),
          std::max(first.third, second.third)};
}

double shifted_norm(double shift, const RankTwo& u) {
  const double of_p = u.alpha * u.p_squared, of_q = u.beta * u.q_squared;
  const double mean = std::sqrt(std::abs(u.alpha)) * std::sqrt(std::abs(u.beta));
  // (of_p + of_q)²/4 − αβ across² = (of_p − of_q)²/4 + αβ inner²: of the two, the sum of squares
  const bool opposed = (u.alpha < 0) != (u.beta < 0);
  const double root = opposed ? hypotenuse(0.5 * (of_p + of_q), mean * u.across)
                              : hypotenuse(0.5 * (of_p - of_q), mean * u.inner);
  return std::max(std::abs(shift), std::abs(shift + 0.5 * (of_p + of_q)) + root);
}

RadialChange::RadialChange(double b, ConstVectorRef x, ConstVectorRef previous)
    : b_(b), sum_(x + previous), difference_(x - previous) {}

Vector RadialChange::product(ConstVectorRef v) const {
  return b_ * (sum_.dot(difference_) * v + difference_.dot(v) * sum_ + sum_.dot(v) * difference_);
}

double RadialChange::norm() const {
  return std::abs(b_) * (2 * std::abs(sum_.dot(difference_)) + sum_.norm() * difference_.norm());
}

Quartic::Quartic(Matrix basis, Vector weights, double beta)
    : basis_(std::move(basis)), weights_(std::move(weights)), beta_(beta) {}

double Quartic::value(ConstVectorRef x) const {
  const Vector u = in_basis(basis_, x);
  return -0.25 * weights_.dot(u.array().square().square().matrix()) + radial().value(x);
}

void Quartic::gradient(ConstVectorRef x, VectorRef out) const {
  const Vector u = in_basis(basis_, x);
  out = radial().slope(x) * x - from_basis(basis_, weights_.array() * u.array().cube());
}

void Quartic::hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const {
  const Vector u = in_basis(basis_, x);
  const Vector along = in_basis(basis_, v);
  out = radial().hessian_product(x, v) -
        from_basis(basis_, 3 * weights_.array() * u.array().square() * along.array());
}

Vector Quartic::critical_point(const std::vector<Index>& support) const {
  double inverse = 0;
  for (const Index j : support) inverse += 1 / weights_[j];
  const double gamma = beta_ - 1;
  const double squared = gamma / (beta_ - 1 / inverse);
  Vector u = Vector::Zero(weights_.size());
  for (const Index j : support) u[j] = std::sqrt((beta_ * squared - gamma) / weights_[j]);
  return from_basis(basis_, u);
}

double Quartic::minimum() const {
  const double gamma = beta_ - 1;
  return -0.25 * gamma * gamma / (beta_ - weights_.maxCoeff());
}

std::vector<Landmark> Quartic::landmarks(Landmark::Of of) const {
  std::vector<Landmark> made{
      {"origin", Landmark::Kind::strict_saddle, of, Vector::Zero(weights_.size())}};
  Index heaviest = 0;
  if (weights_.maxCoeff(&heaviest) < beta_)
    made.push_back({"one component", Landmark::Kind::minimiser, of, critical_point({heaviest})});
  std::vector<Index> present;
  double inverse = 0;
  for (Index j = 0; j < weights_.size(); ++j)
    if (weights_[j] > 0) {
      present.push_back(j);
      inverse += 1 / weights_[j];
    }
  const auto add_saddle = [&](const std::vector<Index>& support, double inverse_sum) {
    if (beta_ * inverse_sum > 1)
      made.push_back({fmt::format("{} components", support.size()), Landmark::Kind::strict_saddle,
                      of, critical_point(support)});
  };
  if (present.size() >= 2)
    add_saddle({present[0], present[1]}, 1 / weights_[present[0]] + 1 / weights_[present[1]]);
  if (present.size() >= 3) add_saddle(present, inverse);
  return made;
}

Vector in_basis(const Matrix& basis, ConstVectorRef x) {
  return basis.size() == 0 ? Vector(x) : Vector(basis.transpose() * x);
}

Vector from_basis(const Matrix& basis, ConstVectorRef u) {
  return basis.size() == 0 ? Vector(u) : Vector(basis * u);
}

void settle_at_saddle(const StartOption& start, double radius, const Vector& saddle,
                      const Stream& random, PublicFacts& facts) {
  facts.domain = Domain::ball(radius);
  facts.initial_point =
      start.pick(facts,
                 {.standard = saddle,
                  .saddle = saddle,
                  .random_spread = 0.5 / std::sqrt(static_cast<double>(saddle.size())),
                  .far_radius = radius},
                 random);
}

Slice component_slice(std::string caption, const Matrix& basis, Index d, double radius) {
  return {std::move(caption),
          Vector::Zero(d),
          from_basis(basis, Vector::Unit(d, 0)),
          from_basis(basis, Vector::Unit(d, 1)),
          -radius,
          radius,
          -radius,
          radius,
          "along a₁",
          "along a₂"};
}

Matrix random_basis(Index d, StreamKey key) {
  Matrix gaussian(d, d);
  Stream(key).fill_normal(1.0, gaussian.reshaped());
  QrFactors qr = thin_qr(gaussian);
  for (Index j = 0; j < d; ++j)
    if (qr.r_diagonal[j] < 0) qr.q.col(j) *= -1;
  return std::move(qr.q);
}

}  // namespace dpsosp
