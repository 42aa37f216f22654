// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "dpsosp/experiments/sweep.hpp"

/// What several claims of lowy-2024 ask of runs.
namespace dpsosp {

inline constexpr std::string_view no_better_than_start = "the promise is no better than the start";

/// Whether the promise says more than the start, so that a run below it shows something.
bool says_something(const nlohmann::json& result, std::string_view metric, double promise);

/// Every run of these built-in sweeps.
std::vector<nlohmann::json> sweep_jobs(const std::vector<std::string_view>& names, Scale scale);

}  // namespace dpsosp
