// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/store.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include "database.hpp"
#include "dpsosp/core/errors.hpp"
#include "stored_text.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t runs_a_transaction = 20000;  // of a merge of journals

bool same_outcome(const StoredRun& a, const StoredRun& b) {
  return a.status == b.status && a.reason == b.reason &&
         result_text(a.result) == result_text(b.result);
}

}  // namespace

Store::Store(const fs::path& file, Access access)
    : database_(std::make_unique<Database>(file, access)) {}
Store::~Store() = default;

const fs::path& Store::file() const { return database_->file(); }

std::optional<StoredRun> Store::find(const RunKey& key) const {
  return database_->guarded([&](SQLite::Database& db) { return database_->find(db, key); });
}

std::optional<StoredRun> Store::outcome(const RunKey& key) const {
  return database_->guarded([&](SQLite::Database& db) -> std::optional<StoredRun> {
    SQLite::Statement row(db, "SELECT status = 'finished', reason FROM runs WHERE key = ?");
    row.bind(1, key.hash());
    if (!row.executeStep()) return std::nullopt;
    return StoredRun{
        .key = key,
        .status = row.getColumn(0).getInt() == 1 ? RunStatus::finished : RunStatus::failed,
        .reason = row.getColumn(1),
        .result = nullptr};
  });
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
    SQLite::Statement row(db, fmt::format("SELECT {} FROM provenance WHERE key = ?",
                                          database_->provenance_columns()));
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
                        run.key.hash(), file().string(), run.key.text()));
      return;
    }
    Database::insert(db, run, provenance);
    transaction.commit();
  });
}

void Store::each(const std::function<void(const StoredRun&, const Provenance&)>& visit) const {
  database_->guarded([&](SQLite::Database& db) {
    SQLite::Statement row(
        db, fmt::format("SELECT runs.key, description, status, reason, result, {}, {} "
                        "FROM runs JOIN provenance ON provenance.key = runs.key ORDER BY runs.key",
                        database_->digest_column(), database_->provenance_columns()));
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

std::unordered_map<std::string, double> Store::cpu_seconds() const {
  return database_->guarded([this](SQLite::Database& db) {
    std::unordered_map<std::string, double> seconds;
    SQLite::Statement row(
        db, fmt::format("SELECT key, {} FROM provenance", database_->provenance_columns()));
    while (row.executeStep()) {
      const std::string hash = row.getColumn(0);
      seconds.emplace(hash, database_->provenance_from(row, 1, hash).cpu_seconds);
    }
    return seconds;
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
    SQLite::Statement row(db, fmt::format("SELECT key, {} FROM provenance ORDER BY 2, 3, 4, 5, 6",
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
             dpsosp::provenance_of(row, index.common(entry)), to_hex(entry.outcome));
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
