// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/preparation.hpp"

namespace dpsosp {

/// How the league's algorithms find their noise: by their schedules, as they do where this was not
/// called, or as the least with which the queries that they plan fit the budget. To be called at
/// the start of a program. \param rule  `schedule` or `calibrated`
void set_league_noise(NoiseRule rule);
NoiseRule league_noise();

}  // namespace dpsosp
