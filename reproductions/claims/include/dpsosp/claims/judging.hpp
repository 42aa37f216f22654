// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/sweep.hpp"

/// What the predicates of all papers are written with.
namespace dpsosp {

/// Relative error that is taken for rounding where a number is compared with an exact bound.
inline constexpr double rounding = 1e-9;

Verdict holds_if(bool condition);
/// `reason` is why it fails; dropped where it holds.
Finding finding(bool holds, std::string measured, std::string reason = "");
Finding nothing_ran();

/// The finding on a statement that says nothing until `says_something` of n holds. The measured
/// text names the least such n, to two digits.
/// \param trivial  what is larger than what below that n, as "α > G"
/// \throws InputError if there is no such n in 1..1e60
Finding vacuous_below(const std::function<bool(double)>& says_something, std::string_view trivial,
                      std::string_view setting, std::string reason);

/// The least c > 0 with `cost(c) <= budget`, for a cost that falls as c grows: from above, to 1e-5.
/// \param guess  where the search begins; right to a factor of a few, it takes ten costs
/// \throws InputError if no c within a factor of 1e12 of the guess is enough
double least_constant(const std::function<double(double)>& cost, double budget, double guess);

/// Refers to the jobs, which are runs.
std::vector<FinishedRun> finished(const Runs& runs, const std::vector<Job>& jobs);

double mean(const std::vector<double>& v);
/// The standard error of the mean; 0 for fewer than two values.
double standard_error(const std::vector<double>& v);

/// Whether the promise says more than the start, so that a run below it shows something.
bool says_something(const RunResult& result, std::string_view metric, double promise);
inline constexpr std::string_view no_better_than_start = "the promise is no better than the start";

/// From `from` to `to` in equal ratios.
std::vector<double> log_grid(double from, double to, int points);

}  // namespace dpsosp
