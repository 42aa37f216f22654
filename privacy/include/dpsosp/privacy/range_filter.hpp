// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "dpsosp/privacy/accounting/filter.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// A privacy filter per record, kept for ranges of records with the same history. If charges and
/// ranges depend on released values alone, the run costs each record at most the capacity.
/// \source privacy-accounting, section 10: per-index public ledger.
class RangeFilter {
 public:
  RangeFilter(RecordRange range, double capacity);

  struct Charge {
    RecordRange range;
    double amount;
  };
  /// Adds every charge, or leaves everything as it was and returns false if one does not fit.
  bool try_charge(const std::vector<Charge>& charges);

  /// Smallest remainder over the records of the range.
  double remaining() const;

 private:
  void split(Index at);
  void merge(Index at);

  Index end_;
  std::map<Index, PrivacyFilter> segments_;  // by first record
};

}  // namespace dpsosp
