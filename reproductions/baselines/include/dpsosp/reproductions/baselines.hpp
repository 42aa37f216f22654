// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

Reproduction baselines_reproduction();

}  // namespace dpsosp
