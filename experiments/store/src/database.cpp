// SPDX-License-Identifier: Apache-2.0
#include "database.hpp"

#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "stored_text.hpp"

namespace dpsosp {
namespace {
using nlohmann::json;
}  // namespace

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

std::optional<StoredRun> Store::Database::find(SQLite::Database& db, const RunKey& key) const {
  SQLite::Statement row(
      db, fmt::format("SELECT description, status, reason, result, {} FROM runs WHERE key = ?",
                      digest_column()));
  row.bind(1, key.hash());
  if (!row.executeStep()) return std::nullopt;
  if (row.getColumn(0).getString() != key.text()) damaged(key.hash());
  return run_from(row, key, 1);
}

DataFiles Store::Database::data_files(SQLite::Database& db) const {
  DataFiles files;
  if (version_ < 4) return files;
  SQLite::Statement row(db, "SELECT sha256, name FROM data_files");
  while (row.executeStep()) files[row.getColumn(0)].insert(row.getColumn(1));
  return files;
}

void Store::Database::note(SQLite::Database& db, const DataFiles& files) {
  SQLite::Statement insert(db, "INSERT OR IGNORE INTO data_files VALUES (?, ?)");
  for (const auto& [sha256, names] : files)
    for (const std::string& name : names) {
      SQLite::bind(insert, sha256, name);
      insert.exec();
      insert.reset();
    }
}

std::string_view Store::Database::provenance_columns() const {
  return version_ >= 3
             ? "program_version, binary, compiler, flags, instruction_set, cpu, numbers_version, "
               "seed, started, wall_seconds, cpu_seconds, provenance.digest"
             : "program_version, binary, compiler, flags, instruction_set, cpu, numbers_version, "
               "seed, started, wall_seconds, wall_seconds, ''";
}

Provenance Store::Database::provenance_from(SQLite::Statement& row, int first,
                                            const std::string& hash) const {
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

StoredRun Store::Database::run_from(SQLite::Statement& row, const RunKey& key, int first) const {
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

RunKey Store::Database::key_from(SQLite::Statement& row) const {
  const std::string hash = row.getColumn(0);
  const json description = parsed(row.getColumn(1), hash);
  if (!description.is_object()) damaged(hash);
  RunKey key(description);
  if (key.hash() != hash) damaged(hash);
  return key;
}

Build Store::Database::build_of(SQLite::Database& db, const std::string& hash) {
  SQLite::Statement row(db,
                        "SELECT program_version, binary, compiler, flags, instruction_set "
                        "FROM provenance WHERE key = ?");
  row.bind(1, hash);
  row.executeStep();
  return build_from(row, 0);
}

Store::Database::Inserter::Inserter(SQLite::Database& db)
    : row_(db, "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)"),
      origin_(db,
              "INSERT OR REPLACE INTO provenance VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
              "?)") {}

void Store::Database::Inserter::operator()(const Texts& run, const Provenance& p,
                                           const std::string& digest) {
  const std::string key(run.key);
  row_.reset();
  SQLite::bind(row_, key, std::string(run.description), std::string(run.status), run.reason,
               std::string(run.result), digest);
  row_.exec();
  origin_.reset();
  SQLite::bind(origin_, key, p.build.program_version, p.build.binary, p.build.compiler,
               p.build.flags, p.build.instruction_set, p.cpu, p.numbers_version, p.seed, p.started,
               p.wall_seconds, p.cpu_seconds, provenance_digest(key, p));
  origin_.exec();
}

void Store::Database::insert(SQLite::Database& db, const StoredRun& run, const Provenance& p) {
  const std::string result = result_text(run.result);
  Inserter row(db);
  row({run.key.hash(), run.key.text(), to_string(run.status), run.reason, result}, p,
      outcome_digest(run.key.hash(), to_string(run.status), run.reason, result));
}

std::vector<JournalIndex::Entry> Store::Database::lacking(SQLite::Database& db,
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
      refuse_contradiction(hash, {status, file_, build_of(db, hash)},
                           {e.status, index.journal(e), index.common(e).build});
    }
  }
  return entries;
}

void Store::Database::damaged(const std::string& hash) const {
  throw InputError(
      fmt::format("store: {} is damaged: run {} is not what was stored; take an earlier copy, "
                  "or let it be computed again: sqlite3 FILE \"DELETE FROM runs WHERE key = "
                  "'{}'\"",
                  file_.string(), hash, hash));
}

json Store::Database::parsed(const std::string& text, const std::string& hash) const {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) damaged(hash);
  return value;
}

}  // namespace dpsosp
