// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <utility>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp::testing {

/// F(x) = ½ xᵀ Q diag(spectrum) Q x with Q = (I − 2aaᵀ)(I − 2bbᵀ)(I − 2aaᵀ), symmetric orthogonal
/// and random. Eigenvector i is Q e_i.
class Quadratic : public Objective {
 public:
  explicit Quadratic(Vector spectrum, std::uint64_t seed = 1) : spectrum_(std::move(spectrum)) {
    Stream stream({.seed = seed, .purpose = Purpose::test});
    a_.resize(spectrum_.size());
    b_.resize(spectrum_.size());
    stream.fill_normal(1.0, a_);
    stream.fill_normal(1.0, b_);
    a_.normalize();
    b_.normalize();
  }
  Index dimension() const override { return spectrum_.size(); }
  double value(ConstVectorRef x) const override { return 0.5 * x.dot(times_hessian(x)); }
  void gradient(ConstVectorRef x, VectorRef out) const override { out = times_hessian(x); }
  void hessian_product(ConstVectorRef, ConstVectorRef v, VectorRef out) const override {
    out = times_hessian(v);
  }
  Vector eigenvector(Index i) const { return rotate(Vector::Unit(dimension(), i)); }
  double lambda_min() const { return spectrum_.minCoeff(); }

 private:
  Vector rotate(Vector v) const {
    for (const Vector* u : {&a_, &b_, &a_}) v -= 2 * u->dot(v) * *u;
    return v;
  }
  Vector times_hessian(const Vector& v) const {
    return rotate((spectrum_.array() * rotate(v).array()).matrix());
  }
  Vector spectrum_, a_, b_;
};

/// F(x) = Σ w_i (x_i² − 1)²/4 + (coupling/2) (u·x)², u a unit vector: minima, saddles, a Hessian
/// that moves with x: diag(w_i (3x_i² − 1)) + coupling u uᵀ.
class Wells : public Objective {
 public:
  Wells(Vector weights, double coupling) : weights_(std::move(weights)), coupling_(coupling) {
    u_ = Vector::LinSpaced(weights_.size(), 1.0, 2.0).normalized();
  }
  Index dimension() const override { return weights_.size(); }
  double value(ConstVectorRef x) const override {
    const double ux = u_.dot(x);
    return 0.25 * (weights_.array() * (x.array().square() - 1).square()).sum() +
           0.5 * coupling_ * ux * ux;
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = (weights_.array() * x.array() * (x.array().square() - 1)).matrix() +
          coupling_ * u_.dot(x) * u_;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    out = (weights_.array() * (3 * x.array().square() - 1) * v.array()).matrix() +
          coupling_ * u_.dot(v) * u_;
  }
  Matrix whole_hessian(ConstVectorRef x) const {
    return Matrix((weights_.array() * (3 * x.array().square() - 1)).matrix().asDiagonal()) +
           coupling_ * u_ * u_.transpose();
  }

 private:
  Vector weights_, u_;
  double coupling_;
};

inline Vector random_vector(Index d, std::uint64_t seed, std::uint32_t run = 0) {
  Vector v(d);
  Stream({.seed = seed, .run = run, .purpose = Purpose::test, .path = 77}).fill_normal(1.0, v);
  return v;
}

}  // namespace dpsosp::testing
