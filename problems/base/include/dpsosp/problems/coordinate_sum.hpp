// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <span>

#include "dpsosp/trusted/clip.hpp"

namespace dpsosp {

/// Records that are alike in what a sum depends on.
struct CountedValue {
  double value;
  Index count;
};

/// out_k += Σ_i clamp(differences(z_i)_k, ±limit·|values_k − centre|) over records of value z_i,
/// `differences(z)` from the loss at `centre` to that at each value: of simulated records, exactly.
template <class Differences>
ClipReport clamped_coordinate_sum(std::span<const CountedValue> records, ConstVectorRef values,
                                  double centre, double limit, VectorRef out,
                                  const Differences& differences) {
  ClipReport report;
  for (const auto& [z, count] : records) {
    if (count == 0) continue;
    const Vector of_record = differences(z);
    for (Index k = 0; k < values.size(); ++k) {
      const double move = std::abs(values[k] - centre), c = of_record[k];
      if (move == 0) continue;
      out[k] += clip_weight(report, std::abs(c) / move, limit, count) * c;
    }
  }
  return report;
}

}  // namespace dpsosp
