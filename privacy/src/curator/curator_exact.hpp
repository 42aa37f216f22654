// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator_state.hpp"
#include "lattice.hpp"

namespace dpsosp::door {

template <class Read>
void Curator::answer_exactly(double standard_deviation, VectorRef out, const Read& read) {
  if (standard_deviation == 0) {  // of a query with limit 0
    out.setZero();
    return;
  }
  LatticeVector sum(standard_deviation, out.size());
  read(sum);
  shared_->audit_exact({.deviation = standard_deviation, .path = own_->key.path}, sum);
  sum.add_noise(*shared_->words);
  sum.write(out);
  shared_->audit_noisy(out);
}

}  // namespace dpsosp::door
