// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/settings.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/numbers.hpp"

namespace dpsosp {
namespace {

double parse_number(const std::string& name, const std::string& text) {
  double value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) reject("setting", name, text, "a number");
  return value;
}

Index parse_whole(const std::string& name, const std::string& text) {
  const auto value = whole_number(text);
  if (!value) reject("setting", name, text, "an integer");
  return *value;
}

}  // namespace

Field field(std::string name, double& value, std::string meaning) {
  return {name,
          std::move(meaning),
          {},
          [&value] { return fmt::format("{}", value); },
          [&value, name](const std::string& text) { value = parse_number(name, text); }};
}

Field field(std::string name, Index& value, std::string meaning) {
  return {name,
          std::move(meaning),
          {},
          [&value] { return fmt::format("{}", value); },
          [&value, name](const std::string& text) { value = parse_whole(name, text); }};
}

Field field(std::string name, bool& value, std::string meaning) {
  return choice_field(
      std::move(name),
      {"false", "true"},
      [&value] { return value ? 1U : 0U; },
      [&value](std::size_t k) { value = k == 1; },
      std::move(meaning));
}

Field field(std::string name, std::string& value, std::string meaning) {
  return {std::move(name),
          std::move(meaning),
          {},
          [&value] { return value; },
          [&value](const std::string& text) { value = text; }};
}

Field choice_field(std::string name,
                   std::vector<std::string> names,
                   std::function<std::size_t()> get,
                   std::function<void(std::size_t)> set,
                   std::string meaning) {
  return {name,
          std::move(meaning),
          names,
          [names, get = std::move(get)] { return names[get()]; },
          [name, names, set = std::move(set)](const std::string& text) {
            const auto found = std::ranges::find(names, text);
            if (found == names.end())
              reject("setting", name, text, fmt::format("one of {}", fmt::join(names, ", ")));
            set(static_cast<std::size_t>(found - names.begin()));
          }};
}

void set_field(Fields& fields,
               std::string_view owner,
               const std::string& name,
               const std::string& text) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end()) {
    std::vector<std::string> names;
    for (const Field& f : fields) names.push_back(f.name);
    reject_unknown(fmt::format("setting of {}", owner), name, names);
  }
  found->set(text);
}

std::map<std::string, std::string> values_of(const Fields& fields) {
  std::map<std::string, std::string> values;
  for (const Field& f : fields) values.emplace(f.name, f.get());
  return values;
}

}  // namespace dpsosp
