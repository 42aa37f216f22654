// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/shell_words.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace dpsosp {

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./=,:+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word)
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

}  // namespace dpsosp
