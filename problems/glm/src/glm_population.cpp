// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_population.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dpsosp/core/elementary.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/quadrature.hpp"

namespace dpsosp {
namespace {

// Enough for e^{−⟨w − w*, x⟩²} with |w − w*| ≤ 9 to 1e-12, times a rule's detail.
constexpr Index angles = 128;
constexpr Index distances = 32;
constexpr Index least_lengths = 24;

Index times(Index nodes, double detail) {
  return static_cast<Index>(std::ceil(static_cast<double>(nodes) * detail));
}

/// A rule for the first two coordinates on the unit sphere in R^dimension, and `rest` of the
/// others.
PlaneRule sphere_rule(Index dimension, double detail) {
  if (dimension == 1)
    return {Vector{{1, -1}}, Vector::Zero(2), Vector::Zero(2), Vector::Constant(2, 0.5)};
  const Index turns = times(angles, detail);
  QuadratureRule squares{Vector::Ones(1), Vector::Ones(1)};  // of the distance from the axis
  if (dimension > 2)
    squares = gauss_jacobi(times(distances, detail), 0.5 * static_cast<double>(dimension) - 2);
  const Index count = squares.nodes.size() * turns;
  PlaneRule rule{Vector(count), Vector(count), Vector(count), Vector(count)};
  Index k = 0;
  for (Index i = 0; i < squares.nodes.size(); ++i)
    for (Index j = 0; j < turns; ++j, ++k) {
      const double square = squares.nodes[i];
      const double angle =
          2 * std::numbers::pi * (static_cast<double>(j) + 0.5) / static_cast<double>(turns);
      rule.along[k] = std::sqrt(square) * portable_cos(angle);
      rule.across[k] = std::sqrt(square) * portable_sin(angle);
      rule.rest[k] = dimension > 2 ? (1 - square) / static_cast<double>(dimension - 2) : 0.0;
      rule.weight[k] = squares.weights[i] / static_cast<double>(turns);
    }
  return rule;
}

/// A rule for min(1, σχ_d): Gauss-Legendre below 1 where the density is, and the atom at 1.
QuadratureRule clipped_length_rule(double sigma, Index dimension, Index lengths) {
  const auto d = static_cast<double>(dimension);
  const double middle = sigma * std::sqrt(d);
  const double from = std::max(0.0, middle - 7 * sigma);
  const double to = std::min(1.0, middle + 7 * sigma);
  QuadratureRule rule{Vector::Ones(lengths + 1), Vector::Zero(lengths + 1)};
  if (from < to) {
    const QuadratureRule unit = gauss_jacobi(lengths, 0);
    const double log_scale = (1 - d / 2) * std::numbers::ln2 - std::lgamma(d / 2);
    for (Index k = 0; k < lengths; ++k) {
      const double length = from + (to - from) * unit.nodes[k];
      const double z = length / sigma;
      rule.nodes[k] = length;
      rule.weights[k] = unit.weights[k] * (to - from) / sigma *
                        std::exp(log_scale + (d - 1) * std::log(z) - z * z / 2);
    }
  }
  rule.weights[lengths] = std::max(0.0, 1 - rule.weights.sum());
  rule.weights /= rule.weights.sum();
  return rule;
}

class GlmPopulation final : public Objective {
 public:
  GlmPopulation(PlaneRule rule, ExpectedLoss expected, double regulariser, Vector planted,
                Matrix basis)
      : rule_(std::move(rule)),
        expected_(std::move(expected)),
        regulariser_(regulariser),
        dimension_(planted.size()),
        basis_(std::move(basis)),
        planted_(within(planted)),
        signal_(planted_.norm() * rule_.along) {}

  Index dimension() const override { return dimension_; }

  double value(ConstVectorRef w) const override {
    return rule_.weight.dot(expected(0, Frame(*this, w))) + ratio_penalty(regulariser_, w);
  }

  void gradient(ConstVectorRef w, VectorRef out) const override {
    const Frame at(*this, w);
    const Vector slope = rule_.weight.cwiseProduct(expected(1, at));
    put(slope.dot(rule_.along) * at.first + slope.dot(rule_.across) * at.second, out);
    add_ratio_penalty_gradient(regulariser_, w, out);
  }

  void hessian_product(ConstVectorRef w, ConstVectorRef v, VectorRef out) const override {
    Curvature(*this, w).times(v, out);
  }

  /// The same products; all nodes are visited once.
  void hessian(ConstVectorRef w, MatrixRef out) const override {
    const Curvature curvature(*this, w);
    Vector e = Vector::Zero(w.size());
    for (Index j = 0; j < w.size(); ++j) {
      e[j] = 1;
      curvature.times(e, out.col(j));
      e[j] = 0;
    }
  }

