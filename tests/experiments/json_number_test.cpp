// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/json_number.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "temporary_folder.hpp"

namespace dpsosp::json_number_test {
namespace {

using nlohmann::json;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double through_text(double value) {
  return from_json_number(json::parse(to_json_number(value).dump()));
}

TEST(JsonNumber, RoundTripsNonNanDoublesBitForBit) {
  EXPECT_TRUE(rc::check([](std::uint64_t bits) {
    const double x = std::bit_cast<double>(bits);
    RC_PRE(!std::isnan(x));
    RC_ASSERT(std::bit_cast<std::uint64_t>(through_text(x)) == bits);
  }));
  for (const double x : {0.0, -0.0, 1e300, -1e300, 5e-324, 1.7976931348623157e308, 0.1, inf, -inf})
    EXPECT_EQ(std::bit_cast<std::uint64_t>(through_text(x)), std::bit_cast<std::uint64_t>(x)) << x;
}

TEST(JsonNumber, RoundTripsNanUnlikePlainDump) {
  EXPECT_TRUE(std::isnan(through_text(nan)));
  EXPECT_TRUE(json::parse(json(nan).dump()).is_null());
}

TEST(JsonNumber, ConvertsNumbersAtAnyDepth) {
  const json result = {{"alpha", nan}, {"trace", {1.5, inf, {{"last", -inf}}}}, {"name", "x"}};
  EXPECT_EQ(with_json_numbers(result).dump(),
            R"({"alpha":"nan","name":"x","trace":[1.5,"inf",{"last":"-inf"}]})");
}

TEST(JsonNumber, RejectsNonNumbers) {
  EXPECT_EQ(refusal_of([] { from_json_number("NaN"); }),
            R"(result: number = "NaN", expected a number, "nan", "inf" or "-inf")");
  EXPECT_NE(refusal_of([] { from_json_number(nullptr); }), "");
}

}  // namespace
}  // namespace dpsosp::json_number_test
