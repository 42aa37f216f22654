// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/runs.hpp"

#include <unordered_set>
#include <utility>

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

void add_stored(const Store& store, const std::vector<Job>& jobs, std::vector<StoredRun>& runs) {
  std::unordered_set<std::string> known;
  for (const StoredRun& run : runs) known.insert(run.key.hash());
  for (const Job& job : jobs)
    if (known.insert(job.hash()).second)
      if (auto run = job.run() != nullptr ? store.outcome(job.key()) : store.find(job.key()))
        runs.push_back(std::move(*run));
}

std::vector<StoredRun> stored_runs(const Store& store, const std::vector<Job>& jobs,
                                   std::string_view command) {
  std::vector<StoredRun> runs = runs_in(store, jobs);
  if (runs.size() < jobs.size())
    throw InputError(fmt::format("{} lacks {} of the {} runs at this scale; {} computes them",
                                 store.file().string(), jobs.size() - runs.size(), jobs.size(),
                                 command));
  return runs;
}

Runs::Runs(const std::vector<StoredRun>& runs) {
  by_hash_.reserve(runs.size());
  for (const StoredRun& run : runs) by_hash_.emplace(run.key.hash(), Entry{&run});
}

Runs::Runs(const std::vector<StoredRun>& runs, const Store& store) : Runs(runs) { store_ = &store; }

bool Runs::contains(const Job& job) const { return by_hash_.contains(job.hash()); }

const Runs::Entry& Runs::entry(std::string_view hash) const {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end())
    throw InputError("a run that is to be shown is not among those computed");
  return found->second;
}

const StoredRun& Runs::at(const Job& job) const { return *entry(job.hash()).run; }

const RunResult* Runs::result(const Entry& entry) const {
  const StoredRun& run = *entry.run;
  if (run.status != RunStatus::finished) return nullptr;
  if (entry.result) return &*entry.result;
  const auto refuse = [&](const char* what) {
    throw InputError(fmt::format("run {}: what is stored is no result of this program: {}",
                                 run.key.hash(), what));
  };
  try {
    const bool is_here = store_ == nullptr || !run.result.is_null();
    return &entry.result.emplace(
        (is_here ? run : store_->find(run.key).value()).result.get<RunResult>());
  } catch (const nlohmann::json::exception& e) {
    refuse(e.what());
  } catch (const InputError& e) {
    refuse(e.what());
  }
  return nullptr;
}

const RunResult* Runs::result(const StoredRun& run) const { return result(entry(run.key.hash())); }

const RunResult* Runs::result(const Job& job) const { return result(entry(job.hash())); }

}  // namespace dpsosp
