// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "dpsosp/problems/objective.hpp"
#include "jet.hpp"

namespace dpsosp {

/// h(u, v) and its derivatives.
struct Edge {
  double value = 0, u = 0, v = 0, uu = 0, uv = 0, vv = 0;
};

/// F(x) = a f(x/s), f(y) = head(y_1) + Σ_{2≤i≤T} edge(y_{i−1}, y_i) + Σ_{i≤d} own(y_i): a chain
/// through the first T of d coordinates, with a tridiagonal Hessian. `Terms` has the three
/// functions; the first and the last give Jets.
template <class Terms>
class ChainObjective final : public Objective {
 public:
  ChainObjective(Index dimension, Index length, Terms terms, double height = 1, double scale = 1)
      : d_(dimension), length_(length), terms_(std::move(terms)), height_(height), scale_(scale) {}

  Index dimension() const override { return d_; }

  double value(ConstVectorRef x) const override {
    double sum = terms_.head(x[0] / scale_).value;
    for (Index i = 0; i < d_; ++i) sum += terms_.own(x[i] / scale_).value;
    for (Index i = 1; i < length_; ++i) sum += terms_.edge(x[i - 1] / scale_, x[i] / scale_).value;
    return height_ * sum;
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    for (Index i = 0; i < d_; ++i) out[i] = terms_.own(x[i] / scale_).first;
    out[0] += terms_.head(x[0] / scale_).first;
    for (Index i = 1; i < length_; ++i) {
      const Edge edge = terms_.edge(x[i - 1] / scale_, x[i] / scale_);
      out[i - 1] += edge.u;
      out[i] += edge.v;
    }
    out *= height_ / scale_;
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    for (Index i = 0; i < d_; ++i) out[i] = terms_.own(x[i] / scale_).second * v[i];
    out[0] += terms_.head(x[0] / scale_).second * v[0];
    for (Index i = 1; i < length_; ++i) {
      const Edge edge = terms_.edge(x[i - 1] / scale_, x[i] / scale_);
      out[i - 1] += edge.uu * v[i - 1] + edge.uv * v[i];
      out[i] += edge.uv * v[i - 1] + edge.vv * v[i];
    }
    out *= height_ / (scale_ * scale_);
  }

 private:
  Index d_;
  Index length_;  // T
  Terms terms_;
  double height_;  // a
  double scale_;   // s
};

/// own(u) − c gate(u_{i−1}) pull(u_i), gate(u_0) = 1: the chains in which a coordinate that has
/// arrived frees the next. `Curves` has the three functions of one variable.
template <class Curves>
struct GatedTerms {
  Curves curves;

  Jet own(double u) const { return curves.own(u); }
  Jet head(double v) const {
    const Jet q = curves.pull(v);
    return {-c() * q.value, -c() * q.first, -c() * q.second, -c() * q.third};
  }
  Edge edge(double u, double v) const {
    const Jet w = curves.gate(u), q = curves.pull(v);
    return {-c() * w.value * q.value,  -c() * w.first * q.value, -c() * w.value * q.first,
            -c() * w.second * q.value, -c() * w.first * q.first, -c() * w.value * q.second};
  }

 private:
  double c() const { return curves.strength; }
};

}  // namespace dpsosp
