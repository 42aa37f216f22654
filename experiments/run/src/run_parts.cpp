// SPDX-License-Identifier: Apache-2.0
#include "run_parts.hpp"

#include <algorithm>

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
