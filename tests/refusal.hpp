// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

/// The line of the exception that `action` throws; empty if it throws none.
template <class Error = InputError, class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace dpsosp
