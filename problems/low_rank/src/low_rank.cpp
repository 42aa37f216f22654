// SPDX-License-Identifier: Apache-2.0
#include "low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {
namespace {

using ConstMatrixMap = Eigen::Map<const Matrix>;
using MatrixMap = Eigen::Map<Matrix>;

class FactoredObjective final : public Objective {
 public:
  explicit FactoredObjective(FactoredForm form) : form_(std::move(form)) {}

  Index dimension() const override { return (rows() + cols()) * form_.rank; }

  double value(ConstVectorRef x) const override {
    const Matrix r = residual(x);
    const double sum = 0.5 * form_.weights.cwiseProduct(r).cwiseProduct(r).sum() + form_.offset;
    return form_.balance > 0 ? sum + balance().value(x) : sum;
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    out.setZero();
    add_products(form_.weights.cwiseProduct(residual(x)), x, out);
    if (form_.balance > 0) balance().add_gradient(x, out);
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    out.setZero();
    add_products(form_.weights.cwiseProduct(residual(x)), v, out);
    const Matrix moved = left(v) * right(x).transpose() + left(x) * right(v).transpose();
    add_products(form_.weights.cwiseProduct(moved), x, out);
    if (form_.balance > 0) balance().add_hessian_product(x, v, out);
  }

 private:
  BalanceTerm balance() const { return {rows(), cols(), form_.rank, form_.balance}; }
  Index rows() const { return form_.target.rows(); }
  Index cols() const { return form_.target.cols(); }
  ConstMatrixMap left(ConstVectorRef x) const { return {x.data(), rows(), form_.rank}; }
  ConstMatrixMap right(ConstVectorRef x) const {
    return {x.data() + rows() * form_.rank, cols(), form_.rank};
  }
  MatrixMap out_left(VectorRef out) const { return {out.data(), rows(), form_.rank}; }
  MatrixMap out_right(VectorRef out) const {
    return {out.data() + rows() * form_.rank, cols(), form_.rank};
  }
  Matrix residual(ConstVectorRef x) const { return left(x) * right(x).transpose() - form_.target; }
  /// out += (G V, Gᵀ U).
  void add_products(const Matrix& G, ConstVectorRef x, VectorRef out) const {
    out_left(out).noalias() += G * right(x);
    out_right(out).noalias() += G.transpose() * left(x);
  }

  FactoredForm form_;
};

class SymmetricObjective final : public Objective {
 public:
  SymmetricObjective(Matrix target, Index rank, double weight, double offset)
      : target_(std::move(target)), rank_(rank), weight_(weight), offset_(offset) {}

  Index dimension() const override { return target_.rows() * rank_; }
  double value(ConstVectorRef x) const override {
    return 0.25 * weight_ * residual(x).squaredNorm() + offset_;
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    MatrixMap(out.data(), target_.rows(), rank_).noalias() = weight_ * residual(x) * factor(x);
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const Matrix cross = factor(v) * factor(x).transpose();
    MatrixMap(out.data(), target_.rows(), rank_).noalias() =
        weight_ * (residual(x) * factor(v) + (cross + cross.transpose()) * factor(x));
  }

 private:
  ConstMatrixMap factor(ConstVectorRef x) const { return {x.data(), target_.rows(), rank_}; }
  Matrix residual(ConstVectorRef x) const { return factor(x) * factor(x).transpose() - target_; }

  Matrix target_;  // Y, p × p
  Index rank_;
  double weight_;
  double offset_;
};

/// How many values count as positive.
Index numerical_rank(const Vector& descending) {
  constexpr double rounding = 1e-12;
  Index count = 0;
  while (count < descending.size() && descending[count] > rounding * descending[0]) ++count;
  return count;
}

/// The picture of values σ_1 ≥ … with factor columns `column(k)`, so that Σ_{k<j} column(k) e_kᵀ is
/// the truncation at j. `place(k, c)` is column(k) as column c of the variable, stacked.
template <class Place>
LowRankPicture picture(Index values, Index rank, Index dimension, Landmark::Of of,
                       const Place& place) {
  LowRankPicture made;
  const Index used = std::min(values, rank);
  const auto truncation = [&](Index j) {
    Vector x = Vector::Zero(dimension);
    for (Index k = 0; k < j; ++k) x += place(k, k);
    return x;
  };
  made.landmarks.push_back({used == values ? "balanced factors" : "best truncation at the rank",
                            Landmark::Kind::minimiser, of, truncation(used)});
  if (used == 0) return made;  // nothing planted: the origin
  made.landmarks.push_back({"origin", Landmark::Kind::strict_saddle, of, Vector::Zero(dimension)});
  if (used >= 2)
    made.landmarks.push_back({"truncation at rank " + std::to_string(used - 1),
                              Landmark::Kind::strict_saddle, of, truncation(used - 1)});
  if (rank >= 2)
    made.slice = Slice{used >= 2 ? "F over multiples of the first two factors: the origin is a "
                                   "saddle, (±1, ±1) are the lowest points of the plane"
                                 : "F over two columns along the first factor: the origin is a "
                                   "saddle inside a ring of minimisers",
                       Vector::Zero(dimension),
                       place(0, 0),
                       place(used >= 2 ? 1 : 0, 1),
                       -1.6,
                       1.6,
                       -1.6,
                       1.6,
                       "first column",
                       "second column"};
  return made;
}

}  // namespace

void check_planted_rank(std::string_view problem, Index planted_rank, Index most,
                        std::string_view most_in_words) {
  if (planted_rank > most)
    reject(problem, "planted_rank", static_cast<double>(planted_rank),
           fmt::format("in [1, {}]", most_in_words));
}

