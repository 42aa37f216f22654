// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/core/members.hpp"
#include "dpsosp/experiments/job.hpp"
#include "dpsosp/experiments/journal.hpp"

/// Runs shared out to processes that need not know of each other. docs/cluster.md has the files.
namespace dpsosp {

/// A run to be computed.
struct PlannedRun {
  Job job;
  double cpu_seconds = 0;  ///< an estimate
};

/// The part of a plan that one process computes.
struct PlanShard {
  std::size_t runs = 0;
  double cpu_seconds = 0;      ///< of all its runs, estimated
  double longest_seconds = 0;  ///< of its longest run
  std::uint64_t offset = 0;    ///< of its first line in runs.jsonl
  std::uint64_t length = 0;    ///< of its lines
  std::string sha256;          ///< of its lines
};
DPSOSP_MEMBERS(PlanShard, runs, cpu_seconds, longest_seconds, offset, length, sha256);

/// Assignment of runs to shards. Written once, and not changed after.
struct Plan {
  int plan = 1;  ///< version of the files
  /// The command whose runs these are: it writes the tables once they are stored.
  std::vector<std::string> words;
  std::vector<std::string> cards;  ///< of the programs among its algorithms, absolute paths
  /// Callers' files of records, absolute paths; the runs have their SHA-256.
  std::optional<std::vector<std::string>> data;
  std::string program_version;
  std::string binary;   ///< SHA-256 of the program that alone may compute it
  int threads = 1;      ///< runs at a time of one task
  bool pilots = false;  ///< one run each of kinds whose cost is unknown; a plan of the rest follows
  std::size_t runs = 0;
  std::vector<PlanShard> shards;
};
DPSOSP_MEMBERS(Plan, plan, words, cards, data, program_version, binary, threads, pilots, runs, shards);

/// The longest runs first, each to the shard with the least work so far. The runs of a shard are
/// in the order in which they came to it.
/// \param shards  ≥ 1; no more are made than there are runs
std::vector<std::vector<PlannedRun>> share_out(std::vector<PlannedRun> runs, std::size_t shards);

/// Writes plan.json and runs.jsonl into a new folder OUT/plans/NNNN.
/// \param plan  its `runs` and `shards` are filled in
/// \return the folder
std::filesystem::path write_plan(const std::filesystem::path& out, Plan plan,
                                 const std::vector<std::vector<PlannedRun>>& shards);

/// \throws InputError if it is damaged or of another version
Plan read_plan(const std::filesystem::path& folder);
bool is_plan(const std::filesystem::path& folder);
/// Folders OUT/plans/NNNN with a plan, in their order.
std::vector<std::filesystem::path> plans_in(const std::filesystem::path& out);

/// \param index  1, …, the number of shards
/// \throws InputError if there is no such shard or its lines are damaged
std::vector<PlannedRun> read_shard(const std::filesystem::path& folder, const Plan& plan,
                                   std::size_t index);

/// SHA-256 of a plan's index, by which its journals know it.
std::string plan_hash(const std::filesystem::path& folder);

/// The folder of the journals of a plan; in a folder of it are those of a hundred shards.
std::filesystem::path journal_folder(const std::filesystem::path& plan);
/// The journals of one shard, by name.
std::vector<std::filesystem::path> journals_of(const std::filesystem::path& plan,
                                               std::size_t shard);

/// The journal of a new attempt at a shard, which knows the runs of earlier ones.
/// \param attempt  as of Journal
std::unique_ptr<Journal> start_attempt(const std::filesystem::path& folder, const Plan& plan,
                                       std::size_t shard, const std::vector<PlannedRun>& runs,
                                       const std::string& attempt, const JournalNotice& notice);

/// \throws InputError where this program is not the one that made the plan
void require_same_program(const std::filesystem::path& folder, const Plan& plan);

}  // namespace dpsosp
