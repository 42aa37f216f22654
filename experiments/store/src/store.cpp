// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "dpsosp/core/errors.hpp"
#include "journal_index.hpp"
#include "stored_text.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int application_id = 0x64707370;  // "dpsp"; makes file(1) and us know the format
// 1 had no digests, 2 none of provenance and no CPU seconds, 3 other labels of runs on simulated
// records; all are read, and brought up by writing
constexpr int schema_version = 4;
constexpr int busy_milliseconds =
    60000;  // longer than another process needs to merge a large store

constexpr std::size_t runs_a_transaction = 20000;  // of a merge of journals

constexpr const char* schema = R"(
  CREATE TABLE runs(
    key TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('finished', 'failed')),
    reason TEXT NOT NULL,
    result TEXT NOT NULL,
    digest TEXT NOT NULL) STRICT;
  CREATE TABLE provenance(
    key TEXT PRIMARY KEY REFERENCES runs(key),
    program_version TEXT NOT NULL,
    binary TEXT NOT NULL,
    compiler TEXT NOT NULL,
    flags TEXT NOT NULL,
    instruction_set TEXT NOT NULL,
    cpu TEXT NOT NULL,
    numbers_version TEXT NOT NULL,
    seed TEXT NOT NULL,
    started TEXT NOT NULL,
    wall_seconds REAL NOT NULL,
    cpu_seconds REAL NOT NULL,
    digest TEXT NOT NULL) STRICT;)";

// By what names callers' own files were known, whose runs say their SHA-256 alone.
constexpr const char* data_files_schema =
    "CREATE TABLE IF NOT EXISTS data_files(sha256 TEXT, name TEXT, PRIMARY KEY (sha256, name)) "
    "STRICT";

/// A URI that opens the file as `how` says, whatever its path is made of.
std::string uri_of(const fs::path& file, std::string_view how) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).lexically_normal().string()) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    else
      uri += c;
  }
  return fmt::format("{}?{}", uri, how);
}

bool same_outcome(const StoredRun& a, const StoredRun& b) {
  return a.status == b.status && a.reason == b.reason &&
         result_text(a.result) == result_text(b.result);
}

/// Whether any other outcome takes the place of this one.
bool gives_way(RunStatus status, std::string_view reason) {
  return status == RunStatus::failed && reason.starts_with(failed_by_exception);
}

Build build_from(SQLite::Statement& row, int first) {
  return {.program_version = row.getColumn(first),
          .binary = row.getColumn(first + 1),
          .compiler = row.getColumn(first + 2),
          .flags = row.getColumn(first + 3),
          .instruction_set = row.getColumn(first + 4)};
}

}  // namespace

class Store::Database {
 public:
  Database(const fs::path& file, Access access) : file_(file) {
    if (access == Access::read_write)
      open_for_writing();
    else
      open_for_reading();
  }

  const fs::path& file() const { return file_; }

  /// What `action` returns, with SQLite's errors as one line of ours.
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

  std::optional<StoredRun> find(SQLite::Database& db, const RunKey& key) const {
    SQLite::Statement row(
        db,
        fmt::format("SELECT description, status, reason, result, {} FROM runs WHERE key = ?",
                    digest_column()));
    row.bind(1, key.hash());
    if (!row.executeStep()) return std::nullopt;
    if (row.getColumn(0).getString() != key.text()) damaged(key.hash());
    return run_from(row, key, 1);
  }

  DataFiles data_files(SQLite::Database& db) const {
    DataFiles files;
    if (version_ < 4) return files;
    SQLite::Statement row(db, "SELECT sha256, name FROM data_files");
    while (row.executeStep()) files[row.getColumn(0)].insert(row.getColumn(1));
    return files;
  }

  static void note(SQLite::Database& db, const DataFiles& files) {
    SQLite::Statement insert(db, "INSERT OR IGNORE INTO data_files VALUES (?, ?)");
    for (const auto& [sha256, names] : files)
      for (const std::string& name : names) {
        SQLite::bind(insert, sha256, name);
        insert.exec();
        insert.reset();
      }
  }

