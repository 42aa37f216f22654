// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/chunked_sum.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/trusted/weigh_repeated.hpp"

namespace dpsosp {
namespace {

using Counts = std::vector<Index>;

/// Beyond these a product of slope and feature is rounding, and norms read 0 or infinity.
constexpr double least_length = 1e-150, most = 1e150;

/// The data with records out of that range, or not finite, replaced by ones that contribute zero.
std::shared_ptr<const GlmData> in_range(std::shared_ptr<const GlmData> data) {
  std::shared_ptr<GlmData> mended;
  for (Index i = 0; i < data->labels.size(); ++i) {
    const double length = data->features.col(i).stableNorm();
    const bool fits = (length == 0 || (length >= least_length && length <= most)) &&
                      std::abs(data->labels[i]) <= most;
    if (fits) continue;
    if (!mended) mended = std::make_shared<GlmData>(*data);
    mended->features.col(i).setZero();
    mended->labels[i] = 0.0;
  }
  return mended ? mended : data;
}

/// A few records at a time, and what is computed of each.
struct Few {
  using Numbers = Eigen::Map<Vector>;
  struct Scratch {
    std::array<const double*, most_rows> rows;
    Eigen::Matrix<double, most_rows, 7> numbers;
  };
  Few(Scratch& scratch, Index count)
      : rows(scratch.rows.data(), static_cast<std::size_t>(count)),
        labels(scratch.numbers.col(0).data(), count),
        scores(scratch.numbers.col(1).data(), count),
        scores_before(scratch.numbers.col(2).data(), count),
        values(scratch.numbers.col(3).data(), count),
        values_before(scratch.numbers.col(4).data(), count),
        along(scratch.numbers.col(5).data(), count),
        weights(scratch.numbers.col(6).data(), count) {}

  std::span<const double*> rows;  ///< their features
  Numbers labels, scores, scores_before, values, values_before, along, weights;
};

/// Clipped sums over records, record i counted counts[i] times, or once without counts. What a
/// record contributes is a multiple of x_i and a part that all records share.
class GlmSum {
 public:
  GlmSum(GlmModel model, std::shared_ptr<const GlmData> data)
      : model_(std::move(model)),
        data_(in_range(std::move(data))),
        lengths_(data_->features.colwise().norm()) {}

  const GlmModel& model() const { return model_; }
  Index size() const { return data_->labels.size(); }

  /// The data with features Φx_i, each scaled down to norm `cap` where it is longer.
  std::shared_ptr<const GlmData> projected(const Matrix& map, double cap) const {
    if (model_.regulariser != 0)
      reject(model_.problem, "regulariser", model_.regulariser, "0, to project the features");
    if (map.cols() != data_->features.rows())
      reject(model_.problem,
             "columns of the projection",
             static_cast<double>(map.cols()),
             fmt::format("{}, the dimension", data_->features.rows()));
    if (!(cap > 0)) reject(model_.problem, "cap", cap, "> 0");
    auto data = std::make_shared<GlmData>();
    data->features.noalias() = map * data_->features;
    data->labels = data_->labels;
    for (Index i = 0; i < size(); ++i) {
      const double norm = data->features.col(i).stableNorm();
      if (norm > cap) data->features.col(i) *= cap / norm;
    }
    return data;
  }

  /// Adds gradients, or their differences.
  ClipReport add_gradients(const Point& point,
                           const Point* previous,
                           const BatchView& batch,
                           const Counts* counts,
                           double limit,
                           VectorRef out) const {
    const Vector common = penalty(&add_ratio_penalty_gradient, point, previous);
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      Vector v(common.size());
      ClipReport report;
      by_few(1, point, previous, batch, first, last, [&](Index k, Few& few) {
        for (Index j = 0; j < few.labels.size(); ++j) {
          const Index i = batch[k + j];
          const Index times = count(counts, i);
          const double c = few.values[j];
          few.weights[j] = 0;
          if (times == 0) continue;
          if (common.size() == 0) {
            few.weights[j] = c * weigh_repeated(report, std::abs(c) * lengths_[i], limit, times);
          } else {  // the vector itself: ‖cx‖² + 2c⟨x, r⟩ + ‖r‖² could cancel
            v = common + c * data_->features.col(i);
            partial += weigh_repeated(report, v.norm(), limit, times) * v;
          }
        }
        if (common.size() == 0) add_rows(few.rows, few.weights, partial);
      });
      return report;
    });
  }

