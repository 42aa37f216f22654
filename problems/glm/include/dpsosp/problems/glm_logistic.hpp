// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/glm_family.hpp"

namespace dpsosp {

/// f(w; x, y) = ln(1 + e^t) − y t + λ Σ_j w_j²/(1 + w_j²), t = ⟨w, x⟩, ‖x‖ ≤ 1, y ∈ {0, 1}:
/// logistic regression with a bounded regulariser, which is not convex. \source Wang, Chen and Xu
/// (2019), Differentially private empirical risk minimization with non-convex loss functions; Tran
/// and Cutkosky (2022).
class GlmLogistic final : public GlmFamily {
 public:
  GlmLogistic();

  std::string_view name() const override { return "glm-logistic"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  double regulariser = 0.1;
  double flips = 0.0;

 protected:
  Fields model_fields() override;
  Model model() const override;
};

}  // namespace dpsosp
