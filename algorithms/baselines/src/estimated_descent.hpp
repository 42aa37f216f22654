// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/scheduling.hpp"

namespace dpsosp::baselines {

/// v, the estimate of ∇F(x_{t−1}), becomes that of ∇F(x_t); at t = 0 v is zero and `previous` is x.
using Estimate = std::function<void(Index t, const Vector& x, const Vector& previous, Vector& v)>;
/// x becomes x_{t+1}, v is the estimate of ∇F(x_t).
using EstimateStep = std::function<void(const Vector& v, Vector& x)>;

/// An estimate and a step along it, `steps` times. A query that is refused ends the run.
Outcome estimated_descent(Curator& curator, Stream& stream, Observer& observer, Index steps,
                          OutputRule rule, const Estimate& estimate, const EstimateStep& step);

}  // namespace dpsosp::baselines
