// SPDX-License-Identifier: Apache-2.0
#include "run_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/ledger_json.hpp"
#include "dpsosp/experiments/runner.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

/// Records that any query was charged to, as far as the ledger tells.
Index records_used(const Ledger& ledger) {
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

json algorithm_json(const Setup& s, const Outcome& outcome, const Ledger& ledger) {
  return {{"status", to_string(outcome.status)},
          {"steps", outcome.steps},
          {"counts", outcome.counts},
          {"records_used", records_used(ledger)},
          {"parameters", values_of(s.algorithm->fields())}};
}

json schedule_json(const Scheduled& scheduled) {
  return {{"alpha", to_json_number(scheduled.alpha)},
          {"utility", to_string(scheduled.utility)},
          {"note", scheduled.note}};
}

json privacy_json(const Curator& curator,
                  const json& d,
                  const Scheduled& scheduled,
                  const ClipLog& log) {
  // An unclipped run that met a longer gradient than its noise is for has no guarantee.
  const PrivacyLabel label = log.violations > 0 ? PrivacyLabel::violated : curator.label();
  const double delta = d.at("delta");
  const Guarantee spent = curator.ledger().spent(delta);
  json j{{"label", to_string(label)},
         {"adjacency", "replace_one"},
         {"delta", delta},
         {"spent", to_json_number(spent.epsilon)},
         {"spent_accountant", spent.accountant},
         {"queries", curator.ledger().queries()},
         {"ledger", ledger_json(curator.ledger())}};
  const bool filtered = d.at("door") == "enforced";
  if (label == PrivacyLabel::enforced || (label == PrivacyLabel::conditional && filtered)) {
    // The filter's budget, fixed before the run; under `conditional` as far as its assumption
    // holds.
    j["guarantee"] = d.at("epsilon");
    j["filter"] = {{"calibrator", to_string(scheduled.rule.calibrator)},
                   {"capacity", scheduled.rule.capacity}};
    if (scheduled.rule.order) j["filter"]["order"] = *scheduled.rule.order;
    if (scheduled.rule.pure_capacity > 0)
      j["filter"]["pure_capacity"] = scheduled.rule.pure_capacity;
    if (scheduled.rule.delta_extra > 0) j["filter"]["delta_extra"] = scheduled.rule.delta_extra;
  } else {
    j["guarantee"] = "inf";
  }
  if (label == PrivacyLabel::conditional) {
    j["nominal"] = j["spent"];  // epsilon, while no gradient is longer than the nominal bound
    // Of a stated class of data sets, where what was spent at the rest of delta is what was asked.
    const double rest =
        delta - (1.0 + std::exp(d.at("epsilon").get<double>())) * scheduled.bound_failure;
    if (scheduled.bound_failure > 0 && rest > 0 &&
        curator.ledger().spent(rest).epsilon <= d.at("epsilon").get<double>() * (1 + 1e-9))
      j["class_relative"] = {{"epsilon", d.at("epsilon")},
                             {"delta", delta},
                             {"bound_failure", scheduled.bound_failure}};
  }
  return j;
}

std::optional<double> hessian_lipschitz(const PublicFacts& facts) {
  if (!facts.constants.contains(constant::hessian_lipschitz)) return {};
  return facts.constants[constant::hessian_lipschitz];
}

json certificate_json(const Problem& problem,
                      const Objective& objective,
                      ConstVectorRef x,
                      std::uint64_t seed) {
  CertificateOptions options;
  options.hessian_lipschitz = hessian_lipschitz(problem.facts);
  options.in_region = problem.in_region(x);
  options.key.seed = seed;
  const Certificate c = certify(objective, x, options);
  if (c.status != EvaluationStatus::ok)
    throw RunFailed(fmt::format("certificate: {}", to_string(c.status)));
  json j{{"private", false},
         {"value", to_json_number(c.value)},
         {"gradient_norm", to_json_number(c.gradient_norm)},
         {"lambda_min", to_json_number(c.lambda_min)},
         {"residual", to_json_number(c.residual)},
         {"lambda_min_lower", to_json_number(c.lambda_min_lower)},
         {"failure_probability", c.failure_probability},
         {"method", c.method == CurvatureMethod::dense ? "dense" : "lanczos"},
         {"products", c.products},
         {"in_region", c.in_region}};
  if (c.sosp_level) j["sosp_level"] = to_json_number(*c.sosp_level);
  if (c.sosp_level_upper) j["sosp_level_upper"] = to_json_number(*c.sosp_level_upper);
  return j;
}

json certificate_json(const Problem& problem, ConstVectorRef x, std::uint64_t seed) {
  return certificate_json(problem, problem.objective(), x, seed);
}

json trace_json(const std::vector<TracePoint>& trace) {
  json rows = json::array();
  for (const TracePoint& p : trace) {
    if (p.status != EvaluationStatus::ok)
      throw RunFailed(fmt::format("trace at t = {}: {}", p.t, to_string(p.status)));
    rows.push_back(
        {p.t,
         to_json_number(p.value),
         to_json_number(p.gradient_norm),
         to_json_number(p.lambda_min),
         to_json_number(p.sosp_level.value_or(std::numeric_limits<double>::quiet_NaN()))});
  }
  return rows;
}

json minimum_json(const Problem& problem, const Objective& objective) {
  const auto of =
      &objective == problem.population.get() ? Landmark::Of::population : Landmark::Of::empirical;
  for (const Landmark& l : problem.landmarks)
    if (l.kind == Landmark::Kind::minimiser && l.of == of)
      return to_json_number(objective.value(l.point));
  return nullptr;
}

}  // namespace dpsosp
