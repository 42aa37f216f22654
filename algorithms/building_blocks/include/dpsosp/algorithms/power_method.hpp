// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// A power method on M I − ∇²F(x) whose products are queries. Records' Hessians are weighed to M,
/// so that the matrix is positive semidefinite whatever the records are.
struct PowerMethod {
  Index products = 20;  ///< k ≥ 1; the last one is for the Rayleigh quotient alone
  double gain = 0.0;    ///< γ₀ of Oja's steps v ← v + (γ₀/t)(M v − y); 0: v ← M v − y
  double hessian_limit = 1.0;  ///< M, per record, operator norm
  double noise = 0.0;          ///< std of a product over its sensitivity
};

/// Result of a power method.
struct LeastEigenpair {
  double value;  ///< ⟨v, y⟩ of the last product: vᵀ∇²F v plus N(0, s²), never below λ_min on the
                 ///< mean
  Vector direction;  ///< v, a unit vector
  Index products;    ///< queries that were answered
};

/// The lowest eigenpair of ∇²F(x), from a uniform direction drawn from `stream`.
/// \param policy  of the batch that each product is of. \throws Refused, InputError
/// \source avdiukhin-2024, Section 3.4; avdiukhin-2024 notes, 2.2; Oja and Karhunen (1985)
LeastEigenpair noisy_power_method(Curator& curator, const BatchPolicy& policy, ConstVectorRef x,
                                  const PowerMethod& method, Stream& stream);

/// Products after which, without noise, the Rayleigh quotient is within `error` of λ_min with
/// probability 1 − failure, one for the quotient itself included: the relative error of
/// λ_max(M I − H) ≤ 2M is error/(2M). \param error  in (0, 2M)
/// \source avdiukhin-2024 notes, 2.2 (Kuczyński and Woźniakowski 1992)
double power_products(double hessian_limit, double error, double dimension, double failure);

}  // namespace dpsosp