  /// What a query selects: the digest, or nothing where the store has none.
  std::string_view digest_column() const { return version_ >= 2 ? "runs.digest" : "''"; }
  /// What a query selects: the columns of provenance, and its digest or nothing.
  std::string_view provenance_columns() const {
    return version_ >= 3
               ? "program_version, binary, compiler, flags, instruction_set, cpu, numbers_version, "
                 "seed, started, wall_seconds, cpu_seconds, provenance.digest"
               : "program_version, binary, compiler, flags, instruction_set, cpu, numbers_version, "
                 "seed, started, wall_seconds, wall_seconds, ''";
  }

  /// Provenance from those columns, `first` and on. \throws InputError if they are not as stored
  Provenance provenance_from(SQLite::Statement& row, int first, const std::string& hash) const {
    Provenance p{.build = build_from(row, first),
                 .cpu = row.getColumn(first + 5),
                 .numbers_version = row.getColumn(first + 6),
                 .seed = row.getColumn(first + 7),
                 .started = row.getColumn(first + 8),
                 .wall_seconds = row.getColumn(first + 9),
                 .cpu_seconds = row.getColumn(first + 10)};
    if (version_ >= 3 && row.getColumn(first + 11).getString() != provenance_digest(hash, p))
      damaged(hash);
    return p;
  }

  /// The run in columns first … first + 3 (status, reason, result, digest).
  StoredRun run_from(SQLite::Statement& row, const RunKey& key, int first) const {
    const std::string status = row.getColumn(first), reason = row.getColumn(first + 1),
                      result = row.getColumn(first + 2);
    if (version_ >= 2 &&
        row.getColumn(first + 3).getString() != outcome_digest(key.hash(), status, reason, result))
      damaged(key.hash());
    return {.key = key,
            .status = status == "finished" ? RunStatus::finished : RunStatus::failed,
            .reason = reason,
            .result = parsed(version_ >= 4 ? result : relabelled(key.text(), result), key.hash())};
  }

  /// The key that column 1 describes. \throws InputError if its hash is not column 0.
  RunKey key_from(SQLite::Statement& row) const {
    const std::string hash = row.getColumn(0);
    const json description = parsed(row.getColumn(1), hash);
    if (!description.is_object()) damaged(hash);
    RunKey key(description);
    if (key.hash() != hash) damaged(hash);
    return key;
  }

  static Build build_of(SQLite::Database& db, const std::string& hash) {
    SQLite::Statement row(db,
                          "SELECT program_version, binary, compiler, flags, instruction_set "
                          "FROM provenance WHERE key = ?");
    row.bind(1, hash);
    row.executeStep();
    return build_from(row, 0);
  }

  /// A row of the table of runs, in texts.
  struct Texts {
    std::string_view key, description, status;
    std::string reason;
    std::string_view result;
  };

  /// Stores runs, in place of those with the same keys.
  class Inserter {
   public:
    explicit Inserter(SQLite::Database& db)
        : row_(db, "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)"),
          origin_(db,
                  "INSERT OR REPLACE INTO provenance VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                  "?)") {}

    void operator()(const Texts& run, const Provenance& p, const std::string& digest) {
      const std::string key(run.key);
      row_.reset();
      SQLite::bind(row_,
                   key,
                   std::string(run.description),
                   std::string(run.status),
                   run.reason,
                   std::string(run.result),
                   digest);
      row_.exec();
      origin_.reset();
      SQLite::bind(origin_,
                   key,
                   p.build.program_version,
                   p.build.binary,
                   p.build.compiler,
                   p.build.flags,
                   p.build.instruction_set,
                   p.cpu,
                   p.numbers_version,
                   p.seed,
                   p.started,
                   p.wall_seconds,
                   p.cpu_seconds,
                   provenance_digest(key, p));
      origin_.exec();
    }

   private:
    SQLite::Statement row_, origin_;
  };

  static void insert(SQLite::Database& db, const StoredRun& run, const Provenance& p) {
    const std::string result = result_text(run.result);
    Inserter row(db);
    row({run.key.hash(), run.key.text(), to_string(run.status), run.reason, result},
        p,
        outcome_digest(run.key.hash(), to_string(run.status), run.reason, result));
  }

