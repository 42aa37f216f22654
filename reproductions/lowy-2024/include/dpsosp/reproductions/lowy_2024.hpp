// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

Reproduction lowy_2024_reproduction();

}  // namespace dpsosp
