// SPDX-License-Identifier: Apache-2.0
#include "linear_records.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector_blocks.hpp"
#include "dpsosp/problems/clipped_sum.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/trusted/weigh_repeated.hpp"

namespace dpsosp {
namespace {

/// Gradients of F + ⟨z, ·⟩: everything that does not depend on how z̄ is known.
template <class Sums>
class TiltedSums : public Sums {
 public:
  TiltedSums(std::string problem,
             std::shared_ptr<const Objective> landscape,
             CurvatureBounds curvature)
      : problem_(std::move(problem)),
        landscape_(std::move(landscape)),
        separable_(dynamic_cast<const SeparableObjective*>(landscape_.get())),
        curvature_(curvature) {}

  /// The records cancel: every record's difference is the landscape's.
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    check_batch(block, batch);
    Vector difference(point.x.size());
    Vector before(point.x.size());
    landscape_->gradient(point.x, difference);
    landscape_->gradient(previous.x, before);
    difference -= before;
    return add_common(difference, difference.norm(), batch, limit, out);
  }

  bool separable() const final { return separable_ != nullptr; }

  ClipReport add_coordinate_loss_differences(Index j,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    check_batch(Block::x, batch);
    if (!separable())
      return Sums::add_coordinate_loss_differences(j, values, centre, batch, limit, out);
    const double at_centre = separable_->coordinate_value(j, centre);
    const Vector risen = values.unaryExpr(
        [&](double value) { return separable_->coordinate_value(j, value) - at_centre; });
    return clamped_coordinate_sum(
        coordinate_tilts(j, batch), values, centre, limit, out, [&](double z) -> Vector {
          return risen.array() + z * (values.array() - centre);
        });
  }

  bool has_second_order() const final { return std::isfinite(curvature_.smoothness); }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const final {
    check_curvature(batch);
    Vector product(v.size());
    landscape_->hessian_product(point.x, v, product);
    return add_common(product, curvature_.smoothness, batch, limit, out);
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    check_curvature(batch);
    Vector product(v.size());
    Vector before(v.size());
    landscape_->hessian_product(point.x, v, product);
    landscape_->hessian_product(previous.x, v, before);
    product -= before;
    const double bound = std::min(2 * curvature_.smoothness,
                                  curvature_.hessian_lipschitz * point.distance(previous));
    return add_common(product, bound, batch, limit, out);
  }

 protected:
  virtual void check_batch(Block block, const BatchView&) const {
    check_minimisation(problem_, block);
  }
  double landscape_difference(const Point& point, const Point& centre) const {
    return landscape_->value(point.x) - landscape_->value(centre.x);
  }
  Vector landscape_gradient(const Point& point) const {
    Vector g(point.x.size());
    landscape_->gradient(point.x, g);
    return g;
  }
  const std::string& problem() const { return problem_; }

 private:
  /// The entries z_ij of the batch and how often each occurs, ascending.
  virtual std::vector<CountedValue> coordinate_tilts(Index j, const BatchView& batch) const = 0;

  void check_curvature(const BatchView& batch) const {
    check_batch(Block::x, batch);
    if (!has_second_order())
      throw InputError(fmt::format("{}: no bound of the Hessian is known", problem_));
  }

  /// Every record contributes the same vector, weighed by the same bound.
  static ClipReport add_common(const Vector& contribution,
                               double bound,
                               const BatchView& batch,
                               double limit,
                               VectorRef out) {
    ClipReport report;
    out += weigh_repeated(report, bound, limit, batch.size()) * contribution;
    return report;
  }

  std::string problem_;
  std::shared_ptr<const Objective> landscape_;
  const SeparableObjective* separable_;  // the landscape, if it is a sum over coordinates
  CurvatureBounds curvature_;
};

class StoredTilts final : public TiltedSums<Records> {
  /// Where a tilt cancels the landscape's gradient almost, their sums must not be made apart: they
  /// would be rounded by more than the limit.
  static constexpr double most_cancelled = 0x1p20;

