// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chunked_sum.hpp"

namespace dpsosp {

/// out += Σ clip(v_i) over the batch, where `contribution(i, v)` overwrites v ∈ R^{out.size()} with
/// record i's vector. One scratch vector a chunk.
template <class Contribution>
ClipReport clipped_sum(const BatchView& batch,
                       double limit,
                       VectorRef out,
                       const Contribution& contribution) {
  return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
    Vector v(partial.size());
    ClipReport report;
    for (Index k = first; k < last; ++k) {
      contribution(batch[k], v);
      partial += report.weigh(v.norm(), limit) * v;
    }
    return report;
  });
}

}  // namespace dpsosp
