// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/liu_talwar_2025.hpp"

#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {

std::vector<Predicate> liu_talwar_2025_predicates() {
  return joined({liu_talwar_2025_tree_predicates(), liu_talwar_2025_step_predicates(),
                 liu_talwar_2025_escape_predicates(), liu_talwar_2025_rate_predicates(),
                 liu_talwar_2025_run_predicates()});
}

Reproduction liu_talwar_2025_reproduction() {
  return {.texts = liu_talwar_2025_texts(),
          .probes = joined({liu_talwar_2025_step_probes(), liu_talwar_2025_escape_probes(),
                            liu_talwar_2025_probes()}),
          .predicates = liu_talwar_2025_predicates(),
          .exhibits = liu_talwar_2025_exhibits()};
}

}  // namespace dpsosp
