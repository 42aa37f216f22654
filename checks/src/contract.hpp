// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// The properties of check_problem that are not constants.
std::vector<CheckLine> check_contract(const FamilyFactory& family, const CheckOptions& options);

}  // namespace dpsosp
