// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "dpsosp/privacy/batch.hpp"

namespace dpsosp::door {

/// What `dpsosp::Batch` is a handle of.
struct Batch {
  BatchPolicy policy;
  BatchUse use = BatchUse::one_query;
  std::shared_ptr<const void> drawn_by;  ///< identity of the curator
  RecordRange range;                     ///< for public batches: the members
  std::vector<Index> members;            ///< for secret batches
  mutable bool answered = false;

  bool secret() const {
    return policy.kind == BatchPolicy::Kind::sample || policy.kind == BatchPolicy::Kind::poisson;
  }
};

}  // namespace dpsosp::door
