// SPDX-License-Identifier: Apache-2.0
// avdiukhin-2024, Definition B.6 to Lemma B.10: coupled runs, and the parts of their difference.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"

namespace dpsosp {

using namespace avdiukhin_2024_probe;

namespace {

/// f_i(x) = ½ xᵀAx + b_i cos⟨w_i, x⟩ with a saddle near 0: A has the eigenvalues −γ, 1, …, 1, the
/// w_i are unit vectors, and the b_i have mean zero and a t law with three degrees of freedom.
class SaddleRecords {
 public:
  SaddleRecords(Index dimension, Index records, double strength, Stream stream)
      : w_(dimension, records), b_(records), quadratic_(Matrix::Identity(dimension, dimension)) {
    quadratic_(0, 0) = -0.5;
    for (Index i = 0; i < records; ++i) {
      stream.fill_normal(1.0, w_.col(i));
      w_.col(i).normalize();
      double chi2 = 0;
      for (int k = 0; k < 3; ++k) chi2 += std::pow(stream.normal(), 2);
      b_[i] = stream.normal() / std::sqrt(chi2 / 3.0);
    }
    b_.array() -= b_.mean();
    b_ *= strength / std::sqrt(b_.squaredNorm() / static_cast<double>(records));
  }

  Index records() const { return b_.size(); }
  /// A bound of ρ: mean |b_i| ‖w_i‖³.
  double hessian_lipschitz() const { return b_.cwiseAbs().mean(); }

  Vector gradient(const Vector& x) const {
    const Vector sines = (w_.transpose() * x).array().sin();
    return quadratic_ * x - w_ * b_.cwiseProduct(sines) / static_cast<double>(records());
  }
  Vector batch_gradient(const Vector& x, const std::vector<Index>& members) const {
    Vector g = quadratic_ * x;
    for (const Index i : members)
      g -= b_[i] * std::sin(w_.col(i).dot(x)) / static_cast<double>(members.size()) * w_.col(i);
    return g;
  }
  Matrix hessian(const Vector& x) const {
    const Vector cosines = (w_.transpose() * x).array().cos();
    const Vector weights = b_.cwiseProduct(cosines) / static_cast<double>(records());
    return quadratic_ - w_ * weights.asDiagonal() * w_.transpose();
  }

 private:
  Matrix w_;
  Vector b_;
  Matrix quadratic_;
};

/// Two runs of Definition B.6: one batch, and noises that are mirrored along v₁.
class CoupledRuns {
 public:
  CoupledRuns(const SaddleRecords& f, const Vector& start, Index batch, double step, double noise)
      : f_(f), batch_(batch), step_(step), noise_(noise), x(start), other(start) {
    const SymmetricEigen eigen = symmetric_eigen(f.hessian(start));
    gamma = -eigen.values[0];
    direction = eigen.vectors.col(0);
  }

  /// One step. Sets the differences ξ̄ and ζ̄ of the noises that it took.
  void advance(Stream& stream) {
    Vector xi(x.size());
    stream.fill_normal(noise_, xi);
    stream.subset(f_.records(), batch_, members_);
    const Vector mirrored = xi - 2.0 * direction.dot(xi) * direction;
    const Vector g = f_.batch_gradient(x, members_), h = f_.batch_gradient(other, members_);
    noise_difference = xi - mirrored;
    sampling_difference = (g - f_.gradient(x)) - (h - f_.gradient(other));
    x -= step_ * (g + xi);
    other -= step_ * (h + mirrored);
  }

 private:
  const SaddleRecords& f_;
  Index batch_;
  double step_, noise_;
  std::vector<Index> members_;

