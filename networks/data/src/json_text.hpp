// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace dpsosp::networks {

/// The value of a JSON text whose objects name each key once and nest at most 8 deep.
/// \throws InputError that begins with `where`
nlohmann::json parse_json(std::string_view where, std::string_view text);

}  // namespace dpsosp::networks
