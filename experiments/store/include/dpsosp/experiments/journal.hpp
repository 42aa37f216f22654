// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dpsosp/core/members.hpp"
#include "dpsosp/experiments/run_log.hpp"

/// Journals: files of JSON Lines to which the processes of a shard append what they have computed,
/// on any file system and without locks. docs/cluster.md describes the lines.
namespace dpsosp {

/// The attempt at a shard that a journal is of.
struct JournalHeader {
  std::string plan;        ///< SHA-256 of the plan; empty where there is none
  std::size_t shard = 1;   ///< 1, …, shards
  std::size_t shards = 1;  ///< of the plan
  std::size_t runs = 0;    ///< of the shard
  std::size_t found = 0;   ///< runs of the shard that earlier journals hold
};
DPSOSP_MEMBERS(JournalHeader, plan, shard, shards, runs, found);

/// How far an attempt is.
struct JournalState {
  JournalHeader header;
  std::size_t done = 0;     ///< runs in this journal
  std::size_t failed = 0;   ///< of these
  double cpu_seconds = 0;   ///< that they took
  double left_seconds = 0;  ///< an estimate for the other runs of the shard
};

/// One run of a journal, in texts that live as long as the call that hands it out.
struct JournalRow {
  std::string_view key;
  std::string_view status;       ///< a word of RunStatus
  std::string_view reason;       ///< in JSON, with its quotes
  std::string_view origin;       ///< in JSON: where and when, but for what the header says
  std::string_view description;  ///< the text of the run's key
  std::string_view result;       ///< in JSON
  std::uint64_t offset = 0;      ///< of the line in the file
  std::size_t length = 0;        ///< of the line with its end
};

/// Receiver of one-line notices about a journal.
using JournalNotice = std::function<void(const std::string&)>;

/// A file of its own for one attempt, so that two copies of a shard cannot harm each other.
class Journal : public RunLog {
 public:
  /// Runs that earlier attempts have computed, by hash.
  using Known = std::unordered_map<std::string, RunStatus>;
  /// CPU seconds that runs are expected to take, by hash.
  using Seconds = std::unordered_map<std::string, double>;

  /// Starts a new file in the folder, which is made if need be.
  /// \param attempt  part of the file's name, for people: letters, digits, '-', '_' and '.'
  Journal(const std::filesystem::path& folder, const JournalHeader& header,
          const std::string& attempt, Known known = {}, Seconds seconds = {});
  ~Journal() override;

  const std::filesystem::path& file() const override { return file_; }
  /// Runs in this journal.
  std::size_t done() const;
  std::optional<RunStatus> status(const RunKey& key) const override;
  /// Appends a line. It is on the disk, and visible from other machines, before a quarter of a CPU
  /// second of later runs is lost with it.
  /// \throws InputError if it cannot be written; the lines before it stay whole
  void put(const StoredRun& run, const Provenance& provenance) override;

 private:
  void append(const std::string& line);
  void synchronise();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  double unsynchronised_ = 0;  // CPU seconds of the lines that are not yet on the disk
  bool broken_ = false;
  std::string origin_;  // build and processor that the last header says
  JournalState state_;
  Known known_;
  Seconds seconds_;
  mutable std::mutex mutex_;
};

/// Reads a journal through, or several that were appended to one another.
/// The end that a dying machine has left torn, without the end of its line or with zeros in it, is
/// left out, with a notice. Ends of lines may have become CR LF.
/// \param header  called at every header, with the line's provenance of all runs after it
/// \throws InputError naming the file and the first other line that is not what was written
void read_journal(const std::filesystem::path& file,
                  const std::function<void(const JournalHeader&, const Provenance&)>& header,
                  const std::function<void(const JournalRow&)>& row, const JournalNotice& notice);

/// The run of one line of a journal, as read_journal has given its place.
/// \param bytes  is filled with the line that the result refers to
/// \throws InputError if it is no longer what it was
JournalRow read_journal_row(int descriptor, const std::filesystem::path& file, std::uint64_t offset,
                            std::size_t length, std::string& bytes);

/// The reason as text, and the provenance of a row whose header says `common`.
std::string reason_of(const JournalRow& row);
Provenance provenance_of(const JournalRow& row, const Provenance& common);

/// By the first and the last whole line alone; none while there is no whole header.
/// \throws InputError if the file cannot be read
std::optional<JournalState> journal_state(const std::filesystem::path& file);

/// The journals of shards in a folder and the folders of it, by name; none if there is no folder.
/// \throws InputError
std::vector<std::filesystem::path> journals_in(const std::filesystem::path& folder);
/// The shard that the name of a journal begins with; 0 where it begins with none.
std::size_t shard_of_journal(const std::filesystem::path& file);
/// True if the file is named as journals are.
bool is_journal(const std::filesystem::path& file);

}  // namespace dpsosp
