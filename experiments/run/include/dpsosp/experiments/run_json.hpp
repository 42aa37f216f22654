// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_result.hpp"

/// Runs as JSON, as stores and the command line have them. What is written is read back as the same
/// value. Numbers that are not finite are as in json_number.hpp.
///
/// Readers throw nlohmann::json::exception or InputError for what is no such value.
namespace dpsosp {

void to_json(nlohmann::json& j, const RunDescription& d);
void from_json(const nlohmann::json& j, RunDescription& d);

void to_json(nlohmann::json& j, const LedgerSummary& ledger);
void from_json(const nlohmann::json& j, LedgerSummary& ledger);

void to_json(nlohmann::json& j, const Certificate& c);
void from_json(const nlohmann::json& j, Certificate& c);

/// The columns of a trace row, which is an array in JSON.
inline constexpr std::array<std::string_view, 5> trace_columns{"t", "value", "gradient_norm",
                                                               "lambda_min", "sosp_level"};
void to_json(nlohmann::json& j, const TraceRow& row);
void from_json(const nlohmann::json& j, TraceRow& row);

void to_json(nlohmann::json& j, const RunResult& result);
void from_json(const nlohmann::json& j, RunResult& result);

void to_json(nlohmann::json& j, const Release& release);

}  // namespace dpsosp