  /// Adds losses at `point` less those at `centre`.
  ClipReport add_losses(const Point& point,
                        const Point& centre,
                        const BatchView& batch,
                        const Counts* counts,
                        double limit,
                        double& out) const {
    const double common =
        ratio_penalty(model_.regulariser, point.x) - ratio_penalty(model_.regulariser, centre.x);
    Eigen::Map<Vector> sum(&out, 1);
    return chunked_sum(batch.size(), sum, [&](Index first, Index last, VectorRef partial) {
      ClipReport report;
      by_few(0, point, &centre, batch, first, last, [&](Index k, Few& few) {
        for (Index j = 0; j < few.labels.size(); ++j) {
          const Index times = count(counts, batch[k + j]);
          if (times == 0) continue;
          const double c = few.values[j] + common;
          partial[0] += weigh_repeated(report, std::abs(c), limit, times) * c;
        }
      });
      return report;
    });
  }

  /// Adds Hessian products φ″⟨x, v⟩x + λ r″ ∘ v, or their differences, weighed by
  /// |φ″|‖x‖² + λ max_j |r″_j|.
  ClipReport add_products(const Point& point,
                          const Point* previous,
                          ConstVectorRef v,
                          const BatchView& batch,
                          const Counts* counts,
                          double limit,
                          VectorRef out) const {
    const Vector diagonal = penalty(&add_ratio_penalty_curvature, point, previous);
    const double common_bound = diagonal.size() > 0 ? diagonal.cwiseAbs().maxCoeff() : 0.0;
    const Vector common = diagonal.size() > 0 ? Vector(diagonal.cwiseProduct(v)) : Vector();
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      ClipReport report;
      by_few(2, point, previous, batch, first, last, [&](Index k, Few& few) {
        dot_rows(few.rows, v, few.along);
        for (Index j = 0; j < few.labels.size(); ++j) {
          const Index i = batch[k + j];
          const Index times = count(counts, i);
          few.weights[j] = 0;
          if (times == 0) continue;
          const double c = few.values[j];
          const double weight = weigh_repeated(
              report, std::abs(c) * lengths_[i] * lengths_[i] + common_bound, limit, times);
          few.weights[j] = weight * c * few.along[j];
          if (common.size() > 0) partial += weight * common;
        }
        add_rows(few.rows, few.weights, partial);
      });
      return report;
    });
  }

 private:
  static Index count(const Counts* counts, Index i) {
    return counts != nullptr ? (*counts)[static_cast<std::size_t>(i)] : 1;
  }

  /// What the regulariser adds to every record, less that at `previous`; empty without one.
  template <class Add>
  Vector penalty(const Add& add, const Point& point, const Point* previous) const {
    if (model_.regulariser == 0) return {};
    Vector common = Vector::Zero(point.x.size());
    if (previous != nullptr) add(-model_.regulariser, previous->x, common);
    add(model_.regulariser, point.x, common);
    return common;
  }

  /// use(k, few) for the positions [first, last), of which `few` holds those from k on, as many as
  /// stay in a near cache. few.values are φ^(order)(⟨w, x_i⟩; y_i), less the values at `previous`.
  template <class Use>
  void by_few(int order,
              const Point& point,
              const Point* previous,
              const BatchView& batch,
              Index first,
              Index last,
              const Use& use) const {
    thread_local Few::Scratch scratch;
    const Index at_a_time = rows_in_cache(data_->features.rows());
    for (Index k = first; k < last; k += at_a_time) {
      Few few(scratch, std::min(at_a_time, last - k));
      for (Index j = 0; j < few.labels.size(); ++j) {
        const Index i = batch[k + j];
        few.rows[static_cast<std::size_t>(j)] = data_->features.col(i).data();
        few.labels[j] = data_->labels[i];
      }
      dot_rows(few.rows, point.x, few.scores);
      model_.loss->derivative(order, few.scores, few.labels, few.values);
      if (previous != nullptr) {
        dot_rows(few.rows, previous->x, few.scores_before);
        model_.loss->derivative(order, few.scores_before, few.labels, few.values_before);
        few.values -= few.values_before;
      }
      use(k, few);
    }
  }

  GlmModel model_;
  std::shared_ptr<const GlmData> data_;
  Vector lengths_;  // ‖x_i‖
};

