// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/core/members.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/json_number.hpp"

/// JSON of structs whose members are listed (core/members.hpp): an object with a key a member.
/// Doubles are as in json_number.hpp, enumerations as their words; an optional without a value has
/// no key, or is null where the struct has a static member `null_for_none`. Other types have the
/// JSON that nlohmann::json gives them.
namespace dpsosp {

/// Where a value stands in a file: what is read, and the key in it.
struct JsonPlace {
  std::string what;      ///< "probe ganesh-2023/escape"
  std::string key = "";  ///< "points.0.x"; empty: all of it

  JsonPlace at(std::string_view member) const {
    return {what, key + (key.empty() ? "" : ".") + std::string(member)};
  }
  /// \throws InputError "WHAT: KEY = FOUND, expected EXPECTED"; null stands for nothing found
  [[noreturn]] void refuse(const nlohmann::json* found, std::string_view expected) const;
};

namespace json_members {

template <class T>
inline constexpr bool null_for_none = requires {
  T::null_for_none;
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_table = false;
template <class T>
inline constexpr bool is_table<std::map<std::string, T>> = true;
template <class T>
concept Sequence = !std::same_as<T, std::string> && !std::same_as<T, nlohmann::json> &&
                   !is_table<T> && requires(T & values) {
  std::begin(values);
  typename T::value_type;
};
template <class T>
concept Enumeration = requires(T value) {
  words_of(value);
};
template <class T>
constexpr std::string_view kind_of() {
  return std::same_as<T, bool>                            ? "true or false"
         : std::integral<T>                               ? "an integer"
         : std::floating_point<T>                         ? "a number"
         : Sequence<T>                                    ? "an array"
         : Listed<T> || is_table<T>                       ? "an object"
         : std::same_as<T, std::string> || Enumeration<T> ? "a text"
                                                          : "a value";
}

/// The member `key` of an object, or null. \throws InputError if `in` is no object
const nlohmann::json* find(const nlohmann::json& in, const JsonPlace& place, std::string_view key);
/// \throws InputError for a key of `in` that is none of these
void refuse_others(const nlohmann::json& in, const std::string& what,
                   const std::vector<std::string>& keys);
bool boolean(const nlohmann::json& in, const JsonPlace& place);
double number(const nlohmann::json& in, const JsonPlace& place);
/// \throws InputError also for an integer that is not in [least, most]
nlohmann::json integer(const nlohmann::json& in, const JsonPlace& place, std::int64_t least,
                       std::uint64_t most);
const std::string& text(const nlohmann::json& in, const JsonPlace& place);

}  // namespace json_members

template <class T>
nlohmann::json write_json(const T& value) {
  using nlohmann::json;
  if constexpr (Listed<T>) {
    json out = json::object();
    for_each_member(value, [&](std::string_view name, const auto& member) {
      if constexpr (json_members::is_optional<std::remove_cvref_t<decltype(member)>>) {
        if (member)
          out[std::string(name)] = write_json(*member);
        else if (json_members::null_for_none<T>)
          out[std::string(name)] = nullptr;
      } else {
        out[std::string(name)] = write_json(member);
      }
    });
    return out;
  } else if constexpr (json_members::Enumeration<T>) {
    return word_of(value);
  } else if constexpr (std::same_as<T, double>) {
    return to_json_number(value);
  } else if constexpr (json_members::is_table<T>) {
    json out = json::object();
    for (const auto& [name, entry] : value) out[name] = write_json(entry);
    return out;
  } else if constexpr (json_members::Sequence<T>) {
    json out = json::array();
    for (const auto& entry : value) out.push_back(write_json(entry));
    return out;
  } else {
    return value;
  }
}

/// \throws InputError naming place and key for a key that is missing or unknown, and for what is
/// no such value. An optional member may be missing or null.
template <class T>
T read_json(const nlohmann::json& in, const JsonPlace& place) {
  using nlohmann::json;
  if constexpr (Listed<T>) {
    T value{};
    std::vector<std::string> keys;
    for_each_member(value, [&]<class Value>(std::string_view name, Value& member) {
      keys.emplace_back(name);
      const json* found = json_members::find(in, place, name);
      const JsonPlace here = place.at(name);
      if constexpr (json_members::is_optional<Value>) {
        if (found != nullptr && !found->is_null())
          member = read_json<typename Value::value_type>(*found, here);
      } else {
        if (found == nullptr) here.refuse(nullptr, json_members::kind_of<Value>());
        member = read_json<Value>(*found, here);
      }
    });
    json_members::refuse_others(in, place.what, keys);
    return value;
  } else if constexpr (json_members::Enumeration<T>) {
    return from_word<T>(json_members::text(in, place));
  } else if constexpr (std::same_as<T, bool>) {
    return json_members::boolean(in, place);
  } else if constexpr (std::integral<T>) {
    return json_members::integer(in, place,
                                 static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                                 static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
        .template get<T>();
  } else if constexpr (std::floating_point<T>) {
    return json_members::number(in, place);
  } else if constexpr (std::same_as<T, std::string>) {
    return json_members::text(in, place);
  } else if constexpr (json_members::is_table<T>) {
    if (!in.is_object()) place.refuse(&in, "an object");
    T table;
    for (const auto& [name, entry] : in.items())
      table[name] = read_json<typename T::mapped_type>(entry, place.at(name));
    return table;
  } else if constexpr (json_members::Sequence<T>) {
    if (!in.is_array()) place.refuse(&in, "an array");
    T values{};
    const auto entry = [&](std::size_t k) {
      return read_json<typename T::value_type>(in[k], place.at(std::to_string(k)));
    };
    if constexpr (requires { values.push_back(entry(0)); }) {
      for (std::size_t k = 0; k < in.size(); ++k) values.push_back(entry(k));
    } else {
      if (in.size() != values.size()) place.refuse(&in, std::to_string(values.size()) + " entries");
      for (std::size_t k = 0; k < in.size(); ++k) values[k] = entry(k);
    }
    return values;
  } else {
    return in.get<T>();
  }
}

}  // namespace dpsosp