 public:
  StoredTilts(std::string problem,
              std::shared_ptr<const Objective> landscape,
              CurvatureBounds curvature,
              Matrix tilts)
      : TiltedSums(std::move(problem), std::move(landscape), curvature), tilts_(std::move(tilts)) {}

  Index size() const override { return tilts_.cols(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_batch(block, batch);
    const Vector common = landscape_gradient(point);
    const double common_norm = common.norm();
    const bool in_blocks = !batch.is_list() && common.size() <= VectorBlocks::most_entries &&
                           common_norm <= most_cancelled * limit;
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      ShiftedSum sum{common, common_norm, limit, partial, {}};
      constexpr Index in_block = VectorBlocks::in_block;
      const Index from = (batch.begin() + first + in_block - 1) / in_block;
      const Index to = (batch.begin() + last) / in_block;
      if (in_blocks && from < to) {
        add_rows_of(batch, first, from * in_block - batch.begin(), sum);
        sum.add(blocks().add_weighed(from, to, common, limit, partial));
        first = to * in_block - batch.begin();
      }
      add_rows_of(batch, first, last, sum);
      partial += sum.weight * common;
      return sum.report;
    });
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    check_batch(Block::x, batch);
    const double common = landscape_difference(point, centre);
    const Vector move = point.x - centre.x;
    return clamped_sum(
        batch, limit, out, [&](Index i) { return common + tilts_.col(i).dot(move); });
  }

 private:
  /// Σ w_i (z_i + common) so far: the z_i are in `partial`, the w_i in `weight`.
  struct ShiftedSum {
    void add(const VectorBlocks::Weighed& weighed) {
      weight += weighed.weight;
      report.merge({weighed.clipped, weighed.largest_norm});
    }

    const Vector& common;
    double common_norm, limit;
    VectorRef partial;
    ClipReport report;
    double weight = 0;
  };

  /// Positions [first, last) of the batch.
  void add_rows_of(const BatchView& batch, Index first, Index last, ShiftedSum& sum) const {
    const Index at_a_time = rows_in_cache(sum.common.size());
    std::array<const double*, most_rows> rows;
    std::array<double, most_rows> numbers;  // squared norms, then weights
    for (Index k = first; k < last; k += at_a_time) {
      const Index here = std::min(at_a_time, last - k);
      const Rows tilts(rows.data(), static_cast<std::size_t>(here));
      Eigen::Map<Vector> of_rows(numbers.data(), here);
      for (Index j = 0; j < here; ++j)
        rows[static_cast<std::size_t>(j)] = tilts_.col(batch[k + j]).data();
      squared_norms_of_shifted_rows(tilts, sum.common, of_rows);
      for (Index j = 0; j < here; ++j) {
        double& number = of_rows[j];
        number = sum.report.weigh(std::sqrt(number), sum.limit);
        if (number * sum.common_norm > most_cancelled * sum.limit) {
          sum.partial += number * (tilts_.col(batch[k + j]) + sum.common);
          number = 0;
        }
        sum.weight += number;
      }
      add_rows(tilts, of_rows, sum.partial);
    }
  }

  /// The tilts in the order for sums over ranges, made where one is asked for.
  const VectorBlocks& blocks() const {
    std::call_once(blocks_made_, [this] { blocks_ = VectorBlocks(tilts_); });
    return blocks_;
  }

  std::vector<CountedValue> coordinate_tilts(Index j, const BatchView& batch) const override {
    std::map<double, Index> counts;
    for (Index k = 0; k < batch.size(); ++k) ++counts[tilts_(j, batch[k])];
    std::vector<CountedValue> tilts;
    for (const auto& [value, count] : counts) tilts.push_back({value, count});
    return tilts;
  }

  Matrix tilts_;  // d × n
  mutable std::once_flag blocks_made_;
  mutable VectorBlocks blocks_;
};

class SimulatedTilts final : public TiltedSums<SimulatedSums> {
 public:
  explicit SimulatedTilts(const LinearRecordsSpec& spec)
      : TiltedSums(spec.problem, spec.landscape, spec.curvature), spec_(spec) {}

