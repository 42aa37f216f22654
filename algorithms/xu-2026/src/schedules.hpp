// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp::xu_2026 {

/// The practical schedule for the population: one pass over disjoint batches.
/// \source xu-2026 notes, 3.3
Scheduled practical_population_schedule(DpRgdaParameters& p,
                                        const PublicFacts& facts,
                                        const PrivacyBudget& budget,
                                        Calibrator calibrator);

/// The sizes of Theorem 2 as printed; the noise is calibrated here.
/// \source xu-2026, Theorem 2; xu-2026 notes, 3.2
Scheduled paper_population_schedule(DpRgdaParameters& p,
                                    const PublicFacts& facts,
                                    const PrivacyBudget& budget,
                                    Calibrator calibrator);

}  // namespace dpsosp::xu_2026
