// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/lowy_2024.hpp"

#include "dpsosp/lemmas/lowy_2024.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {

Reproduction lowy_2024_reproduction() {
  return {.texts = lowy_2024_texts(),
          .probes = joined({lowy_2024_lemma_probes(), lowy_2024_probes()}),
          .predicates = joined({lowy_2024_formula_predicates(), lowy_2024_lemma_predicates(),
                                lowy_2024_probe_predicates(), lowy_2024_run_predicates(),
                                lowy_2024_sweep_predicates()}),
          .exhibits = lowy_2024_exhibits()};
}

}  // namespace dpsosp
