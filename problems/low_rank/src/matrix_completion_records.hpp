// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/matrix_completion.hpp"
#include "low_rank.hpp"

namespace dpsosp {

/// Sizes and weights of a completion problem, and a point seen as (U, V).
struct CompletionShape {
  Index p, q, r;
  double weight, balance;  // w, λ

  Index dimension() const { return (p + q) * r; }
  BalanceTerm balance_term() const { return {p, q, r, balance}; }
  Eigen::Map<const Matrix> left(ConstVectorRef x) const { return {x.data(), p, r}; }
  Eigen::Map<const Matrix> right(ConstVectorRef x) const { return {x.data() + p * r, q, r}; }
};

/// Records X*_ab ± noise that are never held, and under `whole` their objective.
struct SimulatedCompletion {
  std::unique_ptr<const SimulatedSums> sums;
  std::unique_ptr<const Objective> empirical;
};
SimulatedCompletion simulated_completion(const CompletionShape& shape, Matrix planted, double noise,
                                         RecordSampling sampling, const InstanceSpec& spec);

}  // namespace dpsosp
