// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/utf8.hpp"

namespace dpsosp {

std::size_t utf8_character(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t k = 1; k < size; ++k)
    if ((byte(k) & 0xc0U) != 0x80) return 0;
  // Overlong forms, surrogates, and what is beyond U+10FFFF.
  const unsigned second = byte(1);
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return size;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_invisible(std::string_view character) {
  return character == "\xc2\xa0" || (character >= "\xe2\x80\x8b" && character <= "\xe2\x80\x8f") ||
         character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9" ||
         character == "\xe2\x81\xa0" || character == "\xef\xbb\xbf";
}

}  // namespace dpsosp
