// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// A curator for reruns of published recipes, reference lines and controls: the same interface, no
/// filter, named departures. The ledger shows the true cost where one is defined, and every result
/// carries a label: none without noise or without data, conditional without clipping, else
/// violated. Built by exhibits, tests and reference lines alone.
class UnsoundCurator final : public Curator {
 public:
  using Departures = Curator::Departures;

  UnsoundCurator(const PublicFacts& facts,
                 const Records& records,
                 StreamKey key,
                 const Departures& departures,
                 ClipLog* clip_log = nullptr);
};

}  // namespace dpsosp
