// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

class SimulatedSums;

/// The sound curator of sums without records: filter, ledger and noise as on records, and batches
/// `all` and `fresh`. Its label is always `simulated`, since there is nobody whose privacy it could
/// keep.
class SimulatedCurator final : public Curator {
 public:
  /// As of Curator, with the sums in place of records.
  SimulatedCurator(const PublicFacts& facts, const SimulatedSums& sums, const FilterRule& rule,
                   StreamKey key, ClipLog* clip_log = nullptr);
};

}  // namespace dpsosp