 public:
  Vector x, other, direction, noise_difference, sampling_difference;
  double gamma = 0;
};

/// Γ x̄ of Lemma B.7: ∫ (∇²f(ψx + (1 − ψ)x′) − H) dψ · (x − x′), by Gauss-Legendre quadrature with
/// five nodes on each part of [0, 1], a part for every half of a unit between the points, and
/// eight.
Vector curvature_change(const SaddleRecords& f, const Matrix& H, const Vector& x, const Vector& y) {
  constexpr std::array nodes{0.0, 0.5384693101056831, 0.9061798459386640};
  constexpr std::array weights{0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
  const int parts = 8 + static_cast<int>(2.0 * (x - y).norm());
  Matrix sum = Matrix::Zero(x.size(), x.size());
  for (int k = 0; k < parts; ++k)
    for (std::size_t j = 0; j < nodes.size(); ++j)
      for (const double sign : {-1.0, 1.0}) {
        if (j == 0 && sign > 0) continue;
        const double psi = (k + 0.5 + 0.5 * sign * nodes[j]) / parts;
        sum += 0.5 / parts * weights[j] * (f.hessian(psi * x + (1.0 - psi) * y) - H);
      }
  return sum * (x - y);
}

}  // namespace

CoupledIdentity::Result avdiukhin_2024_probe::coupled_identity(const CoupledIdentity& parameters,
                                                               std::uint64_t seed) {
  const Index d = parameters.dimension;
  const double step = parameters.step_size, noise = parameters.noise;
  const Index steps = parameters.steps;
  Stream stream({.seed = seed, .purpose = Purpose::test});
  const SaddleRecords f(d, 40, 0.5, stream.child(0));
  Vector start(d);
  stream.fill_normal(0.3, start);
  CoupledRuns runs(f, start, 4, step, noise);
  const Matrix H = f.hessian(start);
  const SymmetricEigen eigen = symmetric_eigen(H);
  const auto power = [&](Index k, const Vector& v) -> Vector {  // (I − ηH)^k v
    const Vector factors = (1.0 - step * eigen.values.array()).pow(static_cast<double>(k)).matrix();
    return eigen.vectors * factors.asDiagonal() * (eigen.vectors.transpose() * v);
  };
  std::vector<Vector> xi, zeta, change;
  double off = 0, off_shifted = 0, least_part = 0;
  Vector before = Vector::Zero(d);  // x_{t−1} − x′_{t−1}
  for (Index t = 1; t <= steps; ++t) {
    change.push_back(curvature_change(f, H, runs.x, runs.other));
    runs.advance(stream);
    xi.push_back(runs.noise_difference);
    zeta.push_back(runs.sampling_difference);
    Vector dif = Vector::Zero(d), sgd = dif, q = dif;
    for (Index tau = 0; tau < t; ++tau) {
      const auto at = static_cast<std::size_t>(tau);
      dif += step * power(t - 1 - tau, xi[at]);
      sgd += step * power(t - 1 - tau, zeta[at]);
      q += step * power(t - 1 - tau, change[at]);
    }
    const Vector difference = runs.x - runs.other;
    const double scale = difference.norm();
    off = std::max(off, (difference + dif + sgd + q).norm() / scale);
    off_shifted = std::max(off_shifted, (before + dif + sgd + q).norm() / scale);
    least_part = std::max(least_part, std::min(sgd.norm(), q.norm()) / scale);
    before = difference;
  }
  return {.off = off, .off_shifted = off_shifted, .least_part = least_part};
}

DescentWithoutB::Result avdiukhin_2024_probe::descent_without_b(const DescentWithoutB& parameters,
                                                                std::uint64_t seed) {
  constexpr double step = 0.3;  // L = 1
  const double failure = parameters.failure, jumps = parameters.jumps;
  const double start = parameters.start, curvature = parameters.curvature;
  const Index steps = parameters.steps, runs = parameters.runs;
  constexpr Index d = 2;
  // σ²/B = 1; d Δ² = 1.01/δ̃; a jump of squared length 1/p has probability p, so that `jumps` δ̃
  // of them are expected in a run
  const double noise = std::sqrt(1.01 / failure / static_cast<double>(d));
  const double probability = std::min(1.0, jumps * failure / static_cast<double>(steps));
  const double jump = 1.0 / std::sqrt(probability);
  const double allowance =
      step * 1.01 / failure * (step * static_cast<double>(steps) + std::log(1.0 / failure));
  Stream stream({.seed = seed, .purpose = Purpose::test});
  std::vector<double> needed;
  for (Index k = 0; k < runs; ++k) {
    Vector x = Vector::Constant(d, start * noise), g(d), xi(d);
    const auto value = [&] { return 0.5 * (x[0] * x[0] + curvature * x[1] * x[1]); };
    const double before = value();
    double gradients = 0;
    for (Index t = 0; t < steps; ++t) {
      g << x[0], curvature * x[1];
      const double length = g.norm();
      gradients += length * length;
      stream.fill_normal(noise, xi);
      // the sampling noise is along the gradient, where it enters the descent
      if (stream.uniform() < probability && length > 0)
        xi += (stream.uniform() < 0.5 ? jump : -jump) / length * g;
      x -= step * (g + xi);
    }
    needed.push_back((value() - before + step / 16.0 * gradients) / allowance);
  }
  std::ranges::sort(needed);
  const auto at =
      static_cast<std::size_t>(std::ceil((1.0 - failure) * static_cast<double>(needed.size())) - 1);
  return {.needed = std::max(0.0, needed[at]),
          .above = std::ranges::count_if(needed, [](double c) { return c > 1.0; })};
}

}  // namespace dpsosp