  Index size() const override { return spec_.records; }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_batch(block, batch);
    const Vector common = landscape_gradient(point);
    const double tilt = spec_.entry * std::sqrt(static_cast<double>(common.size()));
    check_simulated_limit(problem(), common.norm() + tilt, limit);
    out += static_cast<double>(batch.size()) * common + sum_of_tilts(batch.begin(), batch.size());
    return {};
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    check_batch(Block::x, batch);
    const double common = landscape_difference(point, centre);
    const Vector move = point.x - centre.x;
    const double weight = check_simulated_limit(
        problem(), std::abs(common) + spec_.entry * move.lpNorm<1>(), limit, 1.0);
    out += weight * (static_cast<double>(batch.size()) * common +
                     sum_of_tilts(batch.begin(), batch.size()).dot(move));
    return {};
  }

  Vector sum_of_tilts(Index begin, Index size) const {
    const auto plus = positive_tilts(begin, size);
    Vector sum(spec_.landscape->dimension());
    for (Index j = 0; j < sum.size(); ++j)
      sum[j] = spec_.entry * static_cast<double>(2 * (*plus)[j] - size);
    return sum;
  }

 private:
  using Counts = Eigen::Vector<Index, Eigen::Dynamic>;

  std::shared_ptr<const Counts> positive_tilts(Index begin, Index size) const {
    return drawn_.of(RangeKey(begin, size), [&] {
      Stream stream = range_stream(spec_.data_seed, begin, size);
      Counts plus(spec_.landscape->dimension());
      for (Index& count : plus) count = stream.binomial(size, 0.5);
      return plus;
    });
  }

  std::vector<CountedValue> coordinate_tilts(Index j, const BatchView& batch) const override {
    const Index plus = (*positive_tilts(batch.begin(), batch.size()))[j];
    return {{-spec_.entry, batch.size() - plus}, {spec_.entry, plus}};
  }

  void check_batch(Block block, const BatchView& batch) const override {
    TiltedSums::check_batch(block, batch);
    check_simulated_batch(problem(), spec_.sampling, batch, spec_.records);
  }

  LinearRecordsSpec spec_;
  Last<RangeKey, Counts> drawn_;
};

/// d × n signs; balanced ones in cancelling pairs, a last odd column zero.
Matrix draw_tilts(const LinearRecordsSpec& spec) {
  const Index d = spec.landscape->dimension();
  Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
  Matrix tilts(d, spec.records);
  for (Index i = 0; i < spec.records; ++i) {
    if (spec.sampling == RecordSampling::balanced && i % 2 == 1)
      tilts.col(i) = -tilts.col(i - 1);
    else if (spec.sampling == RecordSampling::balanced && i + 1 == spec.records)
      tilts.col(i).setZero();
    else
      for (double& z : tilts.col(i)) z = stream.bernoulli(0.5) ? spec.entry : -spec.entry;
  }
  return tilts;
}

}  // namespace

std::unique_ptr<const Records> linear_records(std::string problem,
                                              std::shared_ptr<const Objective> landscape,
                                              CurvatureBounds curvature,
                                              Matrix tilts) {
  return std::make_unique<StoredTilts>(
      std::move(problem), std::move(landscape), curvature, std::move(tilts));
}

LinearRecordsMade make_linear_records(const LinearRecordsSpec& spec) {
  const auto n = static_cast<double>(spec.records);
  if (simulated(spec.sampling)) {
    auto sums = std::make_unique<SimulatedTilts>(spec);
    Vector mean;
    if (spec.sampling == RecordSampling::whole) mean = sums->sum_of_tilts(0, spec.records) / n;
    return {.records = nullptr, .simulated = std::move(sums), .mean = std::move(mean)};
  }
  Matrix tilts = draw_tilts(spec);
  Vector mean = tilts.rowwise().mean();
  if (spec.sampling == RecordSampling::balanced) mean.setZero();  // exactly, whatever the rounding
  return {.records = linear_records(spec.problem, spec.landscape, spec.curvature, std::move(tilts)),
          .simulated = nullptr,
          .mean = std::move(mean)};
}

}  // namespace dpsosp
