// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dpsosp {

/// The whole number that is all of `text`: digits, or a decimal number such as 1e5 or 2.5e3, which
/// may be at most 2^53, up to which a floating-point number tells neighbours apart. None for
/// anything else.
std::optional<std::int64_t> whole_number(std::string_view text);

/// A whole number for people: exact up to 2^53, else "≈ 1.23e+20".
std::string count_text(double count);

}  // namespace dpsosp
