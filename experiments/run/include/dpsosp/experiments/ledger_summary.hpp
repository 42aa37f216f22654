// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

class Ledger;

/// Queries of one kind: same scope, query, batch, charged records and event. Fresh batches of one
/// query are one kind, whatever their sizes and noise.
struct LedgerRow {
  std::string scope;
  std::string query;
  std::string batch;       ///< kind of the batches, as to_string writes it
  std::int64_t count = 0;  ///< queries
  std::string event;       ///< "gaussian", …; empty: no finite cost exists
  /// Parameters of the event; for fresh batches that differ, of the event with the largest cost.
  std::map<std::string, double> event_parameters;
  Index records_begin = 0;  ///< charged records: [begin, end)
  Index records_end = 0;
  std::pair<double, double> sensitivity;      ///< least and largest, unit of the query
  std::pair<double, double> deviation;        ///< of the noise, per coordinate
  std::pair<Index, Index> batch_sizes{0, 0};  ///< least and largest; 0: not of a stated size
  bool pure = false;                          ///< charged to the filter's pure account
  double delta_extra = 0;                     ///< as LedgerEntry has it

  bool operator==(const LedgerRow&) const = default;
};

/// The ledger as results have it: its kinds in the order of their first query.
struct LedgerSummary {
  std::vector<LedgerRow> rows;
  std::size_t further = 0;  ///< kinds beyond the limit

  bool operator==(const LedgerSummary&) const = default;
};

LedgerSummary summary_of(const Ledger& ledger, std::size_t limit = 32);

}  // namespace dpsosp
