// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "dpsosp/privacy/accounting/accountant.hpp"

namespace dpsosp {

/// The events of a run whose noise is scaled by z; less noise (smaller z) must never cost less.
using EventFamily = std::function<std::vector<CountedEvent>(double noise_multiplier)>;

/// Smallest z with epsilon_of(events(z)) <= epsilon, to relative width 1e-14 (a tenth of
/// options.tolerance where pld decides); the end that meets the target. \throws InputError if
/// epsilon <= 0, or no z up to 1e15 meets it.
double smallest_noise_multiplier(const EventFamily& events, Adjacency adjacency, double epsilon,
                                 double delta, const AccountOptions& options = {});

}  // namespace dpsosp
