// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/json_number.hpp"

#include <cmath>
#include <limits>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

nlohmann::json to_json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double from_json_number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  reject("result", "number", value.dump(), R"(a number, "nan", "inf" or "-inf")");
}

nlohmann::json with_json_numbers(nlohmann::json value) {
  if (value.is_number_float()) return to_json_number(value.get<double>());
  if (value.is_structured())
    for (nlohmann::json& child : value) child = with_json_numbers(std::move(child));
  return value;
}

}  // namespace dpsosp
