// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "dpsosp/problems/records.hpp"
#include "simulated_ranges.hpp"

namespace dpsosp {

/// What a curator and all its children share.
struct Curator::Shared {
  Ledger ledger;
  ClipLog* clip_log = nullptr;
  Departures departures;
  SimulatedRanges simulated;
  bool rests_on_assumption = false;  // a release whose exactness nothing enforces
};

/// What a curator has of its own.
struct Curator::Own {
  Own(PublicFacts facts,
      std::string scope,
      RecordRange range,
      FilterRule rule,
      const StreamKey& key);

  const Records* records = nullptr;  // what queries read: the root's, or projected ones
  std::shared_ptr<const Records> projected;

  /// The filter's charge for an event; computed once for a run of equal events.
  double charge_of(const Event& event);
  /// Charges an event that is pure DP, to the pure account where there is room; the account, or
  /// none if it is refused. \throws UnsupportedError if the rule has no account for it
  std::optional<RangeFilter::Account> charge_pure(RecordRange charged,
                                                  const Event& event,
                                                  double delta_extra = 0.0);

  std::shared_ptr<const void> identity = std::make_shared<char>();
  PublicFacts facts;
  std::string scope;
  RecordRange range;  // of the root's records
  FilterRule rule;
  RangeFilter filter;
  StreamKey key;
  Stream noise;
  Stream sampling;
  Stream choice;
  Index fresh_cursor;
  std::uint64_t children = 0;
  Vector work;
  std::optional<std::pair<Event, double>> last_charged;
};

/// A record whose contribution is not finite would show in every release: it counts as zero.
template <class Add>
void Curator::add_finite_one_by_one(const BatchView& view, const Add& add, Vector& sum) const {
  sum.setZero();
  if (own_->records->simulated()) return;
  Vector one(sum.size());
  for (Index k = 0; k < view.size(); ++k) {
    one.setZero();
    add(BatchView(view[k], view[k] + 1), one);
    if (one.allFinite()) sum += one;
  }
}

}  // namespace dpsosp
