// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/runs.hpp"

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

std::vector<StoredRun> runs_in(const Store& store, const std::vector<nlohmann::json>& jobs) {
  std::vector<StoredRun> runs;
  for (const nlohmann::json& job : jobs)
    if (auto run = store.find(RunKey(job))) runs.push_back(std::move(*run));
  return runs;
}

std::vector<StoredRun> stored_runs(const Store& store,
                                   const std::vector<nlohmann::json>& jobs,
                                   std::string_view command) {
  std::vector<StoredRun> runs = runs_in(store, jobs);
  if (runs.size() < jobs.size())
    throw InputError(fmt::format("{} lacks {} of the {} runs at this scale; {} computes them",
                                 store.file().string(),
                                 jobs.size() - runs.size(),
                                 jobs.size(),
                                 command));
  return runs;
}

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
