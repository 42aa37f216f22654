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
#include "dpsosp/trusted/admit.hpp"
#include "dpsosp/trusted/clip.hpp"

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
  void hessian_product(const Point& point, const Point* previous, ConstVectorRef v,
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

  bool separable() const override { return common_.separable(); }
  bool has_second_order() const override { return common_.has_hessian_bound(); }

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    check_minimisation(spec_.problem, s.block);
    check_simulated_batch(spec_.problem, spec_.sampling, batch, spec_.records);
    const auto n = static_cast<double>(batch.size());
    Vector common(spec_.landscape->dimension());
    switch (s.kind) {
      case Summand::Kind::gradient:
        common_.gradient(s.point.x, common);
        if (s.previous) {
          Vector before(common.size());
          common_.gradient(s.previous->x, before);
          common -= before;
          return add_common(common, common.norm(), batch, limit, out);
        }
        check_simulated_limit(
            spec_.problem,
            common.norm() + spec_.entry * std::sqrt(static_cast<double>(common.size())), limit);
        out += n * common + sum_of_tilts(batch.begin(), batch.size());
        return {};
      case Summand::Kind::loss: {
        const double rise = common_.value(s.point.x) - common_.value(s.previous->x);
        const Vector move = s.point.x - s.previous->x;
        const double weight = check_simulated_limit(
            spec_.problem, std::abs(rise) + spec_.entry * move.lpNorm<1>(), limit, 1.0);
        out[0] += weight * (n * rise + sum_of_tilts(batch.begin(), batch.size()).dot(move));
        return {};
      }
      case Summand::Kind::coordinate_loss: {
        if (!separable()) refuse(s);
        const Index j = s.coordinate;
        const double at_centre = common_.coordinate_value(j, s.centre);
        const Vector risen = s.v.unaryExpr(
            [&](double value) { return common_.coordinate_value(j, value) - at_centre; });
        const Index plus = (*positive_tilts(batch.begin(), batch.size()))[j];
        const std::array<CountedValue, 2> tilts{
            {{-spec_.entry, batch.size() - plus}, {spec_.entry, plus}}};
        return clamped_coordinate_sum(tilts, s.v, s.centre, limit, out, [&](double z) -> Vector {
          return risen.array() + z * (s.v.array() - s.centre);
        });
      }
      case Summand::Kind::hessian_product:
        break;
    }
    if (!has_second_order())
      throw InputError(fmt::format("{}: no bound of the Hessian is known", spec_.problem));
    common_.hessian_product(s.point, s.before(), s.v, common);
    return add_common(common, common_.hessian_bound(s.point, s.before()), batch, limit, out);
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

  /// Every record contributes the same vector, weighed by the same bound.
  static ClipReport add_common(const Vector& contribution, double bound, const BatchView& batch,
                               double limit, VectorRef out) {
    ClipReport report;
    out += clip_weight(report, bound, limit, batch.size()) * contribution;
    return report;
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

std::unique_ptr<const AnyRecords> linear_records(std::string problem,
                                                 std::shared_ptr<const Objective> landscape,
                                                 CurvatureBounds curvature, Matrix tilts) {
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
