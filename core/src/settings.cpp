// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/numbers.hpp"

namespace dpsosp {
namespace {

template <class Number>
bool read_number(const std::string& text, Number& value) {
  if constexpr (std::is_integral_v<Number>) {
    const auto whole = whole_number(text);
    if (whole) value = *whole;
    return whole.has_value();
  } else {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, number);
    if (status != std::errc{} || stop != end) return false;
    value = number;
    return true;
  }
}

/// "finite and > 0" for numbers, "> 0" for integers, "in (0, 1)" for either.
std::string range_text(const Range& range, bool integer) {
  const bool bounded_below = std::isfinite(range.least);
  if (bounded_below && std::isfinite(range.most))
    return fmt::format("in {}{:.10g}, {:.10g}{}", range.with_least ? '[' : '(', range.least,
                       range.most, range.with_most ? ']' : ')');
  std::string text;
  if (bounded_below) text = fmt::format("{} {:.10g}", range.with_least ? ">=" : ">", range.least);
  if (integer) return text;
  if (range.with_most) return text + ", or inf";
  return text.empty() ? "finite" : "finite and " + text;
}

template <class Number>
Field number_field(std::string name, Number& value, const Range& range, std::string meaning) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .range = range_text(range, std::is_integral_v<Number>),
          .integer = std::is_integral_v<Number>,
          .get = [&value] { return fmt::format("{}", value); },
          .read = [&value](const std::string& text) { return read_number(text, value); },
          .in_range = [&value, range] { return range.contains(static_cast<double>(value)); }};
}

struct NameAndWords {
  const std::string& name;
  const std::vector<std::string>& words;
};

void rename(std::map<std::string, std::string>& settings, const NameAndWords& from,
            const NameAndWords& to) {
  auto entry = settings.extract(from.name);
  if (entry.empty()) return;
  const auto word = std::ranges::find(from.words, entry.mapped());
  if (word != from.words.end())
    entry.mapped() = to.words[static_cast<std::size_t>(word - from.words.begin())];
  entry.key() = to.name;
  settings.insert(std::move(entry));
}

}  // namespace

Field field(std::string name, double& value, const Range& range, std::string meaning) {
  return number_field(std::move(name), value, range, std::move(meaning));
}

Field field(std::string name, Index& value, const Range& range, std::string meaning) {
  return number_field(std::move(name), value, range, std::move(meaning));
}

Field field(std::string name, bool& value, std::string meaning) {
  return choice_field(
      std::move(name), {"false", "true"}, [&value] { return value ? 1U : 0U; },
      [&value](std::size_t k) { value = k == 1; }, std::move(meaning));
}

Field field(std::string name, std::string& value, std::string meaning) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .get = [&value] { return value; },
          .read =
              [&value](const std::string& text) {
                value = text;
                return true;
              }};
}

Field choice_field(std::string name, std::vector<std::string> names,
                   std::function<std::size_t()> get, std::function<void(std::size_t)> set,
                   std::string meaning) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .choices = names,
          .range = fmt::format("one of {}", fmt::join(names, ", ")),
          .get = [names, get = std::move(get)] { return names[get()]; },
          .read =
              [names, set = std::move(set)](const std::string& text) {
                const auto found = std::ranges::find(names, text);
                if (found == names.end()) return false;
                set(static_cast<std::size_t>(found - names.begin()));
                return true;
              }};
}

void Field::set(const std::string& text, std::string_view owner) const {
  if (read(text)) return;
  if (!in_range) reject(owner, name, text, range);
  reject(owner, name, text, fmt::format("{}, {}", integer ? "an integer" : "a number", range));
}

void check_ranges(std::string_view owner, const Fields& fields) {
  for (const Field& f : fields)
    if (f.in_range && !f.in_range()) reject(owner, f.name, f.get(), f.range);
}

std::map<std::string, std::string> stored_settings(const Fields& fields,
                                                   std::map<std::string, std::string> settings) {
  for (const Field& f : fields)
    if (!f.stored_name.empty())
      rename(settings, {f.name, f.choices}, {f.stored_name, f.stored_choices});
  return settings;
}

std::map<std::string, std::string> settings_of_stored(const Fields& fields,
                                                      std::map<std::string, std::string> stored) {
  for (const Field& f : fields)
    if (!f.stored_name.empty())
      rename(stored, {f.stored_name, f.stored_choices}, {f.name, f.choices});
  return stored;
}

void set_field(Fields& fields, std::string_view owner, const std::string& name,
               const std::string& text) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end()) {
    std::vector<std::string> names;
    for (const Field& f : fields) {
      if (f.stored_name == name)
        throw InputError(
            fmt::format("unknown setting of {} '{}'; did you mean '{}'?", owner, name, f.name));
      names.push_back(f.name);
    }
    reject_unknown(fmt::format("setting of {}", owner), name, names);
  }
  found->set(text, owner);
}

std::map<std::string, std::string> values_of(const Fields& fields) {
  std::map<std::string, std::string> values;
  for (const Field& f : fields) values.emplace(f.name, f.get());
  return values;
}

}  // namespace dpsosp
