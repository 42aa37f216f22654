// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run_key.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/sha256.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::string number_text(double value) {
  // Integers are written in full, as if they had been given as integers; adding 0 turns -0 into 0.
  if (value == std::floor(value)) {
    if (value >= -0x1p63 && value < 0x1p63)
      return fmt::format("{}", static_cast<std::int64_t>(value));
    if (value >= 0x1p63 && value < 0x1p64)
      return fmt::format("{}", static_cast<std::uint64_t>(value));
  }
  return fmt::format("{}", value);
}

[[noreturn]] void refuse(const json::json_pointer& place, const std::string& what) {
  throw InputError(fmt::format("run description: {} {}", place.to_string(), what));
}

std::string quoted(const std::string& text, const json::json_pointer& place) {
  try {
    return json(text).dump();
  } catch (const json::type_error&) {
    refuse(place, "is not UTF-8 text");
  }
}

void write(const json& value, const json::json_pointer& place, std::string& out) {
  const char* separator = "";
  if (value.is_object()) {
    out += '{';
    for (const auto& [name, child] : value.items()) {  // ordered by name: json::object_t is a map
      out += separator;
      out += quoted(name, place);
      out += ':';
      write(child, place / name, out);
      separator = ",";
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (std::size_t k = 0; k < value.size(); ++k) {
      out += separator;
      write(value[k], place / k, out);
      separator = ",";
    }
    out += ']';
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!std::isfinite(number))
      refuse(place, fmt::format("= {}, expected a finite number or to_json_number of it", number));
    out += number_text(number);
  } else if (value.is_string()) {
    out += quoted(value.get_ref<const std::string&>(), place);
  } else if (value.is_number() || value.is_boolean() || value.is_null()) {
    out += value.dump();
  } else {
    refuse(place, "is not a JSON value");  // binary
  }
}

std::string canonical_text(const json& description) {
  if (!description.is_object())
    throw InputError(
        fmt::format("run description: type = {}, expected object", description.type_name()));
  std::string text;
  write(description, json::json_pointer(), text);
  return text;
}

}  // namespace

RunKey::RunKey(const json& description)
    : text_(canonical_text(description)), hash_(sha256(text_)) {}

}  // namespace dpsosp
