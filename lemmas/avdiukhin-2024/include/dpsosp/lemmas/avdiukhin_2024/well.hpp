// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/claims/judging.hpp"

/// The double well of avdiukhin-2024's claims and exhibits, and what they share.
namespace dpsosp::avdiukhin_2024_exhibit {

/// The problem's numbers L, f_max and σ, as the arms of the sweep get them.
avdiukhin_2024::Numbers well_numbers(double records, double dimension);
/// 1/ρ: sosp_level of the saddle.
double saddle_level();
/// 2√(L f_max) + σ_∞.
double first_bound();

/// Cells of the probe `avdiukhin-2024/given-noise`: α = 0.2, d = 2 with B = 1 and d = 10 with
/// B = 10, c_η = 1 and, for the first factor, 1/128.
std::vector<JobCell> given_noise_cells(const Study& study, std::string_view law,
                                       const std::vector<double>& noise_factors);
/// Shares of α-SOSPs in them; `done` is false where a run is missing.
struct GivenNoise {
  bool done = true;
  int runs = 0, kept = 0;               ///< kept: at least half
  double least = 1.0, longest = 1e300;  ///< share; least over runs of the longest own gradient
  double most_steep = 0.0;              ///< largest share of gradients of α or more
};
GivenNoise given_noise_met(const Evidence& e);

/// Least δ with which two laws are (ε, δ)-close, of a pair that is (ε, δ)-close after moving mass
/// `failure` in each: the worst such pair.
double extremal_delta(double epsilon, double delta, double failure);
/// The same for laws that agree with the (ε, δ)-close pair on a common set of outputs, whose
/// complement has probability `failure` under either: δ + failure at most, and this pair's. On that
/// set P is P′ and Q is Q′, so no e^ε is lost.
double visible_event_delta(double epsilon, double delta, double failure);

}  // namespace dpsosp::avdiukhin_2024_exhibit
