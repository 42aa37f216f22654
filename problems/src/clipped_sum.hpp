// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

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

/// out += Σ clamp(c_i, ±limit) over the batch, where `contribution(i)` is record i's number.
template <class Contribution>
ClipReport clamped_sum(const BatchView& batch,
                       double limit,
                       double& out,
                       const Contribution& contribution) {
  Eigen::Map<Vector> sum(&out, 1);
  return chunked_sum(batch.size(), sum, [&](Index first, Index last, VectorRef partial) {
    ClipReport report;
    for (Index k = first; k < last; ++k) {
      const double c = contribution(batch[k]);
      partial[0] += report.weigh(std::abs(c), limit) * c;
    }
    return report;
  });
}

/// out += Σ min(1, limit/u_i) v_i, where `contribution(i, v)` overwrites v with record i's vector
/// and returns u_i, the bound it is weighed by.
template <class Contribution>
ClipReport weighed_sum(const BatchView& batch,
                       double limit,
                       VectorRef out,
                       const Contribution& contribution) {
  return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
    Vector v(partial.size());
    ClipReport report;
    for (Index k = first; k < last; ++k) {
      const double bound = contribution(batch[k], v);
      partial += report.weigh(bound, limit) * v;
    }
    return report;
  });
}

}  // namespace dpsosp
