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
template <>
struct Words<Scale> {
  static constexpr std::string_view kind = "scale";
  static constexpr WordList<Scale, 3> list{
      {{Scale::smoke, "smoke"}, {Scale::quick, "quick"}, {Scale::full, "full"}}};
};
inline std::string_view to_string(Scale scale) { return word_of(scale); }

}  // namespace dpsosp
