// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// True if Σ_{j ≤ k} p_j(λ)² ≤ limit; ends as soon as it is not, long before anything overflows.
bool sum_of_squares_within(const LanczosFactorization& f, double lambda, double limit) {
  double before = 0;
  double p = 1;
  double sum = 1;
  double beta_before = 0;
  for (Index j = 0; j < f.steps(); ++j) {
    const double next = ((lambda - f.diagonal[j]) * p - beta_before * before) / f.off_diagonal[j];
    before = p;
    p = next;
    sum += p * p;
    if (!(sum <= limit)) return false;
    beta_before = f.off_diagonal[j];
  }
  return true;
}

/// A power of two near the largest entry, 0 for ordinary ones.
int scale_of(const Vector& w) {
  const double largest = w.cwiseAbs().maxCoeff();
  if (largest == 0 || (largest > 0x1p-300 && largest < 0x1p300)) return 0;
  return std::clamp(std::ilogb(largest), -1000, 1000);
}

}  // namespace

LanczosFactorization lanczos(HessianOperator& hessian, ConstVectorRef start, Index steps) {
  return lanczos([&](ConstVectorRef v, VectorRef out) { hessian.apply(v, out); }, start, steps);
}

LanczosFactorization lanczos(const LinearMap& map, ConstVectorRef start, Index steps) {
  const Index d = start.size();
  const Index k = std::min(steps, d);
  LanczosFactorization f{
      .diagonal = Vector::Zero(k), .off_diagonal = Vector::Zero(k), .basis = Matrix(d, k)};
  Vector w(d), h(k);
  f.basis.col(0) = start / start.stableNorm();
  int exponent = 0;    // H is divided by 2^exponent, so that no square overflows or vanishes
  double scale = 0;    // of the entries of T so far
  double squares = 0;  // of what should be zero in Vᵀ H V
  Index done = 0;
  while (done < k) {
    const Index j = done++;
    const auto v = f.basis.leftCols(j + 1);
    map(f.basis.col(j), w);
    if (j == 0) exponent = scale_of(w);
    if (exponent != 0) w *= std::scalbn(1.0, -exponent);
    h.head(j + 1).noalias() = v.transpose() * w;
    f.diagonal[j] = h[j];
    if (j > 0) squares += std::pow(h[j - 1] - f.off_diagonal[j - 1], 2);
    if (j > 1) squares += h.head(j - 1).squaredNorm();
    w.noalias() -= v * h.head(j + 1);
    h.head(j + 1).noalias() = v.transpose() * w;
    f.diagonal[j] += h[j];
    w.noalias() -= v * h.head(j + 1);
    const double beta = w.stableNorm();
    f.off_diagonal[j] = beta;
    scale = std::max({scale, std::abs(f.diagonal[j]), beta});
    if (beta <= 8 * std::sqrt(static_cast<double>(d)) * epsilon * scale) break;
    if (done < k) f.basis.col(done) = w / beta;
  }
  const double unit = std::scalbn(1.0, exponent);
  f.asymmetry = unit * std::sqrt(squares);
  f.diagonal = unit * f.diagonal.head(done).eval();
  f.off_diagonal = unit * f.off_diagonal.head(done).eval();
  f.basis.conservativeResize(Eigen::NoChange, done);
  return f;
}

RitzPair extreme_ritz(const LanczosFactorization& f) {
  const Index k = f.steps();
  const SymmetricEigen eigen = tridiagonal_eigen(f.diagonal, f.off_diagonal.head(k - 1));
  RitzPair pair{.smallest = eigen.values[0], .largest = eigen.values[k - 1]};
  pair.direction.noalias() = f.basis * eigen.vectors.col(0);
  pair.direction.normalize();
  return pair;
}

double start_weight(Index dimension, double failure_probability) {
  if (dimension < 1) reject("start_weight", "dimension", static_cast<double>(dimension), ">= 1");
  if (!(failure_probability > 0 && failure_probability < 1))
    reject("start_weight", "failure_probability", failure_probability, "in (0, 1)");
  return failure_probability /
         std::sqrt(2.0 * static_cast<double>(dimension - 1) / std::numbers::pi);
}

double moment_lower_bound(const LanczosFactorization& f, double weight) {
  const double limit = 1 + 1 / (weight * weight);
  const double ritz = extreme_ritz(f).smallest;
  const double scale = f.diagonal.cwiseAbs().maxCoeff() + f.off_diagonal.maxCoeff();
  if (scale == 0) return ritz;
  double reach = epsilon * scale;
  while (sum_of_squares_within(f, ritz - reach, limit)) reach *= 2;
  double below = ritz - reach;  // excluded
  double above = ritz;
  while (above - below > epsilon * scale) {
    const double middle = below + 0.5 * (above - below);
    if (middle <= below || middle >= above) break;
    (sum_of_squares_within(f, middle, limit) ? above : below) = middle;
  }
  return below;
}

double chebyshev_gap(double weight, Index steps) {
  const double angle = std::asinh(1 / weight) / static_cast<double>(2 * steps - 1);
  return std::pow(std::sinh(angle), 2);
}

}  // namespace dpsosp
