// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/plan_status.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

void add_attempt(ShardStatus& shard, const JournalState& state) {
  shard.done = std::min(shard.runs, state.done);
  shard.failed += state.failed;
  shard.cpu_seconds += state.cpu_seconds;
  shard.left_seconds = std::min(shard.left_seconds, state.left_seconds);
}

/// Counts the runs of several attempts one by one: two copies may have computed the same.
void count_each(ShardStatus& shard, const std::vector<fs::path>& journals) {
  std::unordered_map<std::string, bool> failed;
  std::size_t lines = 0;
  for (const fs::path& file : journals)
    read_journal(file, {},
                 [&](const JournalRow& row) {
                   failed.insert_or_assign(std::string(row.key),
                                           row.status == to_string(RunStatus::failed));
                   ++lines;
                 },
                 {});
  shard.done = std::min(shard.runs, failed.size());
  shard.failed = static_cast<std::size_t>(
      std::ranges::count_if(failed, [](const auto& run) { return run.second; }));
  shard.repeated = lines - failed.size();
}

/// \throws InputError if a journal was written for another plan
void require_own(const fs::path& journal, const JournalState& state, const std::string& plan) {
  if (state.header.plan != plan)
    throw InputError(fmt::format(
        "{} is a journal of another plan than that of its folder; move it away", journal.string()));
}

}  // namespace

PlanStatus plan_status(const fs::path& folder, const Plan& plan) {
  PlanStatus status;
  const std::string own = plan_hash(folder);
  std::vector<std::vector<fs::path>> journals(plan.shards.size());
  for (fs::path& file : journals_in(journal_folder(folder)))
    if (const std::size_t shard = shard_of_journal(file); shard >= 1 && shard <= journals.size())
      journals[shard - 1].push_back(std::move(file));
  for (std::size_t k = 0; k < journals.size(); ++k) {
    ShardStatus shard{.attempts = journals[k].size(),
                      .runs = plan.shards[k].runs,
                      .left_seconds = plan.shards[k].cpu_seconds};
    for (const fs::path& file : journals[k])
      if (const auto state = journal_state(file)) {
        require_own(file, *state, own);
        add_attempt(shard, *state);
      }
    if (journals[k].size() > 1) count_each(shard, journals[k]);
    if (shard.done == shard.runs) shard.left_seconds = 0;
    status.all.attempts += shard.attempts;
    status.all.runs += shard.runs;
    status.all.done += shard.done;
    status.all.failed += shard.failed;
    status.all.repeated += shard.repeated;
    status.all.cpu_seconds += shard.cpu_seconds;
    status.all.left_seconds += shard.left_seconds;
    status.shards.push_back(shard);
  }
  return status;
}

void require_complete(const fs::path& folder, const PlanStatus& status) {
  for (std::size_t k = 0; k < status.shards.size(); ++k)
    if (const ShardStatus& shard = status.shards[k]; shard.done < shard.runs)
      throw InputError(
          fmt::format("merge: {}: shard {} of {} lacks {} of its {} runs, and all shards {} of {}; "
                      "--partial takes those that are there",
                      folder.string(), k + 1, status.shards.size(), shard.runs - shard.done,
                      shard.runs, status.all.runs - status.all.done, status.all.runs));
}

}  // namespace dpsosp
