// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/claims.hpp"

/// Claims of lowy-2024 that formulas decide: no run. Apart from the rest, since the algorithms'
/// headers and those of sweeps name different things Point.
namespace dpsosp::lowy_2024_claims {

Verdict holds_if(bool condition);
/// Least-squares slope of log y on log x, of numbers without noise.
double exact_slope(const std::vector<double>& x, const std::vector<double>& y);
/// lowy_2024::population_excess
double population_psi(double log_net,
                      double inverse_temperature,
                      double net_error,
                      double L,
                      double D,
                      double n1,
                      double failure);

Finding introduction_glm();
Finding c15();
Finding c1_period();
Finding c3_tail_printed();
Finding c6_batch();
Finding section_6_example();
Finding corollary_e4();
Finding c9_privacy();

}  // namespace dpsosp::lowy_2024_claims
