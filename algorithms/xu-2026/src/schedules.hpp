// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp::xu_2026 {

/// Section 3.3 for the population: one pass over disjoint batches.
Scheduled practical_population_schedule(DpRgdaParameters& p,
                                        const PublicFacts& facts,
                                        const PrivacyBudget& budget,
                                        Calibrator calibrator);

/// Theorem 2, its sizes as printed; noise by our calibration.
Scheduled paper_population_schedule(DpRgdaParameters& p,
                                    const PublicFacts& facts,
                                    const PrivacyBudget& budget,
                                    Calibrator calibrator);

}  // namespace dpsosp::xu_2026
