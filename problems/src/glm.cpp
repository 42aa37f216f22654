// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm.hpp"

#include <cmath>
#include <utility>

#include "chunked_sum.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {
namespace {

/// Clipped sums over records, each counted once or `times` times.
class GlmSum {
 public:
  GlmSum(GlmModel model, std::shared_ptr<const GlmData> data)
      : model_(std::move(model)),
        data_(std::move(data)),
        lengths_(data_->features.colwise().norm()) {}

  const GlmModel& model() const { return model_; }
  Index size() const { return data_->labels.size(); }

  ClipReport add(const Point& point,
                 const Point* previous,
                 const BatchView& batch,
                 const std::vector<Index>* times,
                 double limit,
                 VectorRef out) const {
    Vector common;  // the regulariser's part of every record
    if (model_.regulariser > 0) {
      common = Vector::Zero(point.x.size());
      if (previous != nullptr) add_ratio_penalty_gradient(-model_.regulariser, previous->x, common);
      add_ratio_penalty_gradient(model_.regulariser, point.x, common);
    }
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      const Vector coefficients = slopes(point, previous, batch, first, last);
      Vector v(common.size());
      ClipReport report;
      for (Index k = first; k < last; ++k) {
        const Index i = batch[k];
        const Index count = times != nullptr ? (*times)[static_cast<std::size_t>(i)] : 1;
        if (count == 0) continue;
        const auto x = data_->features.col(i);
        const double c = coefficients[k - first];
        if (common.size() == 0) {
          partial += (c * weigh(report, std::abs(c) * lengths_[i], limit, count)) * x;
        } else {  // the vector itself: ‖cx‖² + 2c⟨x, r⟩ + ‖r‖² could cancel
          v = common + c * x;
          partial += weigh(report, v.norm(), limit, count) * v;
        }
      }
      return report;
    });
  }

 private:
  /// Counts a contribution that `count` records make; returns count·min(1, limit/norm).
  static double weigh(ClipReport& report, double norm, double limit, Index count) {
    const Index before = report.clipped;
    const double weight = report.weigh(norm, limit);
    if (report.clipped > before) report.clipped += count - 1;
    return weight * static_cast<double>(count);
  }

  /// φ′(⟨w, x_i⟩; y_i) of the batch's positions [first, last), less its value at `previous`.
  Vector slopes(const Point& point,
                const Point* previous,
                const BatchView& batch,
                Index first,
                Index last) const {
    const Index count = last - first;
    Vector t(count), before(previous != nullptr ? count : 0), y(count), slope(count);
    for (Index k = 0; k < count; ++k) {
      const Index i = batch[first + k];
      const auto x = data_->features.col(i);
      y[k] = data_->labels[i];
      t[k] = x.dot(point.x);
      if (previous != nullptr) before[k] = x.dot(previous->x);
    }
    model_.loss->derivative(1, t, y, slope);
    if (previous != nullptr) {
      model_.loss->derivative(1, before, y, t);
      slope -= t;
    }
    return slope;
  }

  GlmModel model_;
  std::shared_ptr<const GlmData> data_;
  Vector lengths_;  // ‖x_i‖
};

class GlmRecords final : public Records {
 public:
  GlmRecords(GlmModel model, std::shared_ptr<const GlmData> data)
      : sum_(std::move(model), std::move(data)) {}

