// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/xu_2026.hpp"

#include "dpsosp/lemmas/xu_2026.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {

Reproduction xu_2026_reproduction() {
  return {.texts = xu_2026_texts(),
          .predicates = joined({xu_2026_lemma_predicates(), xu_2026_privacy_predicates(),
                                xu_2026_weak_risk_predicates(), xu_2026_theorem_predicates(),
                                xu_2026_experiment_predicates()}),
          .exhibits = xu_2026_exhibits()};
}

}  // namespace dpsosp
