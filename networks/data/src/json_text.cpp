// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::networks {

nlohmann::json parse_json(std::string_view where, std::string_view text) {
  using nlohmann::json;
  constexpr int deepest = 8;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > deepest)
      throw InputError(fmt::format("{}: JSON nested more than {} deep", where, deepest));
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!keys.back().insert(name).second)
        throw InputError(fmt::format("{}: '{}' is named twice", where, name));
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& e) {
    throw InputError(fmt::format("{}: no JSON from byte {} on", where, e.byte));
  } catch (const json::out_of_range&) {
    throw InputError(fmt::format("{}: holds a number that is too large", where));
  }
}

}  // namespace dpsosp::networks
