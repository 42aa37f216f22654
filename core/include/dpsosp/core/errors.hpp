// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dpsosp {

/// Bad input of the user: one line that says where, what is wrong and what is expected.
class InputError : public std::runtime_error {
 public:
  /// Control characters, which may come from the input, are written as \n, \t or \xNN.
  explicit InputError(const std::string& text);
};

/// Throws InputError "WHERE: NAME = VALUE, expected EXPECTED".
[[noreturn]] void reject(std::string_view where, std::string_view name, const std::string& value,
                         std::string_view expected);
[[noreturn]] void reject(std::string_view where, std::string_view name, double value,
                         std::string_view expected);

/// The candidate nearest to `word` in edit distance, where a candidate may also be met by its last
/// part ("dp-gd" for "wang-ye-xu-2017/dp-gd") or by its beginning; empty if none is nearer than
/// half the length of `word`.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Throws InputError "unknown KIND 'WORD'; did you mean 'NEAREST'?"; where no candidate is near,
/// "unknown KIND 'WORD', expected one of ...", if they are few enough to be read in a line.
[[noreturn]] void reject_unknown(std::string_view kind, std::string_view word,
                                 std::span<const std::string> candidates);

}  // namespace dpsosp
