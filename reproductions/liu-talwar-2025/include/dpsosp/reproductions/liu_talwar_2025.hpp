// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

Reproduction liu_talwar_2025_reproduction();

}  // namespace dpsosp
