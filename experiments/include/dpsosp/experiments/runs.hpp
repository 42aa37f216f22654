// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/store.hpp"

namespace dpsosp {

/// Stored runs, by description. Refers to the vector that it was made of.
class Runs {
 public:
  explicit Runs(const std::vector<StoredRun>& runs);
  /// \throws InputError if the run is not among them.
  const StoredRun& at(const nlohmann::json& description) const;

 private:
  std::map<std::string, const StoredRun*> by_hash_;
};

}  // namespace dpsosp
