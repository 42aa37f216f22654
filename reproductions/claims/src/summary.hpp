// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// Every claim and every rate; its jobs are those of all sweeps and predicates.
ExhibitEntry claims_exhibit(const std::shared_ptr<const ClaimSet>& claims);

}  // namespace dpsosp
