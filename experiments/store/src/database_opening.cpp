// SPDX-License-Identifier: Apache-2.0
// How the file of a store is opened, and brought up from older versions.
#include <chrono>
#include <system_error>
#include <thread>

#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "database.hpp"
#include "dpsosp/core/errors.hpp"
#include "stored_text.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

constexpr int application_id = 0x64707370;  // "dpsp"; makes file(1) and us know the format
// 1 had no digests, 2 none of provenance and no CPU seconds, 3 other labels of runs on simulated
// records; all are read, and brought up by writing
constexpr int schema_version = 4;
constexpr int busy_milliseconds =
    60000;  // longer than another process needs to merge a large store

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

/// Message of SQLite, and a remedy.
std::string reason_of(const SQLite::Exception& e) {
  std::string reason = e.what();
  const int code = e.getExtendedErrorCode();
  if (code == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE)
    reason +=
        "; it cannot grow: is the disk full, or a quota used up? The runs stored before are "
        "kept, and the same command goes on from there";
  if (e.getErrorCode() == SQLITE_CORRUPT) reason += "; take an earlier copy, or start a new store";
  return reason;
}

}  // namespace

Store::Database::Database(const fs::path& file, Access access) : file_(file) {
  if (access == Access::read_write)
    open_for_writing();
  else
    open_for_reading();
}

void Store::Database::fail(const SQLite::Exception& e) const {
  if (e.getErrorCode() == SQLITE_NOTADB) foreign("not an SQLite file");
  throw InputError(fmt::format("store: {}: {}", file_.string(), reason_of(e)));
}

void Store::Database::foreign(std::string_view what) const {
  throw InputError(fmt::format("store: {} is not a store of dpsosp ({}); name another file",
                               file_.string(), what));
}

Store::Database::Content Store::Database::content() {
  SQLite::Database& db = *connection_;
  // One snapshot for all three: between two reads another process may make the file a store.
  std::optional<SQLite::Transaction> snapshot;
  if (sqlite3_get_autocommit(db.getHandle()) != 0) snapshot.emplace(db);
  const int id = db.execAndGet("PRAGMA application_id");
  const int version = db.execAndGet("PRAGMA user_version");
  if (id == 0 && version == 0 && db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
    return Content::nothing;
  if (id != application_id) foreign("an SQLite file of another program");
  if (version < 1 || version > schema_version)
    throw InputError(
        fmt::format("store: {} has version {}, this program writes version {}; use the program "
                    "that wrote it, or start a new store",
                    file_.string(), version, schema_version));
  version_ = version;
  return Content::ours;
}

void Store::Database::connect(std::string_view how, int flags) {
  connection_ = std::make_unique<SQLite::Database>(uri_of(file_, how), flags | SQLite::OPEN_URI,
                                                   busy_milliseconds);
}

void Store::Database::open_for_writing() {
  std::error_code error;
  if (file_.has_parent_path()) fs::create_directories(file_.parent_path(), error);
  if (error)
    throw InputError(fmt::format("store: cannot make the folder {}: {}",
                                 file_.parent_path().string(), error.message()));
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

void Store::Database::prepare() {
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

void Store::Database::bring_up(SQLite::Database& db) {
  if (version_ == schema_version) return;
  if (version_ < 2) add_digests(db);
  if (version_ < 3) add_provenance_digests(db);
  relabel(db);
  db.exec(data_files_schema);
  db.exec(fmt::format("PRAGMA user_version = {}", schema_version));
  version_ = schema_version;
}

void Store::Database::relabel(SQLite::Database& db) const {
  SQLite::Statement row(db,
                        "SELECT key, description, status, reason, result, digest FROM runs "
                        "WHERE description LIKE '%whole%' OR description LIKE '%stream%'");
  SQLite::Statement update(db, "UPDATE runs SET result = ?, digest = ? WHERE key = ?");
  while (row.executeStep()) {
    const std::string key = row.getColumn(0), status = row.getColumn(2), reason = row.getColumn(3),
                      before = row.getColumn(4);
    if (row.getColumn(5).getString() != outcome_digest(key, status, reason, before)) damaged(key);
    const std::string result = relabelled(row.getColumn(1).getString(), before);
    if (result == before) continue;
    SQLite::bind(update, result, outcome_digest(key, status, reason, result), key);
    update.exec();
    update.reset();
  }
}

void Store::Database::add_provenance_digests(SQLite::Database& db) const {
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

void Store::Database::add_digests(SQLite::Database& db) {
  db.exec("ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT ''");
  SQLite::Statement row(db, "SELECT key, status, reason, result FROM runs");
  SQLite::Statement update(db, "UPDATE runs SET digest = ? WHERE key = ?");
  while (row.executeStep()) {
    const std::string key = row.getColumn(0);
    SQLite::bind(update,
                 outcome_digest(key, row.getColumn(1).getString(), row.getColumn(2).getString(),
                                row.getColumn(3).getString()),
                 key);
    update.exec();
    update.reset();
  }
}

void Store::Database::open_for_reading() {
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

}  // namespace dpsosp
