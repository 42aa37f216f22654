// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace dpsosp {

/// Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
std::size_t utf8_character(std::string_view text);

bool is_utf8(std::string_view text);

/// True if a UTF-8 character cannot be seen, but for the blank of ASCII: U+00A0, U+200B to U+200F,
/// U+2028, U+2029, U+2060, U+FEFF.
bool is_invisible(std::string_view character);

}  // namespace dpsosp
