// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/json_members.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

using nlohmann::json;

void JsonPlace::refuse(const json* found, std::string_view expected) const {
  reject(what, key.empty() ? "value" : key, found == nullptr ? "nothing" : found->dump(), expected);
}

namespace json_members {

const json* find(const json& in, const JsonPlace& place, std::string_view key) {
  if (!in.is_object()) place.refuse(&in, "an object");
  const auto found = in.find(std::string(key));
  return found == in.end() ? nullptr : &*found;
}

void refuse_others(const json& in, const std::string& what, const std::vector<std::string>& keys) {
  for (const auto& [key, unused] : in.items())
    if (std::ranges::find(keys, key) == keys.end()) reject_unknown("key of " + what, key, keys);
}

bool boolean(const json& in, const JsonPlace& place) {
  if (!in.is_boolean()) place.refuse(&in, "true or false");
  return in.get<bool>();
}

double number(const json& in, const JsonPlace& place) {
  if (!in.is_number() && in != "nan" && in != "inf" && in != "-inf")
    place.refuse(&in, R"(a number, "nan", "inf" or "-inf")");
  return from_json_number(in);
}

json integer(const json& in, const JsonPlace& place, std::int64_t least, std::uint64_t most) {
  // As in a run's key, 1.0 is an integer.
  const bool whole = in.is_number_float() && std::abs(in.get<double>()) < 0x1p53 &&
                     in.get<double>() == std::floor(in.get<double>());
  const json found = whole ? json(static_cast<std::int64_t>(in.get<double>())) : in;
  const bool negative =
      found.is_number_integer() && !found.is_number_unsigned() && found.get<std::int64_t>() < 0;
  if (!found.is_number_integer() ||
      (negative ? found.get<std::int64_t>() < least : found.get<std::uint64_t>() > most))
    place.refuse(&in, least < 0 ? "an integer" : "an integer >= 0");
  return found;
}

const std::string& text(const json& in, const JsonPlace& place) {
  if (!in.is_string()) place.refuse(&in, "a text");
  return in.get_ref<const std::string&>();
}

}  // namespace json_members
}  // namespace dpsosp
