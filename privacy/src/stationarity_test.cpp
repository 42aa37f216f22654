// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/stationarity_test.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/records.hpp"

namespace dpsosp {

StationarityTest::StationarityTest(Curator& curator,
                                   const Batch& batch,
                                   const StationaritySpec& spec)
    : curator_(&curator), batch_(batch), spec_(spec) {
  constexpr std::string_view where = "stationarity test";
  // Beyond, squares underflow or overflow: norms that read 0 are not clipped.
  const auto positive = [&](std::string_view name, double value) {
    if (!(value >= 1e-150 && value <= 1e150)) reject(where, name, value, "in [1e-150, 1e150]");
  };
  positive("epsilon", spec.epsilon);
  positive("gradient_scale", spec.gradient_scale);
  positive("curvature_scale", spec.curvature_scale);
  positive("gradient_limit", spec.gradient_limit);
  positive("hessian_limit", spec.hessian_limit);
  if (!std::isfinite(spec.slack)) reject(where, "slack", spec.slack, "finite");
  Curator::Own& own = *curator.own_;
  if (own.facts.dimension > largest_dimension)
    reject(where,
           "dimension",
           static_cast<double>(own.facts.dimension),
           fmt::format("<= {}: the eigenvalue is a dense solve", largest_dimension));
  const Vector start = own.facts.initial_point;
  curator.check_query(Point(start), nullptr, batch, Block::x, own.facts.dimension);
  if (batch.members_) throw InputError("stationarity test: a batch with secret membership");
  if (!curator.own_->records->has_second_order())
    throw InputError(
        fmt::format("stationarity test: {} answers no Hessian products", own.facts.name));

  const double b = batch.policy_.divisor(own.facts.records);
  sensitivity_ = std::max(2.0 * spec.gradient_limit / (b * spec.gradient_scale),
                          2.0 * spec.hessian_limit / (b * spec.curvature_scale));
  const Curator::Departures& departures = curator.shared_->departures;
  const double true_sensitivity =  // a clipped mean moves by 2 G whatever the batch
      departures.clip_batch_mean
          ? std::max(sensitivity_, 2.0 * spec.gradient_limit / spec.gradient_scale)
          : sensitivity_;
  const Event event = PureEvent{spec.epsilon * (true_sensitivity / sensitivity_)};
  const auto account =
      departures.no_filter ? RangeFilter::Account::zcdp : own.charge_pure(batch.range_, event);
  if (!account)
    throw BudgetExhausted("stationarity_test refused: its charge exceeds the privacy budget");
  const double scale = departures.no_noise ? 0.0 : 2.0 * sensitivity_ / spec.epsilon;
  curator.shared_->ledger.append({own.scope,
                                  "stationarity_test",
                                  batch.policy_,
                                  departures.no_noise ? std::optional<Event>{} : event,
                                  batch.range_,
                                  true_sensitivity,
                                  true_sensitivity,
                                  scale,
                                  scale,
                                  1,
                                  account == RangeFilter::Account::pure});
  threshold_ = spec.slack + scale * own.noise.laplace();
}

double StationarityTest::scalar(ConstVectorRef x) {
  Curator::Own& own = *curator_->own_;
  const Index d = x.size();
  const GradientQuery gradient{spec_.gradient_limit, {}, Block::x};
  const double b = batch_.policy_.divisor(own.facts.records);
  own.work.setZero(d);
  curator_->read_mean(Point(x), nullptr, batch_, gradient, b);
  const double norm = own.work.norm();
  Matrix hessian(d, d);
  const Vector at = x;
  for (Index j = 0; j < d; ++j) {
    own.work.setZero(d);
    curator_->read_hessian(at, {}, batch_, Vector::Unit(d, j), spec_.hessian_limit);
    hessian.col(j) = own.work;
  }
  const double lambda_min = Eigen::SelfAdjointEigenSolver<Matrix>(
                                (hessian + hessian.transpose()) / 2, Eigen::EigenvaluesOnly)
                                .eigenvalues()[0];
  return std::max(norm / spec_.gradient_scale, -lambda_min / spec_.curvature_scale);
}

bool StationarityTest::accepts(ConstVectorRef x) {
  if (!open_)
    throw InputError("stationarity test: the session ended with its first yes; open another one");
  if (x.size() != curator_->own_->facts.dimension)
    reject("stationarity test",
           "x",
           static_cast<double>(x.size()),
           fmt::format("{} entries", curator_->own_->facts.dimension));
  ++questions_;
  if (!x.allFinite()) return false;  // every record would count as zero
  const bool no_noise = curator_->shared_->departures.no_noise;
  const double noise = curator_->own_->noise.laplace();
  const double scale = no_noise ? 0.0 : 4.0 * sensitivity_ / spec_.epsilon;
  open_ = !(scalar(x) + scale * noise <= threshold_);
  return !open_;
}

}  // namespace dpsosp
