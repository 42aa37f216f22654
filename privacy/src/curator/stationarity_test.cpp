// SPDX-License-Identifier: Apache-2.0
#include "stationarity_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

constexpr std::string_view in_stationarity_test = "stationarity test";

}  // namespace

StationarityTest::StationarityTest(Curator& curator, const Batch& batch,
                                   const StationaritySpec& spec)
    : curator_(&curator), batch_(batch), spec_(spec) {
  check(spec);
  const PublicFacts& facts = curator.facts();
  if (facts.dimension > largest_dimension)
    reject(in_stationarity_test, "dimension", static_cast<double>(facts.dimension),
           fmt::format("<= {}: the eigenvalue is a dense solve", largest_dimension));
  curator.check_hessian(in_stationarity_test, Point(facts.initial_point), batch);
  if (batch.secret()) throw InputError("stationarity test: a batch with secret membership");

  tests_ = plan_stationarity(spec, batch.policy.divisor(facts.records));
  if (curator.shared_->departures.clip_batch_mean) {  // a clipped mean moves by 2 G in any batch
    const bool scaled = spec.form == SelectionForm::scalar;
    double& moved = tests_.front().true_sensitivity;
    moved = std::max(scaled ? moved : 0.0,
                     2.0 * spec.gradient_limit / (scaled ? spec.gradient_scale : 1.0));
  }
  if (spec.form != SelectionForm::independent)
    session_.reset(new SparseVector(curator, batch, "stationarity_test", tests_));
}

StationarityTest::Stationarity StationarityTest::measure(ConstVectorRef x) {
  Curator::Own& own = *curator_->own_;
  const Index d = x.size();
  own.work.setZero(d);
  curator_->read_mean(Summand::gradient(Point(x), Block::x), batch_, spec_.gradient_limit,
                      batch_.policy.divisor(own.facts.records));
  const double norm = own.work.norm();
  Matrix hessian(d, d);
  curator_->read_hessian_matrix(x, batch_, spec_.hessian_limit, hessian);
  return {norm, symmetric_eigenvalues(hessian)[0]};
}

bool StationarityTest::accepts(ConstVectorRef x) {
  if (session_) session_->expect_open();
  if (x.size() != curator_->own_->facts.dimension)
    reject(in_stationarity_test, "x", static_cast<double>(x.size()),
           fmt::format("{} entries", curator_->own_->facts.dimension));
  if (!session_) return ask_independently(x);
  ++questions_;
  if (!x.allFinite()) return false;  // every record would count as zero
  const auto [norm, lambda_min] = measure(x);
  if (spec_.form == SelectionForm::scalar) {
    const std::array<double, 1> q{
        std::max(norm / spec_.gradient_scale, -lambda_min / spec_.curvature_scale)};
    return session_->at_most(q);
  }
  const std::array<double, 2> both{norm, -lambda_min};
  return session_->at_most(both);
}

bool StationarityTest::ask_independently(ConstVectorRef x) {
  Curator::Own& own = *curator_->own_;
  const Departures& departures = curator_->shared_->departures;
  curator_->shared_->refuse_if_exact("laplace_scalar");
  if (!x.allFinite()) {
    ++questions_;
    return false;
  }
  std::vector<RangeFilter::Charge> charges;
  std::vector<LedgerEntry> entries;
  for (const ThresholdTest& test : tests_) {
    const Event event = LaplaceEvent{test.true_epsilon()};
    const double scale = departures.no_noise ? 0.0 : test.sensitivity / test.epsilon;
    charges.push_back({batch_.range, own.charge_of(event)});
    entries.push_back({own.scope, "laplace_scalar", batch_.policy,
                       departures.no_noise ? std::optional<Event>{} : event, batch_.range,
                       test.true_sensitivity, test.true_sensitivity, scale, scale, 1});
  }
  if (!departures.no_filter && !own.filter.try_charge(charges))
    throw BudgetExhausted("laplace_scalar refused: its charge exceeds the privacy budget");
  for (const LedgerEntry& entry : entries) curator_->shared_->list(entry);
  ++questions_;
  const auto [norm, lambda_min] = measure(x);
  std::array<double, 2> values{norm, -lambda_min};
  bool yes = true;
  for (std::size_t k = 0; k < tests_.size(); ++k) {
    const double scale = entries[k].deviation_low;
    curator_->shared_->audit({.kind = AuditedAnswer::Kind::scalar,
                              .deviation = scale,
                              .index = static_cast<std::int64_t>(k),
                              .path = own.key.path},
                             values[k]);
    values[k] += scale * own.noise.laplace();
    curator_->shared_->audit_noisy(values[k]);
    yes = values[k] <= tests_[k].threshold && yes;
  }
  return yes;
}

}  // namespace dpsosp::door
