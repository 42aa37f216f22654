// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// Records' loss differences: against their gradients and the objective, and clamped.
CheckLine check_losses(const Problem& problem, std::uint64_t seed);

/// Records' Hessian products: against their gradients and the objective, symmetric, weighed by a
/// bound that is one.
CheckLine check_record_hessians(const Problem& problem, std::uint64_t seed);

}  // namespace dpsosp
