// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/avdiukhin_2024.hpp"

#include "dpsosp/lemmas/avdiukhin_2024.hpp"
#include "dpsosp/reproductions/training.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {

Reproduction avdiukhin_2024_reproduction() {
  using avdiukhin_2024_figures::Training;
  const ProbeEntry training{.name = std::string(Training::probe.name),
                            .numbers_version = Training::probe.numbers_version};
  return {
      .texts = avdiukhin_2024_texts(),
      .probes = joined({avdiukhin_2024_lemma_probes(), {training}}),
      .predicates = joined({avdiukhin_2024_lemma_predicates(), avdiukhin_2024_theorem_predicates(),
                            avdiukhin_2024_proof_predicates(), avdiukhin_2024_run_predicates(),
                            avdiukhin_2024_figure_predicates()}),
      .exhibits = joined({avdiukhin_2024_exhibits(), avdiukhin_2024_figure_exhibits()})};
}

}  // namespace dpsosp
