// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dpsosp::plots {

/// The report's style sheet: light, dark and print.
std::string_view style_sheet();

}  // namespace dpsosp::plots