Vector start_around_origin(const StartOption& start, const PublicFacts& facts,
                           const StartScales& scales, const Stream& random) {
  Starts starts{.standard = Vector(facts.dimension),
                .saddle = Vector::Zero(facts.dimension),
                .random_spread = scales.random_spread,
                .far_radius = scales.far_radius};
  Stream(random).fill_normal(scales.spread, starts.standard);
  return start.pick(facts, starts, random);
}

void settle_in_ball(const StartOption& start, const StartScales& scales, const Stream& random,
                    PublicFacts& facts) {
  facts.domain = Domain::ball(scales.far_radius);
  facts.initial_point = start_around_origin(start, facts, scales, random);
}

Vector geometric_spectrum(Index count, double largest, double condition) {
  Vector values = Vector::Constant(count, largest);
  for (Index k = 1; k < count; ++k)
    values[k] =
        largest * std::pow(condition, -static_cast<double>(k) / static_cast<double>(count - 1));
  return values;
}

Matrix random_orthonormal(Index rows, Index cols, Stream stream) {
  Matrix gaussian(rows, cols);
  stream.fill_normal(1.0, gaussian.reshaped());
  return thin_qr(gaussian).q;
}

std::unique_ptr<const Objective> factored_objective(FactoredForm form) {
  return std::make_unique<FactoredObjective>(std::move(form));
}

std::unique_ptr<const Objective> symmetric_objective(Matrix target, Index rank, double weight,
                                                     double offset) {
  return std::make_unique<SymmetricObjective>(std::move(target), rank, weight, offset);
}

double BalanceTerm::value(ConstVectorRef x) const {
  const ConstMatrixMap U(x.data(), p_, r_), V(x.data() + p_ * r_, q_, r_);
  return 0.25 * weight_ * (U.transpose() * U - V.transpose() * V).squaredNorm();
}

void BalanceTerm::add_gradient(ConstVectorRef x, VectorRef out) const {
  const ConstMatrixMap U(x.data(), p_, r_), V(x.data() + p_ * r_, q_, r_);
  const Matrix D = weight_ * (U.transpose() * U - V.transpose() * V);
  MatrixMap(out.data(), p_, r_).noalias() += U * D;
  MatrixMap(out.data() + p_ * r_, q_, r_).noalias() -= V * D;
}

void BalanceTerm::add_hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const {
  const ConstMatrixMap U(x.data(), p_, r_), V(x.data() + p_ * r_, q_, r_);
  const ConstMatrixMap P(v.data(), p_, r_), Q(v.data() + p_ * r_, q_, r_);
  const Matrix D = weight_ * (U.transpose() * U - V.transpose() * V);
  const Matrix half = weight_ * (P.transpose() * U - Q.transpose() * V);
  const Matrix moved = half + half.transpose();
  MatrixMap(out.data(), p_, r_).noalias() += P * D + U * moved;
  MatrixMap(out.data() + p_ * r_, q_, r_).noalias() -= Q * D + V * moved;
}

double BalanceTerm::stacked_norm(ConstVectorRef x) const {
  const ConstMatrixMap U(x.data(), p_, r_), V(x.data() + p_ * r_, q_, r_);
  const Matrix UtU = U.transpose() * U, VtV = V.transpose() * V;
  return std::sqrt(std::max(symmetric_eigenvalues(UtU + VtV)[r_ - 1], 0.0));
}

double BalanceTerm::curvature_bound(ConstVectorRef x) const {
  const ConstMatrixMap U(x.data(), p_, r_), V(x.data() + p_ * r_, q_, r_);
  const Matrix UtU = U.transpose() * U, VtV = V.transpose() * V;
  const double unbalanced = symmetric_eigenvalues(UtU - VtV).cwiseAbs().maxCoeff();
  const double stacked = stacked_norm(x);
  return weight_ * (2 * stacked * stacked + unbalanced);
}

double BalanceTerm::curvature_change_bound(ConstVectorRef x, ConstVectorRef y) const {
  return weight_ * 6 * std::max(stacked_norm(x), stacked_norm(y)) * (x - y).norm();
}

LowRankPicture factored_picture(const Matrix& target, Index rank, Landmark::Of of) {
  const ThinSvd svd = thin_svd(target);
  const Vector& values = svd.values;
  const Index p = target.rows(), q = target.cols();
  return picture(numerical_rank(values), rank, (p + q) * rank, of,
                 [&](Index k, Index column) -> Vector {
                   Vector x = Vector::Zero((p + q) * rank);
                   x.segment(column * p, p) = std::sqrt(values[k]) * svd.u.col(k);
                   x.segment(rank * p + column * q, q) = std::sqrt(values[k]) * svd.v.col(k);
                   return x;
                 });
}

LowRankPicture symmetric_picture(const Matrix& target, Index rank, Landmark::Of of) {
  const SymmetricEigen eigen = symmetric_eigen(target);
  const Vector values = eigen.values.reverse();
  const Index p = target.rows();
  return picture(numerical_rank(values), rank, p * rank, of, [&](Index k, Index column) -> Vector {
    Vector x = Vector::Zero(p * rank);
    x.segment(column * p, p) = std::sqrt(values[k]) * eigen.vectors.col(p - 1 - k);
    return x;
  });
}

void add_picture(LowRankPicture picture, Problem& problem) {
  problem.landmarks = std::move(picture.landmarks);
  problem.slice = std::move(picture.slice);
}

}  // namespace dpsosp
