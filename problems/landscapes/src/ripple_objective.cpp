// SPDX-License-Identifier: Apache-2.0
#include "ripple_objective.hpp"

#include <algorithm>
#include <cmath>

#include "certified_minimum.hpp"
#include "dpsosp/core/elementary.hpp"

namespace dpsosp {

double Ripple::value(double t) const {
  return std::sqrt(1 + t * t) - 1 + amplitude * (1 - portable_cos(frequency * t));
}

double Ripple::slope(double t) const {
  return t / std::sqrt(1 + t * t) + amplitude * frequency * portable_sin(frequency * t);
}

double Ripple::curvature(double t) const {
  const double q = 1 + t * t;
  return 1 / (q * std::sqrt(q)) + amplitude * frequency * frequency * portable_cos(frequency * t);
}

Vector Ripple::values(ConstVectorRef t) const {
  return (1 + t.array().square()).sqrt() - 1 + amplitude * (1 - cosines(frequency * t).array());
}

Vector Ripple::slopes(ConstVectorRef t) const {
  return t.array() / (1 + t.array().square()).sqrt() +
         amplitude * frequency * sines(frequency * t).array();
}

Vector Ripple::curvatures(ConstVectorRef t) const {
  const Eigen::ArrayXd q = 1 + t.array().square();
  return 1 / (q * q.sqrt()) + amplitude * frequency * frequency * cosines(frequency * t).array();
}

// −φ‴ = s + Aω³ sin ωt, s = 3t (1 + t²)^{−5/2}; why its maximum on this interval is sup |φ‴| is
// said in the proof of `hessian_lipschitz`.
double Ripple::third_bound() const {
  const double wave = amplitude * frequency * frequency * frequency;
  const auto jet = [&](double t) {
    const double q = 1 + t * t;
    return ScalarJet{
        3 * t * std::pow(q, -2.5) + wave * portable_sin(frequency * t),
        3 * (1 - 4 * t * t) * std::pow(q, -3.5) + wave * frequency * portable_cos(frequency * t)};
  };
  // s″ = 15 t (4t² − 3) (1 + t²)^{−9/2} and |4t² − 3| ≤ max(3, 4t²), so |s″| < 10.
  return certified_maximum(jet, 0, 0.5 + period(), 10 + wave * frequency * frequency,
                           1e-11 * (1 + wave));
}

RippleMixture::RippleMixture(const Ripple& ripple, const Eigen::Vector3d& weights)
    : ripple_(ripple), weights_(weights) {
  for (int k = -1; k <= 1; ++k) {
    cos_ += weights[k + 1] * portable_cos(ripple.frequency * k);
    sin_ += weights[k + 1] * portable_sin(ripple.frequency * k);
  }
}

double RippleMixture::value(double u) const {
  const double wave = ripple_.frequency * u;
  double sum = ripple_.amplitude * (1 - cos_ * portable_cos(wave) - sin_ * portable_sin(wave));
  for (int k = -1; k <= 1; ++k) sum += weights_[k + 1] * (std::sqrt(1 + (u - k) * (u - k)) - 1);
  return sum;
}

double RippleMixture::slope(double u) const {
  const double wave = ripple_.frequency * u;
  double sum = ripple_.amplitude * ripple_.frequency *
               (cos_ * portable_sin(wave) - sin_ * portable_cos(wave));
  for (int k = -1; k <= 1; ++k) sum += weights_[k + 1] * (u - k) / std::sqrt(1 + (u - k) * (u - k));
  return sum;
}

double RippleMixture::curvature(double u) const {
  const double wave = ripple_.frequency * u;
  double sum = ripple_.amplitude * ripple_.frequency * ripple_.frequency *
               (cos_ * portable_cos(wave) + sin_ * portable_sin(wave));
  for (int k = -1; k <= 1; ++k) {
    const double q = 1 + (u - k) * (u - k);
    sum += weights_[k + 1] / (q * std::sqrt(q));
  }
  return sum;
}

// Beyond the data by a period or more, a step of one period inwards shortens every |u − k| and
// leaves the ripple as it is, so the minimiser is within a period of the data.
double RippleMixture::minimiser() const {
  const double reach = 1 + ripple_.period();
  const double found = certified_minimum(
                           [&](double u) {
                             return ScalarJet{value(u), slope(u)};
                           },
                           -reach, reach, ripple_.curvature_bound())
                           .point;
  for (int k = 0; k < 17; ++k) {
    const double r = std::ldexp(1e-7, k);
    if (slope(found - r) < 0 && slope(found + r) > 0)
      return bisected_zero([&](double u) { return slope(u); }, found - r, found + r);
  }
  return found;
}

std::optional<double> RippleMixture::maximiser_near(double u) const {
  const double step = ripple_.period() / 64;
  for (int k = 1; k * step < 2; ++k)
    for (const double side : {step, -step}) {
      const double left = std::min(u + (k - 1) * side, u + k * side);
      const double right = left + step;
      if (left < -1 || right > 1 || !(slope(left) > 0 && slope(right) < 0)) continue;
      const double top = bisected_zero([&](double t) { return slope(t); }, left, right);
      if (curvature(top) < 0) return top;
    }
  return std::nullopt;
}

RippleObjective::RippleObjective(const Ripple& ripple, const Matrix& weights)
    : root_d_(std::sqrt(static_cast<double>(weights.cols()))) {
  for (Index j = 0; j < weights.cols(); ++j)
    coordinates_.emplace_back(ripple, Eigen::Vector3d(weights.col(j)));
}

double RippleObjective::value(ConstVectorRef x) const {
  double sum = 0;
  for (Index j = 0; j < x.size(); ++j) sum += at(j).value(root_d_ * x[j]);
  return sum / static_cast<double>(x.size());
}

void RippleObjective::gradient(ConstVectorRef x, VectorRef out) const {
  for (Index j = 0; j < x.size(); ++j) out[j] = at(j).slope(root_d_ * x[j]) / root_d_;
}

void RippleObjective::hessian_diagonal(ConstVectorRef x, VectorRef out) const {
  for (Index j = 0; j < x.size(); ++j) out[j] = at(j).curvature(root_d_ * x[j]);
}

Vector RippleObjective::minimiser() const {
  Vector x(dimension());
  for (Index j = 0; j < x.size(); ++j) x[j] = at(j).minimiser() / root_d_;
  return x;
}

std::optional<Vector> RippleObjective::saddle(const Vector& minimiser) const {
  const auto top = at(0).maximiser_near(root_d_ * minimiser[0]);
  if (!top) return std::nullopt;
  Vector x = minimiser;
  x[0] = *top / root_d_;
  return x;
}

}  // namespace dpsosp
