// SPDX-License-Identifier: Apache-2.0
#include "sparse_vector.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::door {

SparseVector::SparseVector(Curator& curator, const Batch& batch, const char* name,
                           std::span<const ThresholdTest> tests)
    : curator_(&curator), name_(name), scalars_(tests.size()) {
  Curator::Own& own = *curator.own_;
  const Departures& departures = curator.shared_->departures;
  curator.shared_->refuse_if_exact(name);
  double epsilon = 0.0;
  for (const ThresholdTest& test : tests) epsilon += test.true_epsilon();
  const Event event = PureEvent{epsilon};
  const auto account =
      departures.no_filter ? RangeFilter::Account::zcdp : own.charge_pure(batch.range, event);
  if (!account)
    throw BudgetExhausted(fmt::format("{} refused: its charge exceeds the privacy budget", name));
  const double noise = departures.no_noise ? 0.0 : 1.0;
  const auto [low, high] = std::ranges::minmax(tests, {}, &ThresholdTest::true_sensitivity);
  const auto [near, far] = std::ranges::minmax(tests, {}, &ThresholdTest::threshold_scale);
  curator.shared_->list(
      {own.scope, name, batch.policy, departures.no_noise ? std::optional<Event>{} : event,
       batch.range, low.true_sensitivity, high.true_sensitivity, noise * near.threshold_scale(),
       noise * far.threshold_scale(), 1, account == RangeFilter::Account::pure});
  for (std::size_t k = 0; k < scalars_; ++k) {
    const double scale = noise * tests[k].threshold_scale();
    thresholds_[k] = tests[k].threshold;
    curator.shared_->audit({.kind = AuditedAnswer::Kind::threshold,
                            .deviation = scale,
                            .session = this,
                            .index = static_cast<std::int64_t>(k),
                            .path = own.key.path},
                           thresholds_[k]);
    thresholds_[k] += scale * own.noise.laplace();
    curator.shared_->audit_noisy(thresholds_[k]);
    scales_[k] = noise * tests[k].question_scale();
  }
}

void SparseVector::expect_open() const {
  if (!open_)
    throw InputError(
        fmt::format("{}: the session ended with its first yes; open another one", name_));
}

bool SparseVector::at_most(std::span<const double> values) {
  bool yes = true;
  for (std::size_t k = 0; k < scalars_; ++k) {  // all noise is drawn, whatever the answers
    double value = values[k];
    curator_->shared_->audit({.kind = AuditedAnswer::Kind::question,
                              .deviation = scales_[k],
                              .session = this,
                              .index = static_cast<std::int64_t>(k),
                              .path = curator_->own_->key.path},
                             value);
    value += scales_[k] * curator_->own_->noise.laplace();
    curator_->shared_->audit_noisy(value);
    yes = value <= thresholds_[k] && yes;
  }
  open_ = !yes;
  return yes;
}

}  // namespace dpsosp::door
