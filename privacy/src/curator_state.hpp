// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "simulated_ranges.hpp"

namespace dpsosp {

/// What a curator and all its children share.
struct Curator::Shared {
  Ledger ledger;
  ClipLog* clip_log = nullptr;
  Departures departures;
  SimulatedRanges simulated;
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

  std::shared_ptr<const void> identity = std::make_shared<char>();
  PublicFacts facts;
  std::string scope;
  RecordRange range;  // of the root's records
  FilterRule rule;
  RangeFilter filter;
  StreamKey key;
  Stream noise;
  Stream sampling;
  Index fresh_cursor;
  std::uint64_t children = 0;
  Vector work;
  std::optional<std::pair<Event, double>> last_charged;
};

}  // namespace dpsosp
