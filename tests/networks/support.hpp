// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "../core/scratch_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"

namespace dpsosp::networks {

/// The one line of the InputError that `action` throws.
std::string refusal(const auto& action) {
  try {
    action();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace dpsosp::networks
