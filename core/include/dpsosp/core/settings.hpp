// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// One field of a parameter struct that can be read and set as text, by `--set name=value`, `list`
/// and the run key.
struct Field {
  std::string name;
  std::string meaning;                          ///< the paper's symbol and a few words
  std::vector<std::string> choices;             ///< empty unless the value is one of a list
  std::function<std::string()> get;             ///< shortest text that reads back to the same value
  std::function<void(const std::string&)> set;  ///< throws InputError on text it cannot read
};
using Fields = std::vector<Field>;

Field field(std::string name, double& value, std::string meaning);
Field field(std::string name, Index& value, std::string meaning);
Field field(std::string name, bool& value, std::string meaning);
Field field(std::string name, std::string& value, std::string meaning);

/// A field whose value is one of the named choices.
Field choice_field(std::string name,
                   std::vector<std::string> names,
                   std::function<std::size_t()> get,
                   std::function<void(std::size_t)> set,
                   std::string meaning);

template <class Enum>
Field field(std::string name,
            Enum& value,
            std::initializer_list<std::pair<Enum, std::string_view>> choices,
            std::string meaning) {
  std::vector<std::string> names;
  std::vector<Enum> values;
  for (const auto& [v, text] : choices) {
    values.push_back(v);
    names.emplace_back(text);
  }
  return choice_field(
      std::move(name),
      std::move(names),
      [&value, values] {
        std::size_t k = 0;
        while (values[k] != value) ++k;
        return k;
      },
      [&value, values](std::size_t k) { value = values[k]; },
      std::move(meaning));
}

/// Sets the field called `name`. \throws InputError with the nearest name, or if the text is bad.
void set_field(Fields& fields,
               std::string_view owner,
               const std::string& name,
               const std::string& text);

/// name -> text of every field.
std::map<std::string, std::string> values_of(const Fields& fields);

}  // namespace dpsosp
