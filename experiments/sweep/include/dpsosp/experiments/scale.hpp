// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// How much is computed.
enum class Scale {
  smoke,  ///< seconds: every path once, numbers without meaning
  quick,  ///< minutes on two cores: the numbers of the report
  full,   ///< every axis, range, seed and control
};
constexpr auto words_of(Scale) {
  using enum Scale;
  return word_list<Scale>("scale", {{smoke, "smoke"}, {quick, "quick"}, {full, "full"}});
}
inline std::string_view to_string(Scale scale) { return word_of(scale); }

}  // namespace dpsosp
