// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// One or more equal private queries, in the order they were made.
struct LedgerEntry {
  std::string scope;  ///< path of the curator that answered, "/" at the root
  std::string query;  ///< name in the catalogue (privacy-accounting notes, 15)
  BatchPolicy policy;
  std::optional<Event> event;  ///< what is charged, under replace-one; none: no finite cost exists
  RecordRange charged;         ///< to which records
  double sensitivity_low = 0.0;  ///< smallest and largest of the merged queries, unit of the query
  double sensitivity_high = 0.0;
  double deviation_low = 0.0;  ///< standard deviation of the noise, per coordinate
  double deviation_high = 0.0;
  std::int64_t count = 1;    ///< queries that each charged record pays for
  bool pure = false;         ///< charged to the filter's pure account
  double delta_extra = 0.0;  ///< probability p that the release is not as `event` has it (total
                             ///< variation); of each query, adds (1 + e^ε) p to δ
  std::int64_t batches = 1;  ///< adjacent disjoint batches whose union is `charged`

  std::int64_t queries() const { return multiply_counts(count, batches); }
};

/// The list of every private query made. Adjacency: replace-one, every entry.
///
/// Scopes compose by the record ranges they charge: what falls on the same record adds
/// (sequential), what falls on disjoint ranges does not (parallel); the total is that of the
/// most charged record. \source privacy-accounting notes, 2
class Ledger {
 public:
  /// Adds an entry; merges it into the last one if they differ in scale alone.
  void append(LedgerEntry entry);

  const std::vector<LedgerEntry>& entries() const& { return entries_; }
  /// The entries of a ledger that is about to go, as `curator.ledger()` is.
  std::vector<LedgerEntry> entries() && { return std::move(entries_); }
  /// Number of queries, merged ones counted.
  std::int64_t queries() const;

  /// ε at δ of everything listed: the most charged record by the tightest accountant that applies
  /// to it
  /// (`basic`: epsilons of pure releases, and the rest by the best of the others);
  /// 0 for an empty ledger, infinity where an entry has no finite cost. A guarantee only if every
  /// charge was fixed in advance; otherwise the filter's budget is the guarantee and this is what
  /// was spent.
  Guarantee spent(double delta, const AccountOptions& options = {}) const;

 private:
  struct Charged {
    CountedEvent counted;
    bool pure;
  };
  struct History {
    std::vector<Charged> events;
    double delta_extra = 0.0;
  };
  /// The distinct multisets of events that some record was charged with.
  std::vector<History> record_histories() const;
  static Guarantee epsilon_of_history(const History& history, double delta,
                                      const AccountOptions& options);

  std::vector<LedgerEntry> entries_;
};

}  // namespace dpsosp
