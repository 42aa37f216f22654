// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

[[noreturn]] inline void refuse(const char* what) {
  throw InputError(std::string("records: this problem answers no ") + what);
}

[[noreturn]] inline void refuse_projection() {
  throw InputError(
      "records: this problem's features cannot be projected; choose a generalised linear model "
      "without regulariser");
}

}  // namespace dpsosp
