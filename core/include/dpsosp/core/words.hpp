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

/// The words of an enumeration, as settings, command line, files and results have them, each value
/// once. The enumeration declares them beside itself, where they are found by its type:
///   constexpr auto words_of(Rule) {
///     using enum Rule;
///     return word_list<Rule>("rule", {{normalised, "normalised"}, {plain, "plain"}});
///   }
template <class Enum, std::size_t N>
struct WordList {
  std::string_view kind;  ///< for messages
  std::array<std::pair<Enum, std::string_view>, N> list;
};

template <class Enum, std::size_t N>
constexpr WordList<Enum, N> word_list(std::string_view kind,
                                      const std::pair<Enum, std::string_view> (&list)[N]) {
  return {kind, std::to_array(list)};
}

template <class Enum>
constexpr std::string_view word_of(Enum value) {
  for (const auto& [known, word] : words_of(value).list)
    if (known == value) return word;
  return {};
}

/// \throws InputError "unknown KIND 'TEXT'; did you mean ...?"
template <class Enum>
Enum from_word(const std::string& text) {
  constexpr auto words = words_of(Enum{});
  std::vector<std::string> known;
  for (const auto& [value, word] : words.list) {
    if (word == text) return value;
    known.emplace_back(word);
  }
  reject_unknown(words.kind, text, known);
}

}  // namespace dpsosp
