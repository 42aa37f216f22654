// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::xu_2026_exhibit {

/// Final values: published beside ours, points that need no algorithm, epsilon = infinity, noise
/// only.
plots::Table main_table(const Runs& runs, const Study& study);
/// Label, noise, queries, guarantee and what was spent.
plots::Table privacy_table(const Runs& runs, const Study& study);
/// The whole data set exchanged.
plots::Table swap_table(const Runs& runs, const Study& study);
/// Two ratios that a Gaussian point has whatever its scale.
plots::Table fingerprint_table(const Runs& runs, const Study& study);

}  // namespace dpsosp::xu_2026_exhibit
