// SPDX-License-Identifier: Apache-2.0
// Records with any gradient, any Hessian and any rank that they claim to prove.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dpsosp/core/factorisation.hpp"
#include "support.hpp"

namespace dpsosp::testing {

inline double operator_norm(const Matrix& a) {
  if (!a.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  return symmetric_eigenvalues(a).cwiseAbs().maxCoeff();
}

/// f_i(x) = c_iᵀx + ½ xᵀA_i x.
struct Quadratics {
  std::vector<Matrix> hessians;
  std::vector<Vector> slopes;
  Index proved_rank = 0;
};

class QuadraticRecords final : public test::WrittenRecords {
 public:
  explicit QuadraticRecords(Quadratics data)
      : WrittenRecords(std::ssize(data.hessians)), data_(std::move(data)) {}

  bool has_second_order() const override { return true; }
  Index hessian_rank() const override { return data_.proved_rank; }
  bool sums_to_hessians() const override { return true; }

  mutable std::set<Index> read;  ///< every record that was looked at

 private:
  Vector of(Index i, const Summand& s) const override {
    const auto k = static_cast<std::size_t>(i);
    const Matrix& hessian = data_.hessians[k];
    read.insert(i);
    switch (s.kind) {
      case Summand::Kind::gradient:
        if (s.previous) return hessian * (s.point.x - s.previous->x);
        return data_.slopes[k] + hessian * s.point.x;
      case Summand::Kind::loss:
        return Vector::Constant(1, loss(k, s.point.x) - loss(k, s.previous->x));
      case Summand::Kind::hessian_product:
        if (!s.previous) return hessian * s.v;
        break;
      case Summand::Kind::coordinate_loss:
        break;
    }
    refuse(s);
  }
  double bound(Index i, const Summand&) const override {
    return operator_norm(data_.hessians[static_cast<std::size_t>(i)]);
  }
  double loss(std::size_t k, const Vector& x) const {
    return data_.slopes[k].dot(x) + 0.5 * x.dot(data_.hessians[k] * x);
  }

  Quadratics data_;
};

/// Symmetric, of the given rank, with operator norm `norm`.
inline Matrix random_symmetric(Index dimension, Index rank, double norm, Stream& stream) {
  Matrix a = Matrix::Zero(dimension, dimension);
  for (Index k = 0; k < rank; ++k) {
    Vector u(dimension);
    stream.fill_normal(1.0, u);
    a += stream.normal() * u * u.transpose();
  }
  return a * (norm / operator_norm(a));
}

/// Every record random, from far below to 100 times beyond the limits.
inline Quadratics random_quadratics(Index records, Index dimension, Index rank, double limit,
                                    Stream& stream) {
  Quadratics data{.hessians = {}, .slopes = {}, .proved_rank = rank == dimension ? 0 : rank};
  for (Index i = 0; i < records; ++i) {
    const double scale = limit * std::pow(10.0, 4.0 * stream.uniform() - 2.0);
    data.hessians.push_back(random_symmetric(dimension, rank, scale, stream));
    Vector c(dimension);
    stream.fill_normal(scale, c);
    data.slopes.push_back(c);
  }
  return data;
}

inline PublicFacts quadratic_facts(const Quadratics& data) {
  PublicFacts facts;
  facts.name = "quadratics";
  facts.dimension = data.hessians.front().rows();
  facts.records = std::ssize(data.hessians);
  facts.initial_point = Vector::Zero(facts.dimension);
  return facts;
}

struct QuadraticHouse : HouseOf<QuadraticRecords> {
  explicit QuadraticHouse(const Quadratics& data, StreamKey key = {.seed = 1},
                          FilterRule rule = zcdp_rule(1e9))
      : HouseOf(quadratic_facts(data), QuadraticRecords(data), rule, key) {}
};

struct UnsoundQuadraticHouse : HouseOf<QuadraticRecords, UnsoundCurator> {
  UnsoundQuadraticHouse(const Quadratics& data, const Departures& departures)
      : HouseOf(quadratic_facts(data), QuadraticRecords(data), StreamKey{.seed = 1}, departures) {}
};

}  // namespace dpsosp::testing
