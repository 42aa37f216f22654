// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/evaluator/trace.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "run_setup.hpp"

// The parts of a result, as run.hpp names them.

namespace dpsosp {

nlohmann::json algorithm_json(const Setup& s, const Outcome& outcome, const Ledger& ledger);
nlohmann::json schedule_json(const Scheduled& scheduled);
nlohmann::json privacy_json(const Curator& curator,
                            const nlohmann::json& description,
                            const Scheduled& scheduled,
                            const ClipLog& log);

/// \throws RunFailed if the certificate could not be computed
nlohmann::json certificate_json(const Problem& problem,
                                const Objective& objective,
                                ConstVectorRef x,
                                std::uint64_t seed);
/// By the problem's own objective.
nlohmann::json certificate_json(const Problem& problem, ConstVectorRef x, std::uint64_t seed);
/// \throws RunFailed if a point of the trace could not be evaluated
nlohmann::json trace_json(const std::vector<TracePoint>& trace);
/// Least value of an objective, where the zoo knows a minimiser; null elsewhere.
nlohmann::json minimum_json(const Problem& problem, const Objective& objective);

std::optional<double> hessian_lipschitz(const PublicFacts& facts);

}  // namespace dpsosp
