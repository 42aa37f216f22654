// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/ganesh_2023.hpp"

#include "dpsosp/lemmas/ganesh_2023.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {

Reproduction ganesh_2023_reproduction() {
  return {.texts = ganesh_2023_texts(),
          .probes = ganesh_2023_probes(),
          .predicates = joined({ganesh_2023_bound_predicates(), ganesh_2023_formula_predicates(),
                                ganesh_2023_gibbs_predicates(), ganesh_2023_lemma_predicates(),
                                ganesh_2023_statement_predicates(),
                                ganesh_2023_mechanism_predicates(), ganesh_2023_run_predicates()}),
          .exhibits = ganesh_2023_exhibits()};
}

}  // namespace dpsosp
