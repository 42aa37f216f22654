// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"

namespace dpsosp {

/// Refuses minimax problems, whose records have no Hessian of the value function, and dimensions
/// beyond `largest_dimension` (dense Hessians). Called from check() and schedule().
void require_second_order(const AlgorithmCard& card, const PublicFacts& facts,
                          Index largest_dimension = StationarityTest::largest_dimension);

/// How gradients and Hessians of the iterates are asked for.
struct SecondOrderQueries {
  Sampling sampling = Sampling::all;
  Index batch = 0;  ///< b; not used with Sampling::all
  double clip = 1.0;
  double hessian_limit = 1.0;
  Index hessian_rank = 0;
  double gradient_noise = 0.0;
  double hessian_noise = 0.0;

  /// \param clipped   what is clipped at G, in words
  /// \param hessians  what has the noise of Hessians, in words
  void add_fields(Fields& fields, std::string_view clipped, std::string_view hessians);
  void check(std::string_view owner, const PublicFacts& facts) const;
  BatchPolicy policy(Index records) const { return batch_policy(sampling, batch, records); }
  /// `gradients` gradients and `hessians` Hessians, each of a batch of its own.
  std::vector<PlannedQuery> plan(Index records, Index gradients, Index hessians) const;
  double rank_or(double d) const {
    return hessian_rank == 0 ? d : static_cast<double>(hessian_rank);
  }
};

/// E‖N(0, s² I_d)‖ ≤ s √d, which tolerances of gradients are compared with.
double gradient_noise_norm(double deviation, double d);
/// Operator norm of GOE(s), off-diagonal deviation s: 2 s √d. \source privacy-accounting notes, 3
double hessian_noise_norm(double deviation, double d);
/// Excess of one end of the spectrum over that with probability ≤ `failure`: 2 s
/// sqrt(ln(1/failure)), because every direction of the space of matrices has deviation √2 s and
/// λ_min is 1-Lipschitz.
double hessian_noise_tail(double deviation, double failure);

/// s of a clipped mean and of a mean Hessian of full batches, at zCDP `rho` for `count` queries.
double gradient_deviation(double G, double n, double rho, double count);
double goe_deviation(double M, double n, double rank, double rho, double count);

/// `target` if it is positive, else `smallest`; says `outside-theory` in the first case below it.
double targeted_alpha(double target, double smallest, Scheduled& scheduled);

}  // namespace dpsosp
