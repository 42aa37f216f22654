// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/runs.hpp"

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run_json.hpp"

namespace dpsosp {

std::vector<StoredRun> runs_in(const Store& store, const std::vector<Job>& jobs) {
  std::vector<StoredRun> runs;
  for (const Job& job : jobs)
    if (auto run = store.find(job.key())) runs.push_back(std::move(*run));
  return runs;
}

std::vector<StoredRun> stored_runs(const Store& store,
                                   const std::vector<Job>& jobs,
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

bool Runs::contains(const Job& job) const { return by_hash_.contains(job.hash()); }

const StoredRun& Runs::at(const Job& job) const {
  const auto found = by_hash_.find(job.hash());
  if (found == by_hash_.end())
    throw InputError("a run that is to be shown is not among those computed");
  return *found->second;
}

const RunResult* Runs::result(const StoredRun& run) const {
  if (run.status != RunStatus::finished) return nullptr;
  const auto known = results_.find(&run);
  if (known != results_.end()) return &known->second;
  const auto refuse = [&](const char* what) {
    throw InputError(fmt::format(
        "run {}: what is stored is no result of this program: {}", run.key.hash(), what));
  };
  try {
    return &results_.emplace(&run, run.result.get<RunResult>()).first->second;
  } catch (const nlohmann::json::exception& e) {
    refuse(e.what());
  } catch (const InputError& e) {
    refuse(e.what());
  }
  return nullptr;
}

const RunResult* Runs::result(const Job& job) const { return result(at(job)); }

}  // namespace dpsosp
