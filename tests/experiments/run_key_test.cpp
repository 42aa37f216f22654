// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run_key.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/experiments/json_number.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::run_key_test {
namespace {

using nlohmann::json;

RunKey key_of(const json& number) { return RunKey(json{{"x", number}}); }

TEST(RunKey, HashesCanonicalTextWithSha256) {  // digests from coreutils sha256sum
  const RunKey empty{json::object()};
  EXPECT_EQ(empty.text(), "{}");
  EXPECT_EQ(empty.hash(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  const RunKey key(
      json::parse(R"({"b": [1.50, true, null, "é\n"], "a": {"z": -0.0, "y": 1e300}})"));
  EXPECT_EQ(key.text(), R"({"a":{"y":1e+300,"z":0},"b":[1.5,true,null,"é\n"]})");
  EXPECT_EQ(key.hash(), "458a386232909fe25e5d39f89e798d46c800c82172a9c517528bb30eb21f6ba0");
}

TEST(RunKey, IgnoresOrderOfNames) {
  EXPECT_TRUE(rc::check([](std::vector<double> values) {
    std::string forward, backward;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::string member = json(std::to_string(k)).dump() + ":" + json(values[k]).dump();
      forward += (k == 0 ? "" : ", ") + member;
      backward = member + (k == 0 ? "" : " ,") + backward;
    }
    const RunKey a(json::parse("{" + forward + "}"));
    const RunKey b(json::parse("{" + backward + "}"));
    RC_ASSERT(a == b);
    RC_ASSERT(a.hash() == b.hash());
  }));
}

TEST(RunKey, DependsOnListOrder) { EXPECT_NE(key_of({1, 2}).hash(), key_of({2, 1}).hash()); }

TEST(RunKey, AgreesForDoublesExactlyIfEqual) {
  EXPECT_TRUE(rc::check([](std::uint64_t bits, std::uint64_t other_bits, std::uint8_t choice) {
    const double a = std::bit_cast<double>(bits);
    const double candidates[] = {a, std::nextafter(a, 0.0), -a, std::bit_cast<double>(other_bits)};
    const double b = candidates[choice % 4];
    RC_PRE(std::isfinite(a) && std::isfinite(b));
    RC_ASSERT((key_of(a).hash() == key_of(b).hash()) == (a == b));
  }));
}

TEST(RunKey, AgreesForIntegerAndDoubleExactlyIfEqual) {
  EXPECT_TRUE(rc::check([](std::uint64_t raw, std::uint8_t shift) {
    const std::uint64_t k = raw << (shift % 64) >> (shift % 7);
    const auto rounded = static_cast<double>(k);
    // long double has 64 bits of mantissa on x86-64, so the comparison is exact
    static_assert(std::numeric_limits<long double>::digits >= 64);
    const bool same = static_cast<long double>(k) == static_cast<long double>(rounded);
    RC_ASSERT((key_of(k).hash() == key_of(rounded).hash()) == same);
    const auto negative = static_cast<std::int64_t>(k);
    const bool same_negative = static_cast<long double>(negative) ==
                               static_cast<long double>(static_cast<double>(negative));
    RC_ASSERT((key_of(negative).hash() == key_of(static_cast<double>(negative)).hash()) ==
              same_negative);
  }));
}

TEST(RunKey, WritesIntegersInFullUpToTheirLimits) {
  EXPECT_EQ(key_of(0x1p63).text(), R"({"x":9223372036854775808})");
  EXPECT_EQ(key_of(-0x1p63).text(), R"({"x":-9223372036854775808})");
  EXPECT_EQ(key_of(1e18).text(), R"({"x":1000000000000000000})");
  EXPECT_EQ(key_of(0x1p64).text(), R"({"x":1.8446744073709552e+19})");
  EXPECT_EQ(key_of(1e-7).text(), R"({"x":1e-07})");
  EXPECT_EQ(key_of(0.1).text(), R"({"x":0.1})");
}

TEST(RunKey, AgreesForAllSpellingsOfOneNumber) {
  const json integer = 1, real = 1.0, zero = 0.0, negative_zero = -0.0;
  EXPECT_EQ(key_of(integer).hash(), key_of(real).hash());
  EXPECT_EQ(key_of(zero).hash(), key_of(negative_zero).hash());
  EXPECT_NE(integer.dump(), real.dump());
  EXPECT_NE(zero.dump(), negative_zero.dump());
}

TEST(RunKey, DiffersBetweenJsonTypes) {
  const std::vector<json> values{0, "0", false, nullptr, json::array(), json::object(), ""};
  for (const json& a : values)
    for (const json& b : values)
      EXPECT_EQ(key_of(a).hash() == key_of(b).hash(), &a == &b) << a << " " << b;
}

TEST(RunKey, RoundTripsDescription) {
  EXPECT_TRUE(rc::check([](std::uint64_t bits) {
    const double x = std::bit_cast<double>(bits);
    RC_PRE(std::isfinite(x));
    const RunKey key = key_of(x);
    const json description = key.description();
    RC_ASSERT(RunKey(description) == key);
    RC_ASSERT(description["x"].get<double>() == x);
  }));
}

TEST(RunKey, RejectsNonFiniteNumberWithItsPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json(nan).dump(), json(inf).dump());  // the collision that is refused: both are null
  EXPECT_EQ(
      refusal_of([&] {
        RunKey(json{{"budget", {{"epsilon", inf}}}});
      }),
      "run description: /budget/epsilon = inf, expected a finite number or to_json_number of it");
  EXPECT_NE(refusal_of([&] { RunKey(json{{"list", {1.0, nan}}}); }), "");
  EXPECT_NE(key_of(to_json_number(inf)).hash(), key_of(to_json_number(nan)).hash());
}

TEST(RunKey, RejectsNonObjectsAndNonUtf8Text) {
  EXPECT_EQ(refusal_of([] { RunKey(json::array({1})); }),
            "run description: type = array, expected object");
  EXPECT_NE(refusal_of([] { RunKey(json(3)); }), "");
  EXPECT_EQ(refusal_of([] {
              RunKey(json{{"name", "\xff"}});
            }),
            "run description: /name is not UTF-8 text");
  EXPECT_NE(refusal_of([] { RunKey(json{{"bytes", json::binary({1, 2})}}); }), "");
}

}  // namespace
}  // namespace dpsosp::run_key_test
