// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dpsosp/evaluator/trace.hpp"
#include "dpsosp/experiments/run_result.hpp"
#include "dpsosp/privacy/ledger.hpp"
#include "run_setup.hpp"

// The parts of a result, from what a run left behind.

namespace dpsosp {

AlgorithmResult algorithm_result(const Setup& s, const Outcome& outcome, const Ledger& ledger);
ScheduleResult schedule_result(const Scheduled& scheduled);

/// \throws RunFailed if the certificate could not be computed
Certificate certificate_of(const Problem& problem, const Objective& objective, ConstVectorRef x,
                           std::uint64_t seed);
/// \throws RunFailed if a point of the trace could not be evaluated
std::vector<TraceRow> trace_rows(const std::vector<TracePoint>& trace);
/// Least value of an objective, where the zoo knows a minimiser.
std::optional<double> minimum_of(const Problem& problem, const Objective& objective);

std::optional<double> hessian_lipschitz(const PublicFacts& facts);

}  // namespace dpsosp
