// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/store.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/plots/table.hpp"

namespace dpsosp {

/// Names of the built-in sweeps that ask for a slope against a claimed exponent.
std::vector<std::string> rate_sweeps(const Study& study);

/// Algorithm × axis: claimed, measured, interval, verdict, over all rate sweeps.
plots::Table rates_table(const Runs& runs, const Study& study);

/// CSV: sweep, part, arm, cell, runs, median and total seconds of the stored runs of rate sweeps.
std::string rate_timings(const Store& store, const Study& study);

}  // namespace dpsosp
