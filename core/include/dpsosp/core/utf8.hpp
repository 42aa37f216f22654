// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace dpsosp {

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
std::size_t utf8_character(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace dpsosp
