// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// Every claim and every rate; its jobs are those of all sweeps and predicates.
ExhibitEntry claims_exhibit(const std::shared_ptr<const ClaimSet>& claims);

/// Claims by verdict and rates, which the exhibit of all claims holds, on the report's first page;
/// what the rate sweeps took in timings.csv.
void summarise(plots::Report& report,
               const Store& store,
               const Study& study,
               const std::filesystem::path& out);

}  // namespace dpsosp