/// Every sum of a GlmSum, over the records that `resolve` finds in a batch.
template <class Sums>
class GlmSums : public Sums {
 public:
  GlmSums(GlmModel model, std::shared_ptr<const GlmData> data)
      : sum_(std::move(model), std::move(data)) {}

  bool has_second_order() const final { return true; }
  /// φ″ x xᵀ; the regulariser's diagonal has every rank.
  Index hessian_rank() const final { return sum_.model().regulariser == 0 ? 1 : 0; }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final {
    const Members members = resolve(block, batch);
    return sum_.add_gradients(point, nullptr, members.batch, members.counts_or_null(), limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    const Members members = resolve(block, batch);
    return sum_.add_gradients(
        point, &previous, members.batch, members.counts_or_null(), limit, out);
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const final {
    const Members members = resolve(Block::x, batch);
    return sum_.add_losses(point, centre, members.batch, members.counts_or_null(), limit, out);
  }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const final {
    const Members members = resolve(Block::x, batch);
    return sum_.add_products(
        point, nullptr, v, members.batch, members.counts_or_null(), limit, out);
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    const Members members = resolve(Block::x, batch);
    return sum_.add_products(
        point, &previous, v, members.batch, members.counts_or_null(), limit, out);
  }

 protected:
  /// Records of the data, each as often as `counts` says.
  struct Members {
    BatchView batch;
    Counts counts;
    const Counts* counts_or_null() const { return counts.empty() ? nullptr : &counts; }
  };
  virtual Members members_of(const BatchView& batch) const = 0;
  const GlmSum& sum() const { return sum_; }

 private:
  Members resolve(Block block, const BatchView& batch) const {
    check_minimisation(sum_.model().problem, block);
    return members_of(batch);
  }

  GlmSum sum_;
};

class GlmRecords final : public GlmSums<Records> {
 public:
  using GlmSums::GlmSums;
  Index size() const override { return sum().size(); }
  std::unique_ptr<const Records> projected(const Matrix& map, double cap) const override {
    return std::make_unique<GlmRecords>(sum().model(), sum().projected(map, cap));
  }

 private:
  Members members_of(const BatchView& batch) const override { return {batch, {}}; }
};

/// How often each of K atoms occurs in a batch is multinomial, so that a sum costs K records
/// whatever the batch, and every record is still clipped on its own.
class GlmAtomSums final : public GlmSums<SimulatedSums> {
 public:
  GlmAtomSums(GlmModel model, std::shared_ptr<const GlmData> atoms, const GlmSupport& support)
      : GlmSums(std::move(model), std::move(atoms)), support_(support) {}

  Index size() const override { return support_.records; }
  std::unique_ptr<const SimulatedSums> projected(const Matrix& map, double cap) const override {
    return std::make_unique<GlmAtomSums>(sum().model(), sum().projected(map, cap), support_);
  }

 private:
  Members members_of(const BatchView& batch) const override {
    check_simulated_batch(sum().model().problem, support_.sampling, batch, support_.records);
    const auto counts = drawn_.of(RangeKey(batch.begin(), batch.size()), [&] {
      return atom_counts(sum().size(), support_.data_seed, batch.begin(), batch.size());
    });
    return {BatchView(0, sum().size()), *counts};
  }

  GlmSupport support_;
  Last<RangeKey, std::vector<Index>> drawn_;
};

}  // namespace

std::unique_ptr<const Records> glm_records(GlmModel model, std::shared_ptr<const GlmData> data) {
  return std::make_unique<GlmRecords>(std::move(model), std::move(data));
}

std::unique_ptr<const SimulatedSums> glm_atom_sums(GlmModel model,
                                                   std::shared_ptr<const GlmData> atoms,
                                                   const GlmSupport& support) {
  return std::make_unique<GlmAtomSums>(std::move(model), std::move(atoms), support);
}

std::vector<Index> atom_counts(Index atoms, std::uint64_t data_seed, Index begin, Index size) {
  Stream stream = range_stream(data_seed, begin, size);
  std::vector<Index> counts(static_cast<std::size_t>(atoms));
  Index left = size;
  for (Index k = 0; k < atoms; ++k) {
    const Index chosen =
        k + 1 < atoms ? stream.binomial(left, 1.0 / static_cast<double>(atoms - k)) : left;
    counts[static_cast<std::size_t>(k)] = chosen;
    left -= chosen;
  }
  return counts;
}

}  // namespace dpsosp
