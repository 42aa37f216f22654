// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_logistic.hpp"

#include <limits>

#include "dpsosp/core/errors.hpp"
#include "glm_labels.hpp"

namespace dpsosp {

GlmLogistic::GlmLogistic() { radius = std::numeric_limits<double>::infinity(); }

std::string_view GlmLogistic::summary() const {
  return "ln(1 + e^t) - y t + lambda sum_j w_j^2/(1 + w_j^2), t = <w,x>; bounded regulariser, "
         "not convex";
}

ProblemNotes GlmLogistic::notes() const {
  return {
      .group = "Generalised linear models",
      .formula =
          "f(w; x, y) = ln(1 + e^t) − yt + λ Σ_j w_j²/(1 + w_j²), t = ⟨w, x⟩; the regulariser is "
          "public and part of every record's loss. x has a law on ‖x‖ ≤ 1 that rotations leave "
          "alone (`features`), y ∈ {0, 1} with P(y = 1) = s(⟨w*, x⟩), exchanged with probability "
          "`flips`. With `support` = K the law is uniform on K such atoms. Population objective: "
          "the atoms' mean, or a quadrature over the plane of w and w*.",
      .source = "Wang, Chen and Xu (2019); Tran and Cutkosky (2022), experiments",
      .critical_points =
          "The loss is convex; the regulariser's curvature is between −λ/2 and 2λ, "
          "so F is not convex where a weight exceeds 1/√3 and the features are "
          "spread over many coordinates. With λ = 0 and `flips` = 0, w* minimises "
          "the population objective. No strict saddle is known."};
}

Fields GlmLogistic::model_fields() {
  return {field("regulariser", regulariser, range::not_negative,
                "lambda of lambda sum_j w_j^2/(1 + w_j^2)"),
          field("flips", flips, range::between(0, 0.5), "probability that a label is exchanged")};
}

GlmFamily::Model GlmLogistic::model() const {
  Model made;
  made.loss = logistic_loss();
  made.regulariser = regulariser;
  made.draw = binary_label(flips);
  made.expected = expected_binary_loss(made.loss, flips);
  made.gap_attained = 0.2992;
  made.extreme_labels = Vector{{0, 1}};
  made.planted_minimises = regulariser == 0 && flips == 0;
  return made;
}

}  // namespace dpsosp
