// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp::xu_2026 {

/// Lipschitz constant of what a difference asks for: ∇f in (x, y), or with a local dual ∇Φ_i, which
/// moves with y_i*(x) too. \param c  facts.constants
inline double difference_smoothness(const DpRgdaParameters& p, const Constants& c) {
  const double joint = c[constant::joint_smoothness];
  return p.dual_release == DualRelease::local ? std::max(joint, c[constant::smoothness]) : joint;
}

/// Increments of a step with K = 1, or with the least K that `selection` allows.
inline Index least_inner_steps(const DpRgdaParameters& p) {
  return p.selection == Selection::argmin_after_start ? 2 : 1;
}
inline double increments_per_step(const DpRgdaParameters& p) {
  if (p.dual_release == DualRelease::local) return 1.0;
  const bool beyond = p.selection == Selection::argmin_of_proof;
  return static_cast<double>(least_inner_steps(p) + (beyond ? 1 : 0));
}

/// The practical schedule for the population: one pass over disjoint batches.
/// \source xu-2026 notes, 3.3
Scheduled practical_population_schedule(DpRgdaParameters& p, const PublicFacts& facts,
                                        const PrivacyBudget& budget, Calibrator calibrator);

/// The sizes of Theorem 2 as printed; the noise is calibrated here.
/// \source xu-2026, Theorem 2; xu-2026 notes, 3.2
Scheduled paper_population_schedule(DpRgdaParameters& p, const PublicFacts& facts,
                                    const PrivacyBudget& budget, Calibrator calibrator);

}  // namespace dpsosp::xu_2026
