// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dpsosp::report {

/// HTML that is well formed: a text enters it escaped, an element with its end.
class Html {
 public:
  Html() = default;
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  Html& operator+=(const Html& more) {
    text_ += more.text_;
    return *this;
  }
  friend Html operator+(Html a, const Html& b) {
    a += b;
    return a;
  }

 private:
  explicit Html(std::string text) : text_(std::move(text)) {}
  friend Html trusted(std::string html);
  std::string text_;
};

/// What is known to be well formed.
Html trusted(std::string html);

/// Escaped; control characters become spaces.
Html text(std::string_view plain);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// <NAME ATTRIBUTES>CONTENT</NAME>; an attribute without a value has the value "".
Html element(std::string_view name, const Attributes& attributes, const Html& content);
inline Html element(std::string_view name, const Html& content) {
  return element(name, {}, content);
}
/// An element of SVG without content.
Html empty_element(std::string_view name, const Attributes& attributes);
/// An element of HTML that has none: <meta>, <link>.
Html void_element(std::string_view name, const Attributes& attributes);

/// A length of a drawing, to a tenth.
inline std::string px(double v) {
  std::string s = fmt::format("{:.1f}", v);
  if (s.ends_with(".0")) s.resize(s.size() - 2);
  return s == "-0" ? "0" : s;
}

}  // namespace dpsosp::report