 private:
  /// w = a·first + b·second within the features' space, `first` along w*.
  struct Frame {
    Frame(const GlmPopulation& of, ConstVectorRef w) {
      const Vector inside = of.within(w);
      first = of.planted_.norm() > 0 ? of.planted_ : inside;
      if (!(first.norm() > 0)) first = Vector::Unit(inside.size(), 0);
      first.normalize();
      a = first.dot(inside);
      second = inside - a * first;
      second -= first.dot(second) * first;
      b = second.norm();
      if (b > 1e-14 * inside.norm()) {
        second /= b;
        return;
      }
      b = 0;  // any direction orthogonal to the first
      Index least = 0;
      first.cwiseAbs().minCoeff(&least);
      second = Vector::Unit(inside.size(), least) - first[least] * first;
      if (inside.size() > 1)
        second.normalize();
      else
        second.setZero();
    }
    Vector first, second;
    double a = 0, b = 0;
  };

  /// The Hessian at w by its moments within the frame.
  struct Curvature {
    Curvature(const GlmPopulation& of, ConstVectorRef w) : objective(of), w(w), at(of, w) {
      const Vector curvature = of.rule_.weight.cwiseProduct(of.expected(2, at));
      const Vector along = curvature.cwiseProduct(of.rule_.along);
      first = along.dot(of.rule_.along);
      mixed = along.dot(of.rule_.across);
      second = curvature.dot(of.rule_.across.cwiseAbs2());
      rest = curvature.dot(of.rule_.rest);
    }
    void times(ConstVectorRef v, VectorRef out) const {
      const Vector inside = objective.within(v);
      const double v1 = at.first.dot(inside);
      const double v2 = at.second.dot(inside);
      Vector product = rest * (inside - v1 * at.first - v2 * at.second);
      product += (first * v1 + mixed * v2) * at.first;
      product += (mixed * v1 + second * v2) * at.second;
      objective.put(product, out);
      if (objective.regulariser_ > 0) {
        Vector diagonal = Vector::Zero(w.size());
        add_ratio_penalty_curvature(objective.regulariser_, w, diagonal);
        out += diagonal.cwiseProduct(v);
      }
    }
    const GlmPopulation& objective;
    ConstVectorRef w;
    Frame at;
    double first = 0, mixed = 0, second = 0, rest = 0;
  };

  Vector within(ConstVectorRef w) const {
    if (basis_.cols() == 0) return w;
    return basis_.transpose() * w;
  }
  void put(const Vector& inside, VectorRef out) const {
    if (basis_.cols() == 0)
      out = inside;
    else
      out.noalias() = basis_ * inside;
  }
  Vector expected(int order, const Frame& at) const {
    const Vector t = at.a * rule_.along + at.b * rule_.across;
    Vector out(t.size());
    expected_(order, t, signal_, out);
    return out;
  }

  PlaneRule rule_;
  ExpectedLoss expected_;
  double regulariser_;
  Index dimension_;
  Matrix basis_;
  Vector planted_;  // within the features' space
  Vector signal_;   // ⟨w*, x⟩ at the nodes
};

}  // namespace

void FeatureLaw::draw(Stream& stream, VectorRef out) const {
  switch (kind) {
    case Kind::ball:
    case Kind::low_rank:
      stream.fill_ball(1.0, out);
      return;
    case Kind::sphere:
      stream.fill_normal(1.0, out);
      out.normalize();
      return;
    case Kind::gaussian:
      stream.fill_normal(spread / std::sqrt(static_cast<double>(out.size())), out);
      out *= std::min(1.0, 1.0 / out.stableNorm());
      return;
  }
}

PlaneRule plane_rule(const FeatureLaw& law, Index dimension, double detail) {
  switch (law.kind) {
    case FeatureLaw::Kind::ball:
    case FeatureLaw::Kind::low_rank:
      return sphere_rule(dimension + 2, detail);  // `dimension` of its coordinates: the ball
    case FeatureLaw::Kind::sphere:
      return sphere_rule(dimension, detail);
    case FeatureLaw::Kind::gaussian:
      break;
  }
  const PlaneRule sphere = sphere_rule(dimension, detail);
  const QuadratureRule length =
      clipped_length_rule(law.spread / std::sqrt(static_cast<double>(dimension)), dimension,
                          times(least_lengths, detail));
  const Index nodes = sphere.weight.size();
  const Index count = nodes * length.nodes.size();
  PlaneRule rule{Vector(count), Vector(count), Vector(count), Vector(count)};
  for (Index k = 0; k < length.nodes.size(); ++k) {
    const double r = length.nodes[k];
    rule.along.segment(k * nodes, nodes) = r * sphere.along;
    rule.across.segment(k * nodes, nodes) = r * sphere.across;
    rule.rest.segment(k * nodes, nodes) = r * r * sphere.rest;
    rule.weight.segment(k * nodes, nodes) = length.weights[k] * sphere.weight;
  }
  return rule;
}

std::unique_ptr<const Objective> glm_population(PlaneRule rule, ExpectedLoss expected,
                                                double regulariser, Vector planted, Matrix basis) {
  return std::make_unique<GlmPopulation>(std::move(rule), std::move(expected), regulariser,
                                         std::move(planted), std::move(basis));
}

}  // namespace dpsosp
