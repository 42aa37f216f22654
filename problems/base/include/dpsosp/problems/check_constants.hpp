// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/core/public_facts.hpp"

namespace dpsosp {

/// Refuses settings at which a proved constant is not a positive finite number in double precision.
/// A `suboptimality` of 0 is allowed.
void check_constants(std::string_view problem, const Constants& constants);

}  // namespace dpsosp
