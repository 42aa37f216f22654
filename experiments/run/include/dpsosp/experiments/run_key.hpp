// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace dpsosp {

/// The identity of a run: its description in canonical text, and the SHA-256 of that text.
///
/// A description is a JSON object of everything that decides the run's numbers. Two descriptions
/// have the same key exactly if they are the same JSON value, where numbers are compared as real
/// numbers: 1, 1.0 and 1e0 are one number, and so are 0.0 and -0.0.
class RunKey {
 public:
  /// \throws InputError if `description` is not an object, holds a number that is not finite
  ///         (write it with to_json_number), or text that is not UTF-8.
  explicit RunKey(const nlohmann::json& description);

  /// 64 hexadecimal digits.
  const std::string& hash() const { return hash_; }
  /// Keys in byte order, no white space, integers in full, other numbers in the shortest form that
  /// reads back to the same bits.
  const std::string& text() const { return text_; }
  /// The description as the text says it. A run is computed from this value, so that nothing which
  /// the key does not cover (the spelling of a number, the sign of zero) can decide its numbers.
  nlohmann::json description() const { return nlohmann::json::parse(text_); }

  bool operator==(const RunKey& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::string hash_;
};

}  // namespace dpsosp
