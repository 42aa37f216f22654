// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace dpsosp {

/// A pure function of parameters and seed; numbers that may not be finite as to_json_number
/// writes them. \throws RunFailed if it ends without numbers
using ProbeCompute = nlohmann::json (*)(const nlohmann::json& parameters, std::uint64_t seed);

/// A measurement of a lemma: what no private run shows by itself. A probe is a job like a run:
/// described, computed once, stored.
struct ProbeEntry {
  std::string name;                ///< "liu-talwar-2025/tree-noise"
  int numbers_version = 1;         ///< raised by every change that moves a number
  ProbeCompute compute = nullptr;  ///< null: this program is built without the code
};

}  // namespace dpsosp
