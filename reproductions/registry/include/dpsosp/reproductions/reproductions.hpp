// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

/// Everything that this program reproduces: a line a paper in reproductions.cpp.
const Collection& reproductions();

}  // namespace dpsosp
