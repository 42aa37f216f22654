// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/glm_family.hpp"

namespace dpsosp {

/// f(w; x, y) = ½(s(⟨w, x⟩) − y)², s(t) = 1/(1 + e^{−t}), ‖x‖ ≤ 1, y ∈ [0, 1].
///
/// Realisable labels y = s(⟨w*, x⟩) make F quasar-convex with a single minimiser and F* = 0, though
/// not convex; labels 0 and 1 with P(y = 1) = s(⟨w*, x⟩) keep w* as the population's minimiser.
/// \source lowy-2024 notes, 6 (Z3).
class GlmSigmoid final : public GlmFamily {
 public:
  std::string_view name() const override { return "glm-sigmoid"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  enum class Labels { realisable, binary };
  friend constexpr auto words_of(Labels) {
    using enum Labels;
    return word_list<Labels>("labels", {{realisable, "realisable"}, {binary, "binary"}});
  }
  Labels labels = Labels::realisable;
  double flips = 0.0;

 protected:
  Fields model_fields() override;
  Model model() const override;
  void add_constants(const Model& law, const PublicFacts& facts,
                     Constants& constants) const override;
};

/// Largest q ≤ 1 with s′(t)(s(t) − s(u))(t − u) ≥ q·½(s(t) − s(u))² for all |t|, |u| ≤ reach.
double sigmoid_quasar_convexity(double reach);

}  // namespace dpsosp
