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
  const Records* records = nullptr;
  Ledger ledger;
  ClipLog* clip_log = nullptr;
  Departures departures;
  SimulatedRanges simulated;
};

/// A Gaussian query on its way through the door.
struct Curator::Question {
  const char* name;
  const Batch& batch;
  GaussianPlan plan;
  /// The true sensitivity where a batch may be a single record.
  double lone_sensitivity;
  double isotropic = 1.0;     ///< deviation in every direction over that of the plan; √2 of GOE
  bool clipped_mean = false;  ///< a departure clips the mean of this query, not each record
  bool still = false;         ///< the answer is zero whatever the records are
  bool reads = true;          ///< the records are looked at
};

/// What a curator has of its own.
struct Curator::Own {
  Own(PublicFacts facts,
      std::string scope,
      RecordRange range,
      FilterRule rule,
      const StreamKey& key);

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
  Vector rest;  // of queries that read twice
  std::optional<std::pair<Event, double>> last_charged;
};

}  // namespace dpsosp
