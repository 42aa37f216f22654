// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace dpsosp {

/// A double as JSON. JSON has no word for the values that are not finite, so they are the strings
/// "nan", "inf" and "-inf"; sign and payload of a NaN are not kept. Finite values are JSON numbers
/// and come back with the same bits.
nlohmann::json to_json_number(double value);

/// The inverse of to_json_number; also reads JSON integers.
/// \throws InputError if `value` is neither a number nor one of the three strings.
double from_json_number(const nlohmann::json& value);

/// `value` with every number that is not finite written as to_json_number does, at any depth.
nlohmann::json with_json_numbers(nlohmann::json value);

}  // namespace dpsosp
