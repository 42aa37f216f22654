// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "dpsosp/experiments/store.hpp"
#include "journal_index.hpp"

namespace dpsosp {

/// The build in columns `first` and on: version, binary, compiler, flags, instruction set.
Build build_from(SQLite::Statement& row, int first);
/// True if any other outcome replaces this one.
bool gives_way(RunStatus status, std::string_view reason);

/// The file of a store, and the rows of its tables. A member that takes a connection expects
/// the one that `translated` and `guarded` hand out.
class Store::Database {
 public:
  Database(const std::filesystem::path& file, Access access);

  const std::filesystem::path& file() const { return file_; }

  /// Result of `action`, with SQLite's errors as one line of ours.
  template <class Action>
  auto translated(const Action& action) -> std::invoke_result_t<Action, SQLite::Database&> {
    try {
      return action(*connection_);
    } catch (const SQLite::Exception& e) {
      fail(e);
    }
  }

  /// The same, one thread at a time.
  template <class Action>
  auto guarded(const Action& action) -> std::invoke_result_t<Action, SQLite::Database&> {
    const std::scoped_lock lock(mutex_);
    return translated(action);
  }

  std::optional<StoredRun> find(SQLite::Database& db, const RunKey& key) const;

  DataFiles data_files(SQLite::Database& db) const;
  static void note(SQLite::Database& db, const DataFiles& files);

  /// Column of a query for the digest, or nothing where the store has none.
  std::string_view digest_column() const { return version_ >= 2 ? "runs.digest" : "''"; }
  /// Columns of a query for provenance, and its digest or nothing.
  std::string_view provenance_columns() const;

  /// Provenance from those columns, `first` and on. \throws InputError if they are not as stored
  Provenance provenance_from(SQLite::Statement& row, int first, const std::string& hash) const;
  /// The run in columns first … first + 3 (status, reason, result, digest).
  StoredRun run_from(SQLite::Statement& row, const RunKey& key, int first) const;
  /// The key that column 1 describes. \throws InputError if its hash is not column 0.
  RunKey key_from(SQLite::Statement& row) const;
  static Build build_of(SQLite::Database& db, const std::string& hash);

  /// A row of the table of runs, in texts.
  struct Texts {
    std::string_view key, description, status;
    std::string reason;
    std::string_view result;
  };

  /// Stores runs, in place of those with the same keys.
  class Inserter {
   public:
    explicit Inserter(SQLite::Database& db);
    void operator()(const Texts& run, const Provenance& p, const std::string& digest);

   private:
    SQLite::Statement row_, origin_;
  };
  static void insert(SQLite::Database& db, const StoredRun& run, const Provenance& p);

  /// The runs of journals that are to be stored; the others count as identical.
  /// \throws InputError where the store has another outcome
  std::vector<JournalIndex::Entry> lacking(SQLite::Database& db, const JournalIndex& index,
                                           MergeReport& report) const;

  [[noreturn]] void damaged(const std::string& hash) const;

 private:
  enum class Content { nothing, ours };

  nlohmann::json parsed(const std::string& text, const std::string& hash) const;
  [[noreturn]] void fail(const SQLite::Exception& e) const;
  [[noreturn]] void foreign(std::string_view what) const;

  /// \throws InputError if the file is neither empty nor a store of this version or an older one.
  Content content();
  void connect(std::string_view how, int flags);
  void open_for_reading();
  void open_for_writing();
  /// Makes an empty file a store; shows in any case that the file can be written.
  void prepare();

  /// Makes a store of an older version one of this version.
  void bring_up(SQLite::Database& db);
  static void add_digests(SQLite::Database& db);
  void add_provenance_digests(SQLite::Database& db) const;
  void relabel(SQLite::Database& db) const;

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> connection_;
  int version_ = 0;
  std::mutex mutex_;
};

}  // namespace dpsosp
