// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dpsosp/privacy/accounting/filter.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// A privacy filter per record, kept for ranges of records with the same history. If charges and
/// ranges depend on released values alone, the run costs each record at most the capacity.
/// \source privacy-accounting notes, 10 (per-record public ledger)
class RangeFilter {
 public:
  /// \param pure_capacity  of the account of pure mechanisms, ε
  /// \param delta_extra    of the account of inexact releases, a probability
  RangeFilter(RecordRange range, double capacity, double pure_capacity = 0.0,
              double delta_extra = 0.0);

  struct Charge {
    RecordRange range;
    double amount;  ///< to the account of `capacity`; infinite: it cannot go there
  };
  /// Adds every charge, or leaves everything as it was and returns false if one does not fit.
  /// \throws std::logic_error for records of another filter: whoever read them has not paid
  bool try_charge(const std::vector<Charge>& charges);

  /// A charge to several accounts of a range at once.
  struct Slice {
    RecordRange range;
    double amount = 0.0;
    double pure = 0.0;
    double delta_extra = 0.0;
  };
  bool try_slice(const Slice& slice) { return try_slices({&slice, 1}); }

  enum class Account { zcdp, pure };
  /// Charges a mechanism that is `pure`-DP, or costs `amount` of the other account: the pure
  /// account where it has room for every record of the range, else the other one. None if neither
  /// has.
  std::optional<Account> try_pure(const Charge& charge, double pure, double delta_extra = 0.0);

  /// Smallest remainder over the records of the range.
  double remaining() const;
  double pure_remaining() const;

 private:
  struct Accounts {
    PrivacyFilter zcdp, pure, delta_extra;
    bool operator==(const Accounts&) const = default;
  };
  void expect_own(RecordRange range) const;
  void split(Index at);
  void merge(Index at);
  bool try_slices(std::span<const Slice> slices);

  using Segments = std::map<Index, Accounts>;  // by first record
  struct Tried {
    Tried(Segments::iterator at, const Accounts& copy) : segment(at), accounts(copy) {}
    Segments::iterator segment;
    Accounts accounts;
  };
  Index end_;
  Segments segments_;
  std::vector<Tried> tried_;  // of the last charge; kept for its memory
};

}  // namespace dpsosp
