// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

class SimulatedSums;

/// Named departures from the sound curator.
struct Departures {
  bool no_filter = false;         ///< never refuses
  bool no_noise = false;          ///< epsilon = infinity
  bool no_data = false;           ///< every record contributes zero
  bool no_clipping = false;       ///< limits are ignored
  bool clip_batch_mean = false;   ///< the mean is clipped, not each record
  bool realised_divisor = false;  ///< Poisson sums are divided by the realised size
  bool resample_empty = false;    ///< empty Poisson batches are drawn anew
};

/// A curator for reruns of published recipes, reference lines and controls: the same interface, no
/// filter, named departures. The ledger shows an upper bound of the cost where one is defined, and
/// every result carries a label: none without noise or without data, conditional without clipping,
/// else violated. Built by exhibits, tests and reference lines alone.
class UnsoundCurator final : public Curator {
 public:
  using Departures = dpsosp::Departures;

  UnsoundCurator(const PublicFacts& facts, const AnyRecords& records, StreamKey key,
                 const Departures& departures, ClipLog* clip_log = nullptr);
  UnsoundCurator(const PublicFacts& facts, const SimulatedSums& sums, StreamKey key,
                 const Departures& departures, ClipLog* clip_log = nullptr);
};

}  // namespace dpsosp
