// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/number.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::plots {
namespace {

struct Decimal {
  bool negative = false;
  std::string mantissa;  // digits and a point
  std::optional<int> exponent;
};

Decimal decimal(double value, NumberFormat format) {
  if (!std::isfinite(value)) reject("number", "value", value, "a finite number");
  if (!(format.digits >= 1 && format.digits <= 17))
    reject("number", "digits", format.digits, "an integer in [1, 17]");
  if (value == 0) return {.mantissa = "0", .exponent = {}};
  const double size = std::abs(value);
  std::string text = fmt::format("{:.{}e}", size, format.digits - 1);
  const auto e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));  // after rounding: 9.99 has 1 at two digits
  const bool power = format.scientific || exponent < -4 || exponent >= format.digits;
  text.resize(e);
  if (!power) text = fmt::format("{:.{}f}", size, format.digits - 1 - exponent);
  Decimal result{.negative = value < 0, .mantissa = std::move(text), .exponent = {}};
  if (power) result.exponent = exponent;
  return result;
}

}  // namespace

std::string plain_number(double value, NumberFormat format) {
  const Decimal d = decimal(value, format);
  const std::string sign = d.negative ? "-" : "";
  return d.exponent ? fmt::format("{}{}e{}", sign, d.mantissa, *d.exponent) : sign + d.mantissa;
}

std::string latex_number(double value, NumberFormat format) {
  const Decimal d = decimal(value, format);
  const std::string sign = d.negative ? "-" : "";
  if (!d.exponent) return sign + d.mantissa;
  return fmt::format("{}{}\\times10^{{{}}}", sign, d.mantissa, *d.exponent);
}

}  // namespace dpsosp::plots
