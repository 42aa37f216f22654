// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/avdiukhin_2024.hpp"

#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {

Reproduction avdiukhin_2024_reproduction() {
  return {
      .texts = avdiukhin_2024_texts(),
      .probes = avdiukhin_2024_probes(),
      .predicates = joined({avdiukhin_2024_lemma_predicates(), avdiukhin_2024_theorem_predicates(),
                            avdiukhin_2024_proof_predicates(), avdiukhin_2024_figure_predicates()}),
      .exhibits = joined({avdiukhin_2024_exhibits(), avdiukhin_2024_figure_exhibits()})};
}

}  // namespace dpsosp
