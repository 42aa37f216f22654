// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

/// Every private algorithm on the same problems with the same guarantee, a board an exhibit.
Reproduction league_reproduction();

}  // namespace dpsosp
