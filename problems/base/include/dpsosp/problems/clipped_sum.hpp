// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <span>

#include "dpsosp/trusted/chunked_sum.hpp"
#include "dpsosp/trusted/weigh_repeated.hpp"

namespace dpsosp {

/// out += Σ min(1, limit/u_i) v_i, where `contribution(i, v)` overwrites v with record i's vector
/// and returns u_i, the bound it is weighed by. One scratch vector a chunk.
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

/// out += Σ clip(v_i) over the batch, where `contribution(i, v)` overwrites v ∈ R^{out.size()} with
/// record i's vector.
template <class Contribution>
ClipReport clipped_sum(const BatchView& batch,
                       double limit,
                       VectorRef out,
                       const Contribution& contribution) {
  return weighed_sum(batch, limit, out, [&](Index i, Vector& v) {
    contribution(i, v);
    return v.norm();
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

/// Records that are alike in what a sum depends on.
struct CountedValue {
  double value;
  Index count;
};

/// out_k += Σ_i clamp(differences(z_i)_k, ±limit·|values_k − centre|) over records of value z_i,
/// `differences(z)` from the loss at `centre` to that at each value. Exact for simulated records
/// too.
template <class Differences>
ClipReport clamped_coordinate_sum(std::span<const CountedValue> records,
                                  ConstVectorRef values,
                                  double centre,
                                  double limit,
                                  VectorRef out,
                                  const Differences& differences) {
  ClipReport report;
  for (const auto& [z, count] : records) {
    if (count == 0) continue;
    const Vector of_record = differences(z);
    for (Index k = 0; k < values.size(); ++k) {
      const double move = std::abs(values[k] - centre), c = of_record[k];
      if (move == 0) continue;
      out[k] += weigh_repeated(report, std::abs(c) / move, limit, count) * c;
    }
  }
  return report;
}

}  // namespace dpsosp
