// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/job.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/store.hpp"

namespace dpsosp {

/// Those of these jobs that are stored, in their order.
std::vector<StoredRun> runs_in(const Store& store, const std::vector<Job>& jobs);
/// Appends those of these jobs that are stored and not among the runs yet. Results of probes come
/// with them, those of runs stay in the store.
void add_stored(const Store& store, const std::vector<Job>& jobs, std::vector<StoredRun>& runs);
/// All of them. \throws InputError if one is not stored; `command` computes it
std::vector<StoredRun> stored_runs(const Store& store, const std::vector<Job>& jobs,
                                   std::string_view command);

/// Stored runs, by job. Refers to the vector that it was made of, and to the store, from which
/// results are read that are not in the vector.
class Runs {
 public:
  explicit Runs(const std::vector<StoredRun>& runs);
  Runs(const std::vector<StoredRun>& runs, const Store& store);
  bool contains(const Job& job) const;
  /// \throws InputError if the run is not among them.
  const StoredRun& at(const Job& job) const;
  /// The result of one of these runs that finished; null if it failed. Read once, not from several
  /// threads. \throws InputError if what is stored is no result of compute_run
  const RunResult* result(const StoredRun& run) const;
  const RunResult* result(const Job& job) const;

 private:
  struct Entry {
    const StoredRun* run;
    mutable std::optional<RunResult> result{};
  };
  const Entry& entry(std::string_view hash) const;
  const RunResult* result(const Entry& entry) const;

  std::unordered_map<std::string_view, Entry> by_hash_;
  const Store* store_ = nullptr;
};

}  // namespace dpsosp
