// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/run_result.hpp"

namespace dpsosp {

/// One number of a run's result by its name:
///   output.X, start.X, population.output.X, population.start.X
///     with X = sosp_level, gradient_norm, lambda_min, value, or excess_risk = value − min F;
///   best.sosp_level                the lowest among the recorded iterates; not released
///   trace.mean_gradient_norm       over the recorded iterates: the mean over a uniform output
///   trace.mean_excess_risk         the same of value − min F
///   trace.median_sosp_level        over the recorded iterates
///   trace.fraction_solved          share of the recorded iterates with sosp_level at most solved
///   α schedule.alpha                 solved accuracy; absent where none is promised
///   estimate.median, estimate.largest   error ‖g_t − ∇F(x_t)‖ of the method's own estimate
///   steps, records_used, evaluations    the last: per-record vectors summed
///   clipped                        share of the contributions that were clipped
///   privacy.spent                  ε that the ledger adds up to
///   counts.NAME, parameters.NAME   of the algorithm
/// \return the number; none where the run has no such number or it is not finite
/// \throws InputError for a name that is none of these
std::optional<double> metric_of(const RunResult& result, std::string_view name);

/// \throws InputError for an unknown name, with the nearest
void check_metric(std::string_view name);

/// The metric's value at the initial point, where the metric is of a point or of points: what a
/// result must be better than.
std::optional<double> start_metric(const RunResult& result, std::string_view name);

/// True if the metric is of a point or of points, and less of it is better.
bool less_is_better(std::string_view name);

/// For axes and table headings: "sosp_level of the output".
std::string metric_label(std::string_view name);

}  // namespace dpsosp
