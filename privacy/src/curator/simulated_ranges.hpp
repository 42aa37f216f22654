// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// Which simulated records were drawn in which cuts. Their sums have an exact joint law over
/// disjoint batches and over one batch asked again; a batch that overlaps an earlier one without
/// being equal to it would contradict it.
class SimulatedRanges {
 public:
  /// Admits a batch of `all` records of a curator, or a `fresh` one. `owner` is the identity of the
  /// curator, whose own fresh batches never overlap. \throws InputError
  void admit(const BatchPolicy& policy, RecordRange range,
             const std::shared_ptr<const void>& owner);

 private:
  struct Use {
    RecordRange hull;
    std::shared_ptr<const void> owner;  // of fresh batches; null for `all`
  };
  std::vector<Use> uses_;  // one a whole range, one a curator with fresh batches
};

}  // namespace dpsosp
