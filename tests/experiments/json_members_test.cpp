// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/json_members.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::json_members_test {
namespace {

using nlohmann::json;

enum class Colour { red, green };
constexpr auto words_of(Colour) {
  using enum Colour;
  return word_list<Colour>("colour", {{red, "red"}, {green, "green"}});
}

struct Point {
  double x = 0;
  int k = 0;
};
DPSOSP_MEMBERS(Point, x, k);

struct All {
  bool truth = false;
  std::uint64_t seed = 0;
  std::string text;
  std::vector<Point> points;
  std::array<double, 2> pair{};
  std::map<std::string, double> table;
  std::optional<double> maybe;
  Colour colour = Colour::red;
};
DPSOSP_MEMBERS(All, truth, seed, text, points, pair, table, maybe, colour);

std::string refusal(const json& in) {
  try {
    read_json<All>(in, {"all"});
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

const json written = write_json(All{.truth = true,
                                    .seed = 1ULL << 63U,
                                    .text = "a",
                                    .points = {{.x = std::numeric_limits<double>::infinity()}},
                                    .pair = {1, 2.5},
                                    .table = {{"a", 1}},
                                    .maybe = {},
                                    .colour = Colour::green});

json with(const char* key, json value) {
  json in = written;
  in[key] = std::move(value);
  return in;
}

TEST(JsonMembers, AreWrittenByNameWithNumbersAndWordsAsResultsHaveThem) {
  EXPECT_EQ(written.dump(),
            R"({"colour":"green","pair":[1.0,2.5],"points":[{"k":0,"x":"inf"}],)"
            R"("seed":9223372036854775808,"table":{"a":1.0},"text":"a","truth":true})");
}

TEST(JsonMembers, AreReadBack) {
  const json in = with("maybe", "nan");
  const All all = read_json<All>(in, {"all"});
  EXPECT_TRUE(std::isnan(all.maybe.value()));
  EXPECT_EQ(write_json(all), in);
  EXPECT_FALSE(read_json<All>(with("maybe", nullptr), {"all"}).maybe.has_value());
}

TEST(JsonMembers, RefusalsNameStructAndKey) {
  json missing = written;
  missing.erase("pair");
  EXPECT_EQ(refusal(missing), "all: pair = nothing, expected an array");
  EXPECT_EQ(refusal(with("colours", 1)), "unknown key of all 'colours'; did you mean 'colour'?");
  EXPECT_EQ(refusal(with("truth", 1)), "all: truth = 1, expected true or false");
  EXPECT_EQ(refusal(with("seed", -1)), "all: seed = -1, expected an integer >= 0");
  EXPECT_EQ(refusal(with("text", 1)), "all: text = 1, expected a text");
  EXPECT_EQ(refusal(with("pair", {1, "x"})),
            R"(all: pair.1 = "x", expected a number, "nan", "inf" or "-inf")");
  EXPECT_EQ(refusal(with("points", json::array({{{"x", 1}, {"k", 0.5}}}))),
            "all: points.0.k = 0.5, expected an integer");
  EXPECT_EQ(refusal(with("points", json::array({{{"x", 1}, {"k", 1LL << 40U}}}))),
            "all: points.0.k = 1099511627776, expected an integer");
  EXPECT_EQ(refusal(with("colour", "gren")), "unknown colour 'gren'; did you mean 'green'?");
  EXPECT_EQ(refusal(json::array()), "all: value = [], expected an object");
}

}  // namespace
}  // namespace dpsosp::json_members_test
