// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/experiments/claims.hpp"

namespace dpsosp {

/// The runs of ganesh-2023-stochastic-spider that are about Theorem 4.2: parts n, d and epsilon.
std::vector<nlohmann::json> spider_empirical_jobs(Scale scale);

// What they show of the lemmas; each is the `find` of a predicate.
Finding spider_estimator_error(const Runs& runs, Scale scale);
Finding spider_benign_escape(const Runs& runs, Scale scale);
Finding spider_refresh_count(const Runs& runs, Scale scale);
Finding spider_budget_kept(const Runs& runs, Scale scale);
Finding spider_selection_cost(const Runs& runs, Scale scale);

/// The runs of ganesh-2023-excess-risk on the population risk, and what they show of its bound.
std::vector<nlohmann::json> population_risk_jobs(Scale scale);
Finding population_risk(const Runs& runs, Scale scale);

/// Public facts of the problem that a description of a run names.
PublicFacts facts_of(const nlohmann::json& description);
/// Laplace scale of a question of the scalar selection on n records at unit constants.
double selection_scale(double n, double epsilon);
/// The exponent of y in x by least squares of logarithms.
double power(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace dpsosp
