// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "estimated_descent.hpp"

namespace dpsosp::baselines {

/// v_0 is a noisy gradient; v_{t+1} = (1 − γ)v_t + a noisy combination of γ∇F(w_{t+1}) and
/// (1 − γ)(∇F(w_{t+1}) − ∇F(w_t)), one query.
struct RecursiveMomentum {
  Index steps;
  BatchPolicy policy;
  double momentum;     ///< γ
  double clip;         ///< C₁
  double first_noise;  ///< std / sensitivity
  double noise;        ///< std / sensitivity
  OutputRule output;
  /// C₂ after the move w_{t+1} − w_t.
  std::function<double(const Vector& move)> difference_limit;
};

/// Steps 1 to 6. Step 5 of one round is asked for at the beginning of the next one, so that the
/// last estimate, which no step uses, costs nothing. \source baselines notes, 7
Outcome recursive_momentum(Curator& curator, Stream& stream, Observer& observer,
                           const RecursiveMomentum& p, const EstimateStep& step);

}  // namespace dpsosp::baselines
