// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

Reproduction xu_2026_reproduction();

}  // namespace dpsosp
