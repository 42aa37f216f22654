// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/runs.hpp"

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

Runs::Runs(const std::vector<StoredRun>& runs) {
  for (const StoredRun& run : runs) by_hash_.emplace(run.key.hash(), &run);
}

const StoredRun& Runs::at(const nlohmann::json& description) const {
  const auto found = by_hash_.find(RunKey(description).hash());
  if (found == by_hash_.end())
    throw InputError("a run that is to be shown is not among those computed");
  return *found->second;
}

}  // namespace dpsosp
