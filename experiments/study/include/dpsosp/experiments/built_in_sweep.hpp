// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dpsosp {

/// The text of a sweep that is part of the program.
struct BuiltInSweep {
  std::string_view name;
  std::string_view toml;
};

}  // namespace dpsosp
