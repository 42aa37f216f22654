// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm.hpp"

#include <cmath>
#include <utility>

#include "dpsosp/core/rows.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/problems/over_columns.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {
namespace {

class GlmObjective final : public Objective {
 public:
  GlmObjective(GlmModel model, std::shared_ptr<const GlmData> data, Vector weights)
      : model_(std::move(model)), data_(std::move(data)), weights_(std::move(weights)) {}

  Index dimension() const override { return data_->features.rows(); }

  double value(ConstVectorRef w) const override {
    Vector total = Vector::Zero(1);
    over_columns(data_->features, total, [&](Index first, Rows rows, VectorRef partial) {
      partial[0] += weighted(0, w, first, rows).sum();
    });
    return total[0] + model_.penalty.value(w);
  }

  void gradient(ConstVectorRef w, VectorRef out) const override {
    out.setZero();
    over_columns(data_->features, out, [&](Index first, Rows rows, VectorRef partial) {
      add_rows(rows, weighted(1, w, first, rows), partial);
    });
    model_.penalty.add_gradient(w, out);
  }

  void hessian_product(ConstVectorRef w, ConstVectorRef v, VectorRef out) const override {
    out.setZero();
    const auto curvature = curvature_at(w);
    over_columns(data_->features, out, [&](Index first, Rows rows, VectorRef partial) {
      Vector along(std::ssize(rows));
      dot_rows(rows, v, along);
      along.array() *= curvature->segment(first, along.size()).array();
      add_rows(rows, along, partial);
    });
    if (model_.penalty.weight > 0) {
      Vector diagonal = Vector::Zero(w.size());
      model_.penalty.add_curvature(w, diagonal);
      out += diagonal.cwiseProduct(v);
    }
  }

  void hessian(ConstVectorRef w, MatrixRef out) const override {
    const Index d = w.size();
    const auto curvature = curvature_at(w);
    Vector sums = Vector::Zero(d * d);
    over_columns(data_->features, sums, [&](Index first, Rows rows, VectorRef partial) {
      add_outer_products(rows, curvature->segment(first, std::ssize(rows)), partial.reshaped(d, d));
    });
    out = sums.reshaped(d, d).selfadjointView<Eigen::Lower>();
    if (model_.penalty.weight > 0) {
      Vector diagonal = Vector::Zero(d);
      model_.penalty.add_curvature(w, diagonal);
      out.diagonal() += diagonal;
    }
  }
  /// Multiplications cost less than reading the records.
  Index hessian_cost() const override { return 1 + dimension() / 15; }

 private:
  /// weights_i φ^(order)(⟨w, x_i⟩; y_i) of records `first` and on.
  Vector weighted(int order, ConstVectorRef w, Index first, Rows rows) const {
    const Index count = std::ssize(rows);
    Vector t(count), out(count);
    dot_rows(rows, w, t);
    model_.loss->derivative(order, t, data_->labels.segment(first, count), out);
    if (weights_.size() > 0)
      out.array() *= weights_.segment(first, count).array();
    else
      out /= static_cast<double>(data_->labels.size());
    return out;
  }

  /// weighted(2, w) of every record.
  std::shared_ptr<const Vector> curvature_at(ConstVectorRef w) const {
    return curvature_.of(w, [&] {
      Vector all(data_->labels.size()), unused = Vector::Zero(0);
      over_columns(data_->features, unused, [&](Index first, Rows rows, VectorRef) {
        all.segment(first, std::ssize(rows)) = weighted(2, w, first, rows);
      });
      return all;
    });
  }

  GlmModel model_;
  std::shared_ptr<const GlmData> data_;
  Vector weights_;
  Last<Vector, Vector> curvature_;
};

}  // namespace

std::unique_ptr<const Objective> glm_objective(GlmModel model, std::shared_ptr<const GlmData> data,
                                               Vector weights) {
  return std::make_unique<GlmObjective>(std::move(model), std::move(data), std::move(weights));
}

Constants glm_constants(const ScalarLoss& loss, const Penalty& penalty, const Vector& initial_point,
                        double gap_attained) {
  Constants made = glm_constants(loss, penalty, initial_point.size());
  const ScalarLoss::Bound at_start = loss.largest_fall(initial_point.norm());
  std::string why =
      at_start.why +
      " F(x₀) − min F is at most the largest φ(⟨x₀, x⟩; y) − inf φ, |⟨x₀, x⟩| ≤ ‖x₀‖.";
  double above = at_start.value;
  if (!penalty.term) {
    above += penalty.value(initial_point);
  } else if (penalty.weight > 0) {
    const ScalarLoss::Bound range = penalty.term->largest_fall(0);
    above += penalty.weight * static_cast<double>(initial_point.size()) * range.value;
    why += " Of each of the d terms of g: " + range.why;
  }
  made.set(constant::suboptimality, proved(above, "initial point", why, gap_attained));
  return made;
}

GlmData glm_extremes(Index d, const Vector& labels) {
  Matrix corners(d, d >= 2 ? 6 : 2);
  corners.setZero();
  corners(0, 0) = 1;
  corners(0, 1) = -1;
  if (d >= 2) {
    const double entry = 1 / std::sqrt(static_cast<double>(d));
    for (Index j = 0; j < d; ++j) {
      corners(j, 2) = entry;
      corners(j, 3) = j % 2 == 0 ? entry : -entry;
    }
    corners.col(4).setOnes();  // one coordinate that moves the score and hardly the gradient
    corners(0, 4) = 0.1;
    corners.col(4).normalize();
    corners(0, 5) = 0.99;
    corners(1, 5) = std::sqrt(1 - 0.99 * 0.99);
  }
  GlmData data{Matrix(d, corners.cols() * labels.size()), Vector(corners.cols() * labels.size())};
  for (Index k = 0; k < labels.size(); ++k) {
    data.features.middleCols(k * corners.cols(), corners.cols()) = corners;
    data.labels.segment(k * corners.cols(), corners.cols()).setConstant(labels[k]);
  }
  return data;
}

}  // namespace dpsosp
