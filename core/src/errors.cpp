// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/errors.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/utf8.hpp"

namespace dpsosp {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

std::string lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

/// True if a terminal obeys a UTF-8 character and does not show it (C1, and what turns the
/// direction of writing: U+202A to U+202E, U+2066 to U+2069).
bool steers_terminals(std::string_view character) {
  const auto is_between = [&](std::string_view first, std::string_view last) {
    return character.size() == first.size() && character >= first && character <= last;
  };
  return is_between("\xc2\x80", "\xc2\x9f") || is_between("\xe2\x80\xaa", "\xe2\x80\xae") ||
         is_between("\xe2\x81\xa6", "\xe2\x81\xa9");
}

std::string on_one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t size = utf8_character(text);
    if (text.front() == '\n')
      line += "\\n";
    else if (text.front() == '\t')
      line += "\\t";
    else if (byte < 0x20 || byte == 0x7f || size == 0)
      line += fmt::format("\\x{:02x}", byte);
    else if (steers_terminals(text.substr(0, size)) || is_invisible(text.substr(0, size)))
      for (const char c : text.substr(0, size))
        line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      line += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return line;
}

}  // namespace

InputError::InputError(const std::string& text) : std::runtime_error(on_one_line(text)) {}

void reject(std::string_view where, std::string_view name, const std::string& value,
            std::string_view expected) {
  throw InputError(fmt::format("{}: {} = {}, expected {}", where, name, value, expected));
}

void reject(std::string_view where, std::string_view name, double value,
            std::string_view expected) {
  reject(where, name, fmt::format("{}", value), expected);
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  // A mistyped number is no sign of which number was meant.
  if (word.find_first_not_of("0123456789") == std::string_view::npos) return {};
  const std::string small = lower_case(word);
  const auto distance = [&](const std::string& candidate) {
    const std::string name = lower_case(candidate);
    const std::size_t whole = edit_distance(small, name);
    const std::size_t last = edit_distance(small, name.substr(name.find_last_of("/.") + 1));
    const bool begins = small.size() >= 3 && name.starts_with(small);
    // of names that differ in case alone, the one in the word's case
    return std::pair(std::min({whole, last, begins ? std::size_t{1} : whole}),
                     edit_distance(word, candidate));
  };
  const auto best = std::ranges::min_element(candidates, {}, distance);
  // at least one letter in common
  const std::size_t most = std::min(std::max<std::size_t>(2, word.size() / 2), word.size() - 1);
  return best == candidates.end() || distance(*best).first > most ? std::string{} : *best;
}

void reject_unknown(std::string_view kind, std::string_view word,
                    std::span<const std::string> candidates) {
  constexpr std::size_t few = 16;
  std::string text = fmt::format("unknown {} '{}'", kind, word);
  if (const std::string hint = nearest(word, candidates); !hint.empty())
    text += fmt::format("; did you mean '{}'?", hint);
  else if (candidates.size() == 1)
    text += fmt::format(", expected {}", candidates.front());
  else if (!candidates.empty() && candidates.size() <= few)
    text += fmt::format(", expected one of {}", fmt::join(candidates, ", "));
  throw InputError(text);
}

}  // namespace dpsosp
