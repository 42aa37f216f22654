// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dpsosp {

/// Whether the numbers of an evaluation are valid. They are for `ok` alone; otherwise they are NaN
/// and the status is printed in their place.
enum class EvaluationStatus {
  ok,
  non_finite_point,     ///< x has an infinite or NaN entry
  non_finite_value,     ///< F(x)
  non_finite_gradient,  ///< ∇F(x)
  non_finite_hessian,   ///< a product ∇²F(x) v with finite v
  asymmetric_hessian,   ///< the products are those of no symmetric matrix: the objective is wrong
};
std::string_view to_string(EvaluationStatus status);

}  // namespace dpsosp
