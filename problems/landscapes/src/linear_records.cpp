// SPDX-License-Identifier: Apache-2.0
#include "linear_records.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/coordinate_sum.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/trusted/clip.hpp"
#include "dpsosp/trusted/private_records.hpp"

namespace dpsosp {
namespace {

/// F as the part of a record's loss that no record enters.
class LandscapeLoss final : public CommonLoss {
 public:
  LandscapeLoss(std::shared_ptr<const Objective> landscape, CurvatureBounds curvature)
      : landscape_(std::move(landscape)),
        separable_(dynamic_cast<const SeparableObjective*>(landscape_.get())),
        curvature_(curvature) {}

  double value(ConstVectorRef x) const override { return landscape_->value(x); }
  void gradient(ConstVectorRef x, VectorRef out) const override { landscape_->gradient(x, out); }
  bool has_hessian_bound() const override { return std::isfinite(curvature_.smoothness); }
  void hessian_product(const Point& point,
                       const Point* previous,
                       ConstVectorRef v,
                       VectorRef out) const override {
    landscape_->hessian_product(point.x, v, out);
    if (previous == nullptr) return;
    Vector before(v.size());
    landscape_->hessian_product(previous->x, v, before);
    out -= before;
  }
  double hessian_bound(const Point& point, const Point* previous) const override {
    if (previous == nullptr) return curvature_.smoothness;
    return std::min(2 * curvature_.smoothness,
                    curvature_.hessian_lipschitz * point.distance(*previous));
  }
  bool separable() const override { return separable_ != nullptr; }
  double coordinate_value(Index j, double t) const override {
    return separable_->coordinate_value(j, t);
  }

 private:
  std::shared_ptr<const Objective> landscape_;
  const SeparableObjective* separable_;  // the landscape, if it is a sum over coordinates
  CurvatureBounds curvature_;
};

/// Sums over z ∈ {−s, s}^d that are drawn from their law. Where no z enters they are exact.
class SimulatedTilts final : public SimulatedSums {
 public:
  explicit SimulatedTilts(const LinearRecordsSpec& spec)
      : spec_(spec), common_(spec.landscape, spec.curvature) {}

  Index size() const override { return spec_.records; }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_batch(block, batch);
    const Vector common = gradient(point);
    const double tilt = spec_.entry * std::sqrt(static_cast<double>(common.size()));
    check_simulated_limit(spec_.problem, common.norm() + tilt, limit);
    out += static_cast<double>(batch.size()) * common + sum_of_tilts(batch.begin(), batch.size());
    return {};
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    check_batch(block, batch);
    const Vector difference = gradient(point) - gradient(previous);
    return add_common(difference, difference.norm(), batch, limit, out);
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    check_batch(Block::x, batch);
    const double common = common_.value(point.x) - common_.value(centre.x);
    const Vector move = point.x - centre.x;
    const double weight = check_simulated_limit(
        spec_.problem, std::abs(common) + spec_.entry * move.lpNorm<1>(), limit, 1.0);
    out += weight * (static_cast<double>(batch.size()) * common +
                     sum_of_tilts(batch.begin(), batch.size()).dot(move));
    return {};
  }

  bool separable() const override { return common_.separable(); }

  ClipReport add_coordinate_loss_differences(Index j,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    check_batch(Block::x, batch);
    if (!separable())
      return SimulatedSums::add_coordinate_loss_differences(j, values, centre, batch, limit, out);
    const double at_centre = common_.coordinate_value(j, centre);
    const Vector risen = values.unaryExpr(
        [&](double value) { return common_.coordinate_value(j, value) - at_centre; });
    const Index plus = (*positive_tilts(batch.begin(), batch.size()))[j];
    const std::array<CountedValue, 2> tilts{
        {{-spec_.entry, batch.size() - plus}, {spec_.entry, plus}}};
    return clamped_coordinate_sum(tilts, values, centre, limit, out, [&](double z) -> Vector {
      return risen.array() + z * (values.array() - centre);
    });
  }

  bool has_second_order() const override { return common_.has_hessian_bound(); }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    return add_products(point, nullptr, v, batch, limit, out);
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    return add_products(point, &previous, v, batch, limit, out);
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

  Vector gradient(const Point& point) const {
    Vector g(point.x.size());
    common_.gradient(point.x, g);
    return g;
  }

  ClipReport add_products(const Point& point,
                          const Point* previous,
                          ConstVectorRef v,
                          const BatchView& batch,
                          double limit,
                          VectorRef out) const {
    check_batch(Block::x, batch);
    if (!has_second_order())
      throw InputError(fmt::format("{}: no bound of the Hessian is known", spec_.problem));
    Vector product(v.size());
    common_.hessian_product(point, previous, v, product);
    return add_common(product, common_.hessian_bound(point, previous), batch, limit, out);
  }

  /// Every record contributes the same vector, weighed by the same bound.
  static ClipReport add_common(const Vector& contribution,
                               double bound,
                               const BatchView& batch,
                               double limit,
                               VectorRef out) {
    ClipReport report;
    out += clip_weight(report, bound, limit, batch.size()) * contribution;
    return report;
  }

  void check_batch(Block block, const BatchView& batch) const {
    check_minimisation(spec_.problem, block);
    check_simulated_batch(spec_.problem, spec_.sampling, batch, spec_.records);
  }

  LinearRecordsSpec spec_;
  LandscapeLoss common_;
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
  const Index n = tilts.cols();
  return admit({.problem = std::move(problem),
                .common = std::make_shared<LandscapeLoss>(std::move(landscape), curvature),
                .tilted = true},
               RecordTable(RecordColumns{std::move(tilts), Vector::Zero(n)}));
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
