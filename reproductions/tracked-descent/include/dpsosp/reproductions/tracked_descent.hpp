// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

/// The method of this suite: its rates, and what each of its parts contributes.
Reproduction tracked_descent_reproduction();

}  // namespace dpsosp
