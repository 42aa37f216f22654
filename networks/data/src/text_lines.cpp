// SPDX-License-Identifier: Apache-2.0
#include "text_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/utf8.hpp"

namespace dpsosp::networks {

std::vector<std::string_view> text_lines(std::string_view where, std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (!is_utf8(line))
      throw InputError(fmt::format("{}, line {}: is not UTF-8", where, lines.size()));
  }
  return lines;
}

}  // namespace dpsosp::networks
