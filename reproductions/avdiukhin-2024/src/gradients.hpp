// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/predicate.hpp"

/// The sweep on the double well, and the bound of Lemma 3.2 against the gradients of a run.
namespace dpsosp::avdiukhin_2024_exhibit {

inline constexpr const char* rate_sweep = "avdiukhin-2024-rate";

struct Gradients {
  double steps;       ///< T
  double longest;     ///< norm of the longest record's gradient that was met
  double nominal;     ///< C that the noise is for
  double lemma_3_2;   ///< C as printed, c = 1, at this n, T and δ
  double violations;  ///< gradients above `nominal`; of clipped runs those that were shortened
  bool clips;
};
/// The gradients that a finished run of the sweep met.
Gradients gradients_met(const FinishedRun& run);

}  // namespace dpsosp::avdiukhin_2024_exhibit