  /// The runs of journals that are to be stored; the others count as identical.
  /// \throws InputError where the store has another outcome
  std::vector<JournalIndex::Entry> lacking(SQLite::Database& db,
                                           const JournalIndex& index,
                                           MergeReport& report) const {
    std::vector<JournalIndex::Entry> entries;
    SQLite::Statement mine(db, "SELECT status, reason, digest FROM runs WHERE key = ?");
    for (const JournalIndex::Entry& e : index.entries()) {
      const std::string hash = to_hex(e.key);
      mine.reset();
      mine.bind(1, hash);
      if (!mine.executeStep()) {
        entries.push_back(e);
        continue;
      }
      const auto status = from_word<RunStatus>(mine.getColumn(0).getString());
      if (mine.getColumn(2).getString() == to_hex(e.outcome) || e.by_exception) {
        ++report.identical;
      } else if (gives_way(status, mine.getColumn(1).getString())) {
        entries.push_back(e);
      } else {
        refuse_contradiction(hash,
                             {status, file_, build_of(db, hash)},
                             {e.status, index.journal(e), index.common(e).build});
      }
    }
    return entries;
  }

  [[noreturn]] void damaged(const std::string& hash) const {
    throw InputError(
        fmt::format("store: {} is damaged: run {} is not what was stored; take an earlier copy, "
                    "or let it be computed again: sqlite3 FILE \"DELETE FROM runs WHERE key = "
                    "'{}'\"",
                    file_.string(),
                    hash,
                    hash));
  }

 private:
  enum class Content { nothing, ours };

  json parsed(const std::string& text, const std::string& hash) const {
    json value = json::parse(text, nullptr, false);
    if (value.is_discarded()) damaged(hash);
    return value;
  }

  [[noreturn]] void fail(const SQLite::Exception& e) const {
    if (e.getErrorCode() == SQLITE_NOTADB) foreign("not an SQLite file");
    throw InputError(fmt::format("store: {}: {}", file_.string(), reason_of(e)));
  }

  /// What SQLite says, and what to do.
  static std::string reason_of(const SQLite::Exception& e) {
    std::string reason = e.what();
    const int code = e.getExtendedErrorCode();
    if (code == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE)
      reason +=
          "; it cannot grow: is the disk full, or a quota used up? The runs stored before are "
          "kept, and the same command goes on from there";
    if (e.getErrorCode() == SQLITE_CORRUPT)
      reason += "; take an earlier copy, or start a new store";
    return reason;
  }

  [[noreturn]] void foreign(std::string_view what) const {
    throw InputError(fmt::format(
        "store: {} is not a store of dpsosp ({}); name another file", file_.string(), what));
  }

