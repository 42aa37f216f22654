// SPDX-License-Identifier: Apache-2.0
#include "opening.hpp"

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/query.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"

namespace dpsosp {
namespace {

/// The guarantee for a stated class of data sets, if what was spent at the rest of delta is within
/// the budget.
std::optional<ClassRelative> class_relative(const Ledger& ledger, const PrivacyBudget& budget,
                                            double bound_failure) {
  const double rest = budget.delta - (1.0 + std::exp(budget.epsilon)) * bound_failure;
  if (bound_failure <= 0 || rest <= 0 || ledger.spent(rest).epsilon > budget.epsilon * (1 + 1e-9))
    return {};
  return ClassRelative{
      .epsilon = budget.epsilon, .delta = budget.delta, .bound_failure = bound_failure};
}

}  // namespace

void check_rule(const RunDescription& d, const Scheduled& scheduled) {
  if (d.door == Door::enforced || d.door == Door::no_clipping)
    check(scheduled.rule, {d.epsilon, d.delta});
}

Curator open(const Problem& p, const PublicFacts& facts, const FilterRule& rule, Door door,
             const StreamKey& key, ClipLog& log) {
  if (door == Door::enforced) {
    if (p.simulated) return SimulatedCurator(facts, *p.simulated, rule, key, &log);
    return {facts, *p.records, rule, key, &log};
  }
  UnsoundCurator::Departures departures;
  departures.no_noise = door == Door::no_noise || door == Door::not_private;
  departures.no_data = door == Door::no_data;
  departures.no_clipping = door == Door::not_private || door == Door::no_clipping;
  departures.clip_batch_mean = door == Door::batch_mean_clip;
  departures.realised_divisor = departures.resample_empty = door == Door::script;
  if (p.simulated) return UnsoundCurator(facts, *p.simulated, key, departures, &log);
  return UnsoundCurator(facts, *p.records, key, departures, &log);
}

ReleaseCurator open_release(const Problem& p, const PublicFacts& facts, const FilterRule& rule,
                            const RunDescription& d, const StreamKey& key, ClipLog& log) {
  if (d.door != Door::enforced)
    throw InputError(fmt::format("release: {} needs the door `{}`, which does not enforce privacy",
                                 d.algorithm, word_of(d.door)));
  if (!p.records)
    throw InputError("release: the records are simulated, expected records in memory");
  return {facts, *p.records, rule, key, std::make_unique<SystemEntropy>(), &log};
}

PrivacyResult privacy_result(const Curator& curator, const RunDescription& d,
                             const Scheduled& scheduled, const ClipLog& log) {
  const Ledger ledger = curator.ledger();
  const Guarantee spent = ledger.spent(d.delta);
  PrivacyResult p;
  // An unclipped run that met a longer gradient than its noise is for has no guarantee.
  p.label = log.violations > 0 ? PrivacyLabel::violated : curator.label();
  p.delta = d.delta;
  p.spent = spent.epsilon;
  p.spent_accountant = spent.accountant;
  p.queries = ledger.queries();
  p.ledger = summary_of(ledger);
  if (on_records(p.label) == PrivacyLabel::enforced ||
      (p.label == PrivacyLabel::conditional && d.door == Door::enforced)) {
    // The filter's budget, fixed before the run; under `conditional` as far as its assumption
    // holds.
    p.guarantee = d.epsilon;
    p.filter = {.calibrator = scheduled.rule.calibrator,
                .capacity = scheduled.rule.capacity,
                .order = scheduled.rule.order,
                .pure_capacity = scheduled.rule.pure_capacity,
                .delta_extra = scheduled.rule.delta_extra};
  }
  if (p.label == PrivacyLabel::conditional) {
    p.nominal = p.spent;
    p.class_relative = class_relative(ledger, {d.epsilon, d.delta}, scheduled.bound_failure);
  }
  return p;
}

}  // namespace dpsosp
