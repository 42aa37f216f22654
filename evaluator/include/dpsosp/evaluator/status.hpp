// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// Validity of the numbers of an evaluation: valid for `ok` alone; otherwise they are NaN
/// and the status is printed instead.
enum class EvaluationStatus {
  ok,
  non_finite_point,     ///< x has an infinite or NaN entry
  non_finite_value,     ///< F(x)
  non_finite_gradient,  ///< ∇F(x)
  non_finite_hessian,   ///< a product ∇²F(x) v with finite v
  asymmetric_hessian,   ///< the products are those of no symmetric matrix: the objective is wrong
};
constexpr auto words_of(EvaluationStatus) {
  using enum EvaluationStatus;
  return word_list<EvaluationStatus>(
      "evaluation status", {{ok, "ok"},
                            {non_finite_point, "the point is not finite"},
                            {non_finite_value, "the value is not finite"},
                            {non_finite_gradient, "the gradient is not finite"},
                            {non_finite_hessian, "a Hessian product is not finite"},
                            {asymmetric_hessian, "the Hessian products are not symmetric"}});
}
inline std::string_view to_string(EvaluationStatus status) { return word_of(status); }

}  // namespace dpsosp
