// SPDX-License-Identifier: Apache-2.0
#include "run_parts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/experiments/run.hpp"

namespace dpsosp {
namespace {

/// Records that any query was charged to, as far as the ledger tells.
Index records_charged(const Ledger& ledger) {
  std::vector<RecordRange> ranges;
  for (const LedgerEntry& e : ledger.entries()) ranges.push_back(e.charged);
  std::ranges::sort(ranges, {}, &RecordRange::begin);
  Index used = 0, end = 0;
  for (const RecordRange& r : ranges) {
    used += std::max<Index>(0, r.end - std::max(end, r.begin));
    end = std::max(end, r.end);
  }
  return used;
}

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

AlgorithmResult algorithm_result(const Setup& s, const Outcome& outcome, const Ledger& ledger) {
  return {.status = outcome.status,
          .steps = outcome.steps,
          .counts = outcome.counts,
          .records_used = records_charged(ledger),
          .parameters = s.actor->parameters()};
}

ScheduleResult schedule_result(const Scheduled& scheduled) {
  return {.alpha = scheduled.alpha, .utility = scheduled.utility, .note = scheduled.note};
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

std::optional<double> hessian_lipschitz(const PublicFacts& facts) {
  if (!facts.constants.contains(constant::hessian_lipschitz)) return {};
  return facts.constants[constant::hessian_lipschitz];
}

Certificate certificate_of(const Problem& problem, const Objective& objective, ConstVectorRef x,
                           std::uint64_t seed) {
  CertificateOptions options;
  options.hessian_lipschitz = hessian_lipschitz(problem.facts);
  options.in_region = problem.in_region(x);
  options.key.seed = seed;
  Certificate c = certify(objective, x, options);
  if (c.status != EvaluationStatus::ok)
    throw RunFailed(fmt::format("certificate: {}", to_string(c.status)));
  return c;
}

std::vector<TraceRow> trace_rows(const std::vector<TracePoint>& trace) {
  std::vector<TraceRow> rows;
  for (const TracePoint& p : trace) {
    if (p.status != EvaluationStatus::ok)
      throw RunFailed(fmt::format("trace at t = {}: {}", p.t, to_string(p.status)));
    rows.push_back({.t = p.t,
                    .value = p.value,
                    .gradient_norm = p.gradient_norm,
                    .lambda_min = p.lambda_min,
                    .sosp_level = p.sosp_level.value_or(Certificate::unknown)});
  }
  return rows;
}

std::optional<double> minimum_of(const Problem& problem, const Objective& objective) {
  const auto of =
      &objective == problem.population.get() ? Landmark::Of::population : Landmark::Of::empirical;
  for (const Landmark& l : problem.landmarks)
    if (l.kind == Landmark::Kind::minimiser && l.of == of) return objective.value(l.point);
  return {};
}

}  // namespace dpsosp
