// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "board.hpp"
#include "dpsosp/plots/table.hpp"
#include "dpsosp/reproductions/league.hpp"

/// Whether a method gets away from a saddle by what it does or by its noise.
namespace dpsosp::league {

/// The runs of the tuned settings without noise, and with noise but no data, where starts are
/// saddles.
std::vector<Job> control_jobs(Scale scale);
std::vector<League::Control> controls(const Runs& runs, Scale scale);
plots::Table controls_table(const Runs& runs, Scale scale);

}  // namespace dpsosp::league
