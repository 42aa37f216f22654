// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// Measurements of lemmas: what no private run shows by itself. A probe is a job like a run:
/// described, computed once, stored.
namespace dpsosp {

struct ProbeEntry {
  std::string name;         ///< "liu-talwar-2025/tree-noise"
  int numbers_version = 1;  ///< raised by every change that moves a number
  /// A pure function of parameters and seed; numbers that may not be finite as to_json_number
  /// writes them. \throws RunFailed if it ends without numbers
  nlohmann::json (*compute)(const nlohmann::json& parameters, std::uint64_t seed);
};

/// Every probe, one line each.
const std::vector<ProbeEntry>& probe_registry();

/// The description of a probe: {"probe", "parameters", "seed", "numbers_version"}.
/// \throws InputError for an unknown name
nlohmann::json describe_probe(std::string_view name,
                              nlohmann::json parameters,
                              std::uint64_t seed = 0);

/// Computes what describe() or describe_probe() described.
nlohmann::json compute_job(const nlohmann::json& description);

}  // namespace dpsosp
