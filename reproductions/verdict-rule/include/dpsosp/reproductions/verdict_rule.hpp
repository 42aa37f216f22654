// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

/// How often slopes are judged wrongly, by simulation.
Reproduction verdict_rule_reproduction();

}  // namespace dpsosp
