// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// The most records that an instance can have: of the caller's own table its rows.
Index most_records(const ProblemFamily& family);

/// The properties of check_problem that are not constants.
std::vector<CheckLine> check_contract(const FamilyFactory& family, const CheckOptions& options);

}  // namespace dpsosp
