// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dpsosp {

/// How much is computed.
enum class Scale {
  smoke,  ///< seconds: every path once, numbers without meaning
  quick,  ///< minutes on two cores: the numbers of the report
  full,   ///< every axis, range, seed and control
};
/// \throws InputError for an unknown word
Scale scale_of(const std::string& text);
std::string_view to_string(Scale scale);

}  // namespace dpsosp