  /// \throws InputError if the file is neither empty nor a store of this version or an older one.
  Content content() {
    SQLite::Database& db = *connection_;
    // One snapshot for all three: between two reads another process may make the file a store.
    std::optional<SQLite::Transaction> snapshot;
    if (sqlite3_get_autocommit(db.getHandle()) != 0) snapshot.emplace(db);
    const int id = db.execAndGet("PRAGMA application_id");
    const int version = db.execAndGet("PRAGMA user_version");
    if (id == 0 && version == 0 &&
        db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
      return Content::nothing;
    if (id != application_id) foreign("an SQLite file of another program");
    if (version < 1 || version > schema_version)
      throw InputError(
          fmt::format("store: {} has version {}, this program writes version {}; use the program "
                      "that wrote it, or start a new store",
                      file_.string(),
                      version,
                      schema_version));
    version_ = version;
    return Content::ours;
  }

  void connect(std::string_view how, int flags) {
    connection_ = std::make_unique<SQLite::Database>(
        uri_of(file_, how), flags | SQLite::OPEN_URI, busy_milliseconds);
  }

  void open_for_writing() {
    std::error_code error;
    if (file_.has_parent_path()) fs::create_directories(file_.parent_path(), error);
    if (error)
      throw InputError(fmt::format(
          "store: cannot make the folder {}: {}", file_.parent_path().string(), error.message()));
    // SQLite does not wait for its turn while a file becomes a WAL file, so we do.
    const auto give_up =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_milliseconds);
    for (;;) {
      try {
        connect("mode=rwc", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        prepare();
        return;
      } catch (const SQLite::Exception& e) {
        if (e.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > give_up) fail(e);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

  /// Makes an empty file a store; shows in any case that the file can be written.
  void prepare() {
    // SQLite opens a file that it may not write as a file to read, and even begins to write it.
    if (sqlite3_db_readonly(connection_->getHandle(), "main") != 0)
      throw InputError(
          fmt::format("store: {} cannot be written; name another file, or give this one "
                      "write permission",
                      file_.string()));
    if (content() == Content::nothing) connection_->exec("PRAGMA journal_mode = WAL");
    connection_->exec("PRAGMA synchronous = NORMAL");
    SQLite::Transaction transaction(*connection_, SQLite::TransactionBehavior::IMMEDIATE);
    if (content() == Content::nothing) {
      connection_->exec(schema);
      connection_->exec(data_files_schema);
      connection_->exec(fmt::format("PRAGMA application_id = {}", application_id));
      connection_->exec(fmt::format("PRAGMA user_version = {}", schema_version));
      version_ = schema_version;
    } else {
      bring_up(*connection_);
    }
    transaction.commit();
  }

  /// Makes a store of an older version one of this version.
  void bring_up(SQLite::Database& db) {
    if (version_ == schema_version) return;
    if (version_ < 2) add_digests(db);
    if (version_ < 3) add_provenance_digests(db);
    relabel(db);
    db.exec(data_files_schema);
    db.exec(fmt::format("PRAGMA user_version = {}", schema_version));
    version_ = schema_version;
  }

  void relabel(SQLite::Database& db) const {
    SQLite::Statement row(db,
                          "SELECT key, description, status, reason, result, digest FROM runs "
                          "WHERE description LIKE '%whole%' OR description LIKE '%stream%'");
    SQLite::Statement update(db, "UPDATE runs SET result = ?, digest = ? WHERE key = ?");
    while (row.executeStep()) {
      const std::string key = row.getColumn(0), status = row.getColumn(2),
                        reason = row.getColumn(3), before = row.getColumn(4);
      if (row.getColumn(5).getString() != outcome_digest(key, status, reason, before)) damaged(key);
      const std::string result = relabelled(row.getColumn(1).getString(), before);
      if (result == before) continue;
      SQLite::bind(update, result, outcome_digest(key, status, reason, result), key);
      update.exec();
      update.reset();
    }
  }

  void add_provenance_digests(SQLite::Database& db) const {
    db.exec("ALTER TABLE provenance ADD COLUMN cpu_seconds REAL NOT NULL DEFAULT 0");
    db.exec("ALTER TABLE provenance ADD COLUMN digest TEXT NOT NULL DEFAULT ''");
    SQLite::Statement row(db, fmt::format("SELECT key, {} FROM provenance", provenance_columns()));
    SQLite::Statement update(db, "UPDATE provenance SET cpu_seconds = ?, digest = ? WHERE key = ?");
    while (row.executeStep()) {
      const std::string key = row.getColumn(0);
      const Provenance p = provenance_from(row, 1, key);
      SQLite::bind(update, p.cpu_seconds, provenance_digest(key, p), key);
      update.exec();
      update.reset();
    }
  }

  static void add_digests(SQLite::Database& db) {
    db.exec("ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT ''");
    SQLite::Statement row(db, "SELECT key, status, reason, result FROM runs");
    SQLite::Statement update(db, "UPDATE runs SET digest = ? WHERE key = ?");
    while (row.executeStep()) {
      const std::string key = row.getColumn(0);
      SQLite::bind(update,
                   outcome_digest(key,
                                  row.getColumn(1).getString(),
                                  row.getColumn(2).getString(),
                                  row.getColumn(3).getString()),
                   key);
      update.exec();
      update.reset();
    }
  }

  void open_for_reading() {
    std::error_code error;
    if (!fs::is_regular_file(file_, error))
      throw InputError(fmt::format("store: there is no file {} that can be read", file_.string()));
    try {
      try {
        connect("mode=ro", SQLite::OPEN_READONLY);
        if (content() == Content::ours) return;
      } catch (const SQLite::Exception& e) {
        // WAL needs side files even for reading; where we may not write them, a store that nobody
        // else has open can be read without.
        const bool no_side_files =
            e.getErrorCode() == SQLITE_CANTOPEN || e.getErrorCode() == SQLITE_READONLY;
        if (!no_side_files) throw;
        const std::uintmax_t pending = fs::file_size(file_.string() + "-wal", error);
        if (!error && pending > 0)
          throw InputError(
              fmt::format("store: {0} has runs in {0}-wal, which cannot be taken in where nothing "
                          "may be written; copy both files to a folder of your own",
                          file_.string()));
        connect("immutable=1", SQLite::OPEN_READONLY);
        if (content() == Content::ours) return;
      }
    } catch (const SQLite::Exception& e) {
      fail(e);
    }
    foreign("an empty file");
  }

  fs::path file_;
  std::unique_ptr<SQLite::Database> connection_;
  int version_ = schema_version;
  std::mutex mutex_;
};

Store::Store(const fs::path& file, Access access)
    : database_(std::make_unique<Database>(file, access)) {}
Store::~Store() = default;

const fs::path& Store::file() const { return database_->file(); }

std::optional<StoredRun> Store::find(const RunKey& key) const {
  return database_->guarded([&](SQLite::Database& db) { return database_->find(db, key); });
}

std::optional<RunStatus> Store::status(const RunKey& key) const {
  return database_->guarded([&](SQLite::Database& db) -> std::optional<RunStatus> {
    SQLite::Statement row(db, "SELECT status = 'finished' FROM runs WHERE key = ?");
    row.bind(1, key.hash());
    if (!row.executeStep()) return std::nullopt;
    return row.getColumn(0).getInt() == 1 ? RunStatus::finished : RunStatus::failed;
  });
}

std::optional<Provenance> Store::provenance_of(const RunKey& key) const {
  return database_->guarded([&](SQLite::Database& db) -> std::optional<Provenance> {
    SQLite::Statement row(
        db,
        fmt::format("SELECT {} FROM provenance WHERE key = ?", database_->provenance_columns()));
    row.bind(1, key.hash());
    if (!row.executeStep()) return std::nullopt;
    return database_->provenance_from(row, 0, key.hash());
  });
}

void Store::put(const StoredRun& run, const Provenance& provenance) {
  database_->guarded([&](SQLite::Database& db) {
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    const std::optional<StoredRun> old = database_->find(db, run.key);
    if (old && old->status == RunStatus::finished) {
      if (!same_outcome(*old, run))
        throw InputError(
            fmt::format("store: run {} is already in {} with another outcome; a run must be a "
                        "function of its description {}",
                        run.key.hash(),
                        file().string(),
                        run.key.text()));
      return;
    }
    Database::insert(db, run, provenance);
    transaction.commit();
  });
}

void Store::each(const std::function<void(const StoredRun&, const Provenance&)>& visit) const {
  database_->guarded([&](SQLite::Database& db) {
    SQLite::Statement row(
        db,
        fmt::format("SELECT runs.key, description, status, reason, result, {}, {} "
                    "FROM runs JOIN provenance ON provenance.key = runs.key ORDER BY runs.key",
                    database_->digest_column(),
                    database_->provenance_columns()));
    while (row.executeStep()) {
      const RunKey key = database_->key_from(row);
      visit(database_->run_from(row, key, 2), database_->provenance_from(row, 6, key.hash()));
    }
  });
}

std::vector<StoredCost> Store::costs() const {
  return database_->guarded([this](SQLite::Database& db) {
    std::vector<StoredCost> costs;
    SQLite::Statement row(
        db,
        fmt::format("SELECT runs.key, length(CAST(description || reason || result AS BLOB)), {} "
                    "FROM runs JOIN provenance ON provenance.key = runs.key ORDER BY runs.key",
                    database_->provenance_columns()));
    while (row.executeStep()) {
      const std::string hash = row.getColumn(0);
      const Provenance p = database_->provenance_from(row, 2, hash);
      costs.push_back(
          {.hash = hash,
           .cpu_seconds = p.cpu_seconds,
           .bytes = static_cast<std::size_t>(row.getColumn(1).getInt64()) + json(p).dump().size()});
    }
    return costs;
  });
}

RunCounts Store::counts() const {
  return database_->guarded([](SQLite::Database& db) -> RunCounts {
    SQLite::Statement row(db,
                          "SELECT count(*) FILTER (WHERE status = 'finished'), "
                          "count(*) FILTER (WHERE status = 'failed') FROM runs");
    row.executeStep();
    return {.finished = static_cast<std::size_t>(row.getColumn(0).getInt64()),
            .failed = static_cast<std::size_t>(row.getColumn(1).getInt64())};
  });
}

std::vector<Build> Store::builds() const {
  return database_->guarded([this](SQLite::Database& db) {
    std::vector<Build> found;
    SQLite::Statement row(db,
                          fmt::format("SELECT key, {} FROM provenance ORDER BY 2, 3, 4, 5, 6",
                                      database_->provenance_columns()));
    while (row.executeStep()) {
      const Provenance p = database_->provenance_from(row, 1, row.getColumn(0));
      if (found.empty() || !(found.back() == p.build)) found.push_back(p.build);
    }
    return found;
  });
}

Origins Store::origins() const {
  return database_->guarded([](SQLite::Database& db) {
    Origins found;
    SQLite::Statement row(db,
                          "SELECT DISTINCT program_version, binary, compiler, flags, "
                          "instruction_set, cpu FROM provenance ORDER BY 1, 2, 3, 4, 5, 6");
    while (row.executeStep()) {
      if (Build build = build_from(row, 0); found.builds.empty() || found.builds.back() != build)
        found.builds.push_back(std::move(build));
      if (std::string cpu = row.getColumn(5); !std::ranges::count(found.processors, cpu))
        found.processors.push_back(std::move(cpu));
    }
    return found;
  });
}

void Store::note_data_files(const DataFiles& files) {
  if (files.empty()) return;
  database_->guarded([&](SQLite::Database& db) { Database::note(db, files); });
}

DataFiles Store::data_files() const {
  return database_->guarded([&](SQLite::Database& db) { return database_->data_files(db); });
}

MergeReport Store::merge(const Store& other) {
  std::error_code error;
  if (fs::equivalent(file(), other.file(), error))
    throw InputError(fmt::format("merge: {} is the store to merge into", file().string()));
  MergeReport report;
  database_->guarded([&](SQLite::Database& db) {
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    other.each([&](const StoredRun& run, const Provenance& provenance) {
      database_->translated([&](SQLite::Database&) {  // else the errors would name the other file
        const std::optional<StoredRun> mine = database_->find(db, run.key);
        if (!mine) {
          Database::insert(db, run, provenance);
          ++report.added;
        } else if (same_outcome(*mine, run) || gives_way(run.status, run.reason)) {
          ++report.identical;
        } else if (gives_way(mine->status, mine->reason)) {
          Database::insert(db, run, provenance);
          ++report.added;
        } else {
          refuse_contradiction(run.key.hash(),
                               {mine->status, file(), Database::build_of(db, run.key.hash())},
                               {run.status, other.file(), provenance.build});
        }
      });
    });
    Database::note(db, other.data_files());
    transaction.commit();
  });
  report.origins = origins();
  return report;
}

MergeReport Store::merge(const std::vector<fs::path>& journals,
                         const std::function<void(const std::string&)>& notice) {
  const JournalIndex index(journals, notice);
  MergeReport report;
  report.identical = index.repeated();
  database_->guarded([&](SQLite::Database& db) {
    const std::vector<JournalIndex::Entry> added = database_->lacking(db, index, report);
    Database::Inserter insert(db);
    std::optional<SQLite::Transaction> transaction;
    index.each(added, [&](const JournalIndex::Entry& entry, const JournalRow& row) {
      if (!transaction) transaction.emplace(db, SQLite::TransactionBehavior::IMMEDIATE);
      const std::string result = relabelled(row.description, row.result);
      insert({row.key, row.description, row.status, reason_of(row), result},
             dpsosp::provenance_of(row, index.common(entry)),
             to_hex(entry.outcome));
      if (++report.added % runs_a_transaction != 0) return;
      transaction->commit();
      transaction.reset();
    });
    if (transaction) transaction->commit();
  });
  report.origins = origins();
  return report;
}

}  // namespace dpsosp