  Index size() const override { return sum_.size(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_minimisation(sum_.model().problem, block);
    return sum_.add(point, nullptr, batch, nullptr, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    check_minimisation(sum_.model().problem, block);
    return sum_.add(point, &previous, batch, nullptr, limit, out);
  }

 private:
  GlmSum sum_;
};

/// How often each of K atoms occurs in a batch is multinomial, so that a sum costs K records
/// whatever the batch, and every record is still clipped on its own.
class GlmAtomRecords final : public Records {
 public:
  GlmAtomRecords(GlmModel model, std::shared_ptr<const GlmData> atoms, const GlmSupport& support)
      : sum_(std::move(model), std::move(atoms)), support_(support) {}

  Index size() const override { return support_.records; }
  bool simulated() const override { return true; }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return add(point, nullptr, block, batch, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    return add(point, &previous, block, batch, limit, out);
  }

 private:
  ClipReport add(const Point& point,
                 const Point* previous,
                 Block block,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const {
    check_minimisation(sum_.model().problem, block);
    check_simulated_batch(sum_.model().problem, support_.sampling, batch, support_.records);
    const std::vector<Index> counts =
        atom_counts(sum_.size(), support_.data_seed, batch.begin(), batch.size());
    return sum_.add(point, previous, BatchView(0, sum_.size()), &counts, limit, out);
  }

  GlmSum sum_;
  GlmSupport support_;
};

class GlmObjective final : public Objective {
 public:
  GlmObjective(GlmModel model, std::shared_ptr<const GlmData> data, Vector weights)
      : model_(std::move(model)), data_(std::move(data)), weights_(std::move(weights)) {}

  Index dimension() const override { return data_->features.rows(); }

  double value(ConstVectorRef w) const override {
    Vector total = Vector::Zero(1);
    over_chunks(total, [&](Index first, Index count, VectorRef partial) {
      partial[0] += weighted(0, w, first, count).sum();
    });
    return total[0] + ratio_penalty(model_.regulariser, w);
  }

  void gradient(ConstVectorRef w, VectorRef out) const override {
    out.setZero();
    over_chunks(out, [&](Index first, Index count, VectorRef partial) {
      const Vector slope = weighted(1, w, first, count);
      for (Index k = 0; k < count; ++k) partial += slope[k] * data_->features.col(first + k);
    });
    add_ratio_penalty_gradient(model_.regulariser, w, out);
  }

  void hessian_product(ConstVectorRef w, ConstVectorRef v, VectorRef out) const override {
    out.setZero();
    over_chunks(out, [&](Index first, Index count, VectorRef partial) {
      const Vector curvature = weighted(2, w, first, count);
      for (Index k = 0; k < count; ++k) {
        const auto x = data_->features.col(first + k);
        partial += (curvature[k] * x.dot(v)) * x;
      }
    });
    add_ratio_penalty_product(model_.regulariser, w, v, out);
  }

 private:
  template <class Add>
  void over_chunks(VectorRef out, const Add& add) const {
    chunked_sum(data_->labels.size(), out, [&](Index first, Index last, VectorRef partial) {
      add(first, last - first, partial);
      return ClipReport{};
    });
  }

  /// weights_i φ^(order)(⟨w, x_i⟩; y_i) of a chunk.
  Vector weighted(int order, ConstVectorRef w, Index first, Index count) const {
    const Vector t = data_->features.middleCols(first, count).transpose() * w;
    Vector out(count);
    model_.loss->derivative(order, t, data_->labels.segment(first, count), out);
    if (weights_.size() > 0)
      out.array() *= weights_.segment(first, count).array();
    else
      out /= static_cast<double>(data_->labels.size());
    return out;
  }

  GlmModel model_;
  std::shared_ptr<const GlmData> data_;
  Vector weights_;
};

}  // namespace

std::unique_ptr<const Records> glm_records(GlmModel model, std::shared_ptr<const GlmData> data) {
  return std::make_unique<GlmRecords>(std::move(model), std::move(data));
}

std::unique_ptr<const Records> glm_atom_records(GlmModel model,
                                                std::shared_ptr<const GlmData> atoms,
                                                const GlmSupport& support) {
  return std::make_unique<GlmAtomRecords>(std::move(model), std::move(atoms), support);
}

std::vector<Index> atom_counts(Index atoms, std::uint64_t data_seed, Index begin, Index size) {
  Stream stream = range_stream(data_seed, begin, size);
  std::vector<Index> counts(static_cast<std::size_t>(atoms));
  Index left = size;
  for (Index k = 0; k < atoms; ++k) {
    const Index count =
        k + 1 < atoms ? stream.binomial(left, 1.0 / static_cast<double>(atoms - k)) : left;
    counts[static_cast<std::size_t>(k)] = count;
    left -= count;
  }
  return counts;
}

std::unique_ptr<const Objective> glm_objective(GlmModel model,
                                               std::shared_ptr<const GlmData> data,
                                               Vector weights) {
  return std::make_unique<GlmObjective>(std::move(model), std::move(data), std::move(weights));
}

double ratio_penalty(double lambda, ConstVectorRef w) {
  if (lambda == 0) return 0;
  const auto square = w.array().square();
  return lambda * (square / (1 + square)).sum();
}

void add_ratio_penalty_gradient(double lambda, ConstVectorRef w, VectorRef out) {
  if (lambda == 0) return;
  out.array() += lambda * 2 * w.array() / (1 + w.array().square()).square();
}

void add_ratio_penalty_product(double lambda, ConstVectorRef w, ConstVectorRef v, VectorRef out) {
  if (lambda == 0) return;
  const auto square = w.array().square();
  out.array() += lambda * (2 - 6 * square) / (1 + square).cube() * v.array();
}

}  // namespace dpsosp
