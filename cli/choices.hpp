// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/numbers.hpp"

namespace dpsosp {

template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

/// The value called `word`. \throws InputError "unknown KIND 'WORD'; did you mean ...?"
template <class Value>
Value choose(std::string_view kind, const std::string& word, const Choices<Value>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    names.push_back(name);
  }
  reject_unknown(kind, word, names);
}

/// The number that is the whole of `text`. \throws InputError "WHERE: NAME = TEXT, expected
/// EXPECTED"
template <class Number>
Number parse_number(std::string_view where, std::string_view name, const std::string& text,
                    std::string_view expected) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) reject(where, name, "'" + text + "'", expected);
  return value;
}

/// What a whole number that cannot be read must be, beside what is expected: empty for what is
/// none.
inline std::string_view why_too_large(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
    return " and <= 9223372036854775807";
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  const bool large = status == std::errc{} && stop == end && value > 9007199254740992.0;
  return large && std::isfinite(value) ? ", above 2^53 in digits" : "";
}

/// The integer that is the whole of `text`; 1e5 is one. \throws InputError as parse_number
inline std::int64_t parse_whole(std::string_view where, std::string_view name,
                                const std::string& text, std::string_view expected) {
  const auto value = whole_number(text);
  if (!value)
    reject(where, name, "'" + text + "'", std::string(expected) + std::string(why_too_large(text)));
  return *value;
}

}  // namespace dpsosp
