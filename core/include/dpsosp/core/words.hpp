// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

template <class Enum, std::size_t N>
using WordList = std::array<std::pair<Enum, std::string_view>, N>;

/// The words of an enumeration, as command line, files and results have them. A specialisation has
///   static constexpr std::string_view kind;   for messages: "calibrator"
///   static constexpr WordList<Enum, N> list;   every value once
template <class Enum>
struct Words;

template <class Enum>
constexpr std::string_view word_of(Enum value) {
  for (const auto& [known, word] : Words<Enum>::list)
    if (known == value) return word;
  return {};
}

/// \throws InputError "unknown KIND 'TEXT'; did you mean ...?"
template <class Enum>
Enum from_word(const std::string& text) {
  std::vector<std::string> words;
  for (const auto& [value, word] : Words<Enum>::list) {
    if (word == text) return value;
    words.emplace_back(word);
  }
  reject_unknown(Words<Enum>::kind, text, words);
}

}  // namespace dpsosp
