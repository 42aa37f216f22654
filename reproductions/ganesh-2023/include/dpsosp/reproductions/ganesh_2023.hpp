// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

Reproduction ganesh_2023_reproduction();

}  // namespace dpsosp
