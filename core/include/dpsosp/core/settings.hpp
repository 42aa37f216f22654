// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// The numbers that a field may hold: an interval of which each end belongs to it or not. Infinity
/// is in it only where an end is infinite and belongs to it; NaN never is.
struct Range {
  double least;
  double most;
  bool with_least = true;
  bool with_most = true;

  constexpr bool contains(double value) const {
    return (with_least ? value >= least : value > least) &&
           (with_most ? value <= most : value < most);
  }
};

namespace range {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr Range finite{-infinity, infinity, false, false};
inline constexpr Range positive{0, infinity, false, false};
inline constexpr Range positive_or_infinite{0, infinity, false, true};
inline constexpr Range not_negative{0, infinity, true, false};
inline constexpr Range probability{0, 1};
inline constexpr Range open_unit{0, 1, false, false};
inline constexpr Range unit_without_0{0, 1, false, true};
inline constexpr Range unit_without_1{0, 1, true, false};
constexpr Range at_least(double least) { return {least, infinity, true, false}; }
constexpr Range above(double bound) { return {bound, infinity, false, false}; }
constexpr Range between(double least, double most) { return {least, most}; }

}  // namespace range

/// One field of a parameter struct that can be read and set as text, by `--set name=value`, `list`
/// and the run key. It is the one place that states the parameter's name, range and meaning.
struct Field {
  std::string name;
  std::string meaning;                    ///< the paper's symbol and a few words
  std::vector<std::string> choices = {};  ///< empty unless the value is one of a list
  std::string range = {};                 ///< "in (0, 1)", "one of a, b"; empty for any text
  bool integer = false;                   ///< a number without fraction
  std::function<std::string()> get;       ///< shortest text that reads back to the same value
  std::function<bool(const std::string&)> read;  ///< sets the value; false for text it cannot read
  std::function<bool()> in_range = {};           ///< of a number; no function for other fields
  std::string stored_name = {};                  ///< in descriptions of runs, if that is another
  std::vector<std::string> stored_choices = {};

  /// \throws InputError "OWNER: NAME = TEXT, expected ..." for text that cannot be read
  void set(const std::string& text, std::string_view owner = "setting") const;
};
using Fields = std::vector<Field>;

Field field(std::string name, double& value, const Range& range, std::string meaning);
Field field(std::string name, Index& value, const Range& range, std::string meaning);
Field field(std::string name, bool& value, std::string meaning);
Field field(std::string name, std::string& value, std::string meaning);

/// A field whose value is one of the named choices.
Field choice_field(std::string name, std::vector<std::string> names,
                   std::function<std::size_t()> get, std::function<void(std::size_t)> set,
                   std::string meaning);

/// A field whose value is one of those offered of an enumeration that has words; without a list, of
/// all.
template <class Enum>
requires std::is_enum_v<Enum> Field field(std::string name, Enum& value, std::vector<Enum> offered,
                                          std::string meaning) {
  std::vector<std::string> names;
  for (const Enum choice : offered) names.emplace_back(word_of(choice));
  return choice_field(
      std::move(name), std::move(names),
      [&value, offered] {
        return static_cast<std::size_t>(std::ranges::find(offered, value) - offered.begin());
      },
      [&value, offered](std::size_t k) { value = offered[k]; }, std::move(meaning));
}

template <class Enum>
requires std::is_enum_v<Enum> Field field(std::string name, Enum& value, std::string meaning) {
  std::vector<Enum> all;
  for (const auto& [choice, word] : words_of(Enum{}).list) all.push_back(choice);
  return field(std::move(name), value, std::move(all), std::move(meaning));
}

/// Refuses a number that is not in its range. \throws InputError "OWNER: NAME = VALUE, expected
/// RANGE"
void check_ranges(std::string_view owner, const Fields& fields);

/// The same of all fields of an owner. Its fields() hands out setters and so is not const; a check
/// only reads.
template <class Owner>
void check_ranges_of(std::string_view name, const Owner& owner) {
  check_ranges(name, const_cast<Owner&>(owner).fields());
}

/// Sets the field called `name`. \throws InputError with the nearest name, or if the text is bad.
void set_field(Fields& fields, std::string_view owner, const std::string& name,
               const std::string& text);

/// Settings as descriptions of runs have them, and back. What is no field is left as it is.
std::map<std::string, std::string> stored_settings(const Fields& fields,
                                                   std::map<std::string, std::string> settings);
std::map<std::string, std::string> settings_of_stored(const Fields& fields,
                                                      std::map<std::string, std::string> stored);

/// name -> text of every field.
std::map<std::string, std::string> values_of(const Fields& fields);

}  // namespace dpsosp
