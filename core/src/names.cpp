// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/names.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

bool is_same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool may_stand_for(std::string_view word, const Named& named) {
  const std::string_view name = named.name;
  return is_same_but_for_case(word, name) ||
         is_same_but_for_case(word, name.substr(name.find_last_of('/') + 1)) ||
         (!named.title.empty() && is_same_but_for_case(word, named.title));
}

}  // namespace

std::string resolve_name(std::string_view kind, std::string_view word, std::span<const Named> known,
                         std::string_view list) {
  std::vector<std::string> names, meant;
  for (const Named& n : known) {
    if (n.name == word) return n.name;
    names.push_back(n.name);
    if (may_stand_for(word, n)) meant.push_back(n.name);
  }
  if (meant.size() == 1) return meant.front();
  if (!meant.empty())
    throw InputError(
        fmt::format("{} '{}' may be {}; expected one of them", kind, word, fmt::join(meant, ", ")));
  if (list.empty() || !nearest(word, names).empty()) reject_unknown(kind, word, names);
  throw InputError(fmt::format("unknown {} '{}'; see {}", kind, word, list));
}

}  // namespace dpsosp
