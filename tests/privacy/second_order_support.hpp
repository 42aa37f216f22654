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

class QuadraticRecords final : public Records {
 public:
  explicit QuadraticRecords(Quadratics data) : data_(std::move(data)) {}

  Index size() const override { return std::ssize(data_.hessians); }
  bool has_second_order() const override { return true; }
  Index hessian_rank() const override { return data_.proved_rank; }

  ClipReport add_gradients(const Point& point,
                           Block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return sum(batch, limit, out, [&](std::size_t i) -> Vector {
      return data_.slopes[i] + data_.hessians[i] * point.x;
    });
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    return sum(batch, limit, out, [&](std::size_t i) -> Vector {
      return data_.hessians[i] * (point.x - previous.x);
    });
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    ClipReport report;
    for (Index k = 0; k < batch.size(); ++k) {
      const auto i = static_cast<std::size_t>(batch[k]);
      read.insert(batch[k]);
      const double change = loss(i, point.x) - loss(i, centre.x);
      out += report.weigh(std::abs(change), limit) * change;
    }
    return report;
  }
  ClipReport add_hessian_products(const Point&,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    ClipReport report;
    for (Index k = 0; k < batch.size(); ++k) {
      const auto i = static_cast<std::size_t>(batch[k]);
      read.insert(batch[k]);
      out += report.weigh(operator_norm(data_.hessians[i]), limit) * (data_.hessians[i] * v);
    }
    return report;
  }

  mutable std::set<Index> read;  ///< every record that was looked at

 private:
  double loss(std::size_t i, const Vector& x) const {
    return data_.slopes[i].dot(x) + 0.5 * x.dot(data_.hessians[i] * x);
  }
  template <class Part>
  ClipReport sum(const BatchView& batch, double limit, VectorRef out, const Part& part) const {
    ClipReport report;
    for (Index k = 0; k < batch.size(); ++k) {
      read.insert(batch[k]);
      const Vector v = part(static_cast<std::size_t>(batch[k]));
      out += report.weigh(v.norm(), limit) * v;
    }
    return report;
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
inline Quadratics random_quadratics(
    Index records, Index dimension, Index rank, double limit, Stream& stream) {
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

struct QuadraticHouse {
  explicit QuadraticHouse(Quadratics data,
                          StreamKey key = {.seed = 1},
                          FilterRule rule = zcdp_rule(1e9))
      : facts(quadratic_facts(data)),
        records(std::move(data)),
        curator(facts, records, rule, key) {}
  QuadraticHouse(const QuadraticHouse&) = delete;
  QuadraticHouse& operator=(const QuadraticHouse&) = delete;

  PublicFacts facts;
  QuadraticRecords records;
  Curator curator;
};

struct UnsoundQuadraticHouse {
  UnsoundQuadraticHouse(Quadratics data, const UnsoundCurator::Departures& departures)
      : facts(quadratic_facts(data)),
        records(std::move(data)),
        curator(facts, records, {.seed = 1}, departures) {}
  UnsoundQuadraticHouse(const UnsoundQuadraticHouse&) = delete;
  UnsoundQuadraticHouse& operator=(const UnsoundQuadraticHouse&) = delete;

  PublicFacts facts;
  QuadraticRecords records;
  UnsoundCurator curator;
};

}  // namespace dpsosp::testing
