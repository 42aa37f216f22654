// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/run_log.hpp"

namespace dpsosp {

/// The text of a result, as stores and journals keep it. Equal results have the same text.
std::string result_text(const nlohmann::json& result);

/// The text of a result that an earlier version stored, which said `enforced` of runs on simulated
/// records too, with the label of this one.
std::string relabelled(std::string_view description, std::string_view result);

/// Digest that reveals damage of a run's outcome; the key is a digest of the rest.
std::string outcome_digest(std::string_view key, std::string_view status, std::string_view reason,
                           std::string_view result);

/// The same of a run's provenance.
std::string provenance_digest(std::string_view key, const Provenance& p);

/// How a run ended, where that stands, and what computed it.
struct Ending {
  RunStatus status;
  std::filesystem::path file;
  Build build;
};

/// Throws the InputError of a merge that meets two outcomes of a run.
[[noreturn]] void refuse_contradiction(const std::string& hash, const Ending& one,
                                       const Ending& other);

}  // namespace dpsosp
