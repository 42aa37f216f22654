// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

// Texts in tests: files, lines, and what a text has or lacks.
namespace dpsosp {

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "a b c" -> {"a", "b", "c"}.
inline std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// `text` with its first `piece` replaced by another.
inline std::string replaced(std::string text, const std::string& piece, const std::string& by) {
  const auto place = text.find(piece);
  EXPECT_NE(place, std::string::npos) << piece;
  return text.replace(place, piece.size(), by);
}

namespace text_detail {
inline testing::AssertionResult each(std::string_view text,
                                     std::initializer_list<std::string_view> parts, bool wanted) {
  for (const std::string_view part : parts)
    if ((text.find(part) != std::string_view::npos) != wanted)
      return testing::AssertionFailure() << (wanted ? "lacks \"" : "has \"") << part << "\":\n"
                                         << text;
  return testing::AssertionSuccess();
}
}  // namespace text_detail

/// Success if the text has every part.
template <class... Parts>
testing::AssertionResult has(std::string_view text, const Parts&... parts) {
  return text_detail::each(text, {std::string_view(parts)...}, true);
}

/// Success if the text has no part.
template <class... Parts>
testing::AssertionResult lacks(std::string_view text, const Parts&... parts) {
  return text_detail::each(text, {std::string_view(parts)...}, false);
}

}  // namespace dpsosp
