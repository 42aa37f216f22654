// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

/// What no private algorithm can do, with constants, and the claims of the papers about it.
Reproduction lower_bounds_reproduction();

}  // namespace dpsosp
