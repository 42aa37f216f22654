// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/numbers.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace dpsosp {
namespace {

constexpr double largest_exact = 9007199254740992.0;  // 2^53

/// The number that is all of the text.
template <class Number>
std::optional<Number> all_of(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) return {};
  return value;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (const auto exact = all_of<std::int64_t>(text)) return exact;
  if (text.find_first_not_of("-0123456789") == std::string_view::npos) return {};  // too long
  const auto value = all_of<double>(text);
  if (!value || !(std::abs(*value) <= largest_exact) || *value != std::floor(*value)) return {};
  return static_cast<std::int64_t>(*value);
}

std::string count_text(double count) {
  if (std::abs(count) <= largest_exact) return fmt::format("{:.0f}", count);
  return fmt::format("≈ {:.3g}", count);
}

}  // namespace dpsosp
