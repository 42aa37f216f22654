// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/status.hpp"

namespace dpsosp {

std::string_view to_string(EvaluationStatus status) {
  switch (status) {
    case EvaluationStatus::ok:
      return "ok";
    case EvaluationStatus::non_finite_point:
      return "the point is not finite";
    case EvaluationStatus::non_finite_value:
      return "the value is not finite";
    case EvaluationStatus::non_finite_gradient:
      return "the gradient is not finite";
    case EvaluationStatus::non_finite_hessian:
      return "a Hessian product is not finite";
    case EvaluationStatus::asymmetric_hessian:
      return "the Hessian products are not symmetric";
  }
  return "unknown";
}

}  // namespace dpsosp
