// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/run_log.hpp"

namespace dpsosp {

struct RunCounts {
  std::size_t finished = 0;
  std::size_t failed = 0;
};

/// Builds that computed the runs of a store.
struct Origins {
  std::vector<Build> builds;
  std::vector<std::string> processors;
};

struct MergeReport {
  std::size_t added = 0;
  std::size_t identical = 0;  ///< to a run that was there, or stood in an earlier line
  Origins origins;            ///< of all runs that are now in the store
};

/// Cost of a stored run.
struct StoredCost {
  std::string hash;
  double cpu_seconds = 0;
  std::size_t bytes = 0;  ///< of description, result and provenance
};

/// Content of an export.
enum class Detail { results, results_and_provenance };

/// Names of callers' own files, without folders, by SHA-256.
using DataFiles = std::map<std::string, std::set<std::string>>;

/// The results of runs in one SQLite file. A run is in it once, whole (result and provenance)
/// or not at all, whatever moment the program dies at. The file may be used by several threads and
/// several processes at a time. Writes survive the death of the program at once, and a power cut
/// up to the last few runs (WAL, synchronous = NORMAL).
///
/// Every member throws InputError with one line if the file cannot be read or written.
class Store : public RunLog {
 public:
  enum class Access { read_write, read_only };

  /// Opens a store. For writing, a missing file and missing folders are created, and that the
  /// file can be written is checked now, before any work is done.
  /// \throws InputError if the file cannot be opened, belongs to another program, or was written
  ///         by another schema version; such a file is left as it is.
  explicit Store(const std::filesystem::path& file, Access access = Access::read_write);
  ~Store() override;

  const std::filesystem::path& file() const override;

  /// The run with this key, if it is stored.
  std::optional<StoredRun> find(const RunKey& key) const;
  /// The same without its result, which is neither read nor checked for damage.
  std::optional<StoredRun> outcome(const RunKey& key) const;
  std::optional<RunStatus> status(const RunKey& key) const override;
  /// Where its numbers come from, if it is stored.
  std::optional<Provenance> provenance_of(const RunKey& key) const;

  /// Stores a run in one transaction. A failed run is replaced; a finished one is kept.
  /// \throws InputError if the run is already finished and has another outcome: then it is not a
  ///         function of its description.
  void put(const StoredRun& run, const Provenance& provenance) override;

  /// Calls `visit` for every run, ordered by hash. `visit` must not use this store.
  void each(const std::function<void(const StoredRun&, const Provenance&)>& visit) const;
  /// Costs of all runs, ordered by hash. Results are neither read nor checked for damage, so it
  /// costs a small part of each().
  std::vector<StoredCost> costs() const;
  /// Processor time alone, by hash, at less cost still.
  std::unordered_map<std::string, double> cpu_seconds() const;
  RunCounts counts() const;
  /// Every build that computed a stored run.
  std::vector<Build> builds() const;
  /// The same with the processors, at less cost: what is stored of them is not checked for damage.
  Origins origins() const;

  /// Notes by what names callers' own files were known.
  void note_data_files(const DataFiles& files);
  DataFiles data_files() const;

  /// Adds the runs of `other`: all of them, or none if it throws.
  /// \throws InputError naming a run whose outcome differs between the two.
  MergeReport merge(const Store& other);

  /// Adds the runs of journals, after all have been read once: all of them, or none if it throws.
  /// Runs that are there already are left, so an interrupted merge is repeated.
  /// \param notice  is told in a line of what was left out: the torn end of a journal
  /// \throws InputError naming a run with two outcomes, or a journal that is damaged before its end
  MergeReport merge(const std::vector<std::filesystem::path>& journals,
                    const std::function<void(const std::string&)>& notice);

  /// {"application", "schema", "runs": [{"key", "description", "status", "reason", "result"}…]},
  /// a line a run, ordered by hash: the same runs give the same bytes, unless provenance is asked.
  void export_json(std::ostream& out, Detail detail = Detail::results) const;

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

}  // namespace dpsosp
