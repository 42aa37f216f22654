// SPDX-License-Identifier: Apache-2.0
#include "stationarity_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/problems/records.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view where = "stationarity test";

void check(const StationaritySpec& spec) {
  // Beyond, squares underflow or overflow: norms that read 0 are not clipped.
  const auto positive = [](std::string_view name, double value) {
    if (!(value >= 1e-150 && value <= 1e150)) reject(where, name, value, "in [1e-150, 1e150]");
  };
  positive("epsilon", spec.epsilon);
  positive("gradient_scale", spec.gradient_scale);
  positive("curvature_scale", spec.curvature_scale);
  positive("gradient_limit", spec.gradient_limit);
  positive("hessian_limit", spec.hessian_limit);
  if (!std::isfinite(spec.slack)) reject(where, "slack", spec.slack, "finite");
  if (spec.candidates < 1)
    reject(where, "candidates", static_cast<double>(spec.candidates), ">= 1");
  if (!(spec.failure > 0 && spec.failure < 1)) reject(where, "failure", spec.failure, "in (0, 1)");
}

}  // namespace

std::vector<ThresholdTest> plan_stationarity(const StationaritySpec& spec, double size) {
  check(spec);
  const double moved_gradient = 2.0 * spec.gradient_limit / size;
  const double moved_curvature = 2.0 * spec.hessian_limit / size;
  if (spec.form == SelectionForm::scalar) {
    const double s = std::max(2.0 * spec.gradient_limit / (size * spec.gradient_scale),
                              2.0 * spec.hessian_limit / (size * spec.curvature_scale));
    return {{spec.slack, s, s, spec.epsilon}};
  }
  const double a = spec.scales == SelectionScales::zero_out ? 0.5 : 1.0;
  ThresholdTest gradient{spec.gradient_scale, a * moved_gradient, moved_gradient, spec.epsilon};
  ThresholdTest curvature{spec.curvature_scale, a * moved_curvature, moved_curvature, spec.epsilon};
  for (ThresholdTest* test : {&gradient, &curvature}) {
    if (spec.form == SelectionForm::two_tests) {
      const double lg = std::log(2.0 * static_cast<double>(spec.candidates) / spec.failure);
      test->threshold += 16.0 * lg * test->sensitivity / spec.epsilon;
      test->epsilon = spec.epsilon / 2.0;  // Lap(4s/ε) and Lap(8s/ε)
    } else {
      test->threshold *= spec.slack;
    }
  }
  return {gradient, curvature};
}

double selection_noise(double sensitivity, double epsilon, double questions, double failure) {
  return 8.0 * sensitivity * (std::log(questions) + std::log(2.0 / failure)) / epsilon;
}

}  // namespace dpsosp

namespace dpsosp::door {

StationarityTest::StationarityTest(Curator& curator,
                                   const Batch& batch,
                                   const StationaritySpec& spec)
    : curator_(&curator), batch_(batch), spec_(spec) {
  check(spec);
  const PublicFacts& facts = curator.facts();
  if (facts.dimension > largest_dimension)
    reject(where,
           "dimension",
           static_cast<double>(facts.dimension),
           fmt::format("<= {}: the eigenvalue is a dense solve", largest_dimension));
  curator.check_hessian(where, Point(facts.initial_point), batch);
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
  const GradientQuery gradient{spec_.gradient_limit, {}, Block::x};
  own.work.setZero(d);
  curator_->read_mean(
      Point(x), nullptr, batch_, gradient, batch_.policy.divisor(own.facts.records));
  const double norm = own.work.norm();
  Matrix hessian(d, d);
  curator_->read_hessian_matrix(x, batch_, spec_.hessian_limit, hessian);
  return {norm, symmetric_eigenvalues(hessian)[0]};
}

bool StationarityTest::accepts(ConstVectorRef x) {
  if (session_) session_->expect_open();
  if (x.size() != curator_->own_->facts.dimension)
    reject(where,
           "x",
           static_cast<double>(x.size()),
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
    entries.push_back({own.scope,
                       "laplace_scalar",
                       batch_.policy,
                       departures.no_noise ? std::optional<Event>{} : event,
                       batch_.range,
                       test.true_sensitivity,
                       test.true_sensitivity,
                       scale,
                       scale,
                       1});
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
                              .index = static_cast<std::int64_t>(k)},
                             values[k]);
    values[k] += scale * own.noise.laplace();
    curator_->shared_->audit_noisy(values[k]);
    yes = values[k] <= tests_[k].threshold && yes;
  }
  return yes;
}

}  // namespace dpsosp::door
