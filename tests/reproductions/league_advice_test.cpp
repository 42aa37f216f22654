// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "advice.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/public_facts.hpp"

namespace dpsosp::league::league_advice_test {
namespace {

// Five instances at each place; DP-SGD leads at d = 8 and DP-Adam at d = 2.
const AdviceData& data() {
  static const AdviceData all(
      "group,d,n,algorithm,levels over G\n"
      "escapes,2,3000,start,0.5 0.5 0.5 0.5 0.5\n"
      "escapes,2,3000,abadi-2016/dp-adam,0.1 0.11 0.12 0.13 0.14\n"
      "escapes,2,3000,abadi-2016/dp-sgd,0.2 0.22 0.24 0.26 0.28\n"
      "escapes,8,3000,start,0.5 0.5 0.5 0.5 0.5\n"
      "escapes,8,3000,abadi-2016/dp-adam,0.3 0.3 0.3 0.3 0.3\n"
      "escapes,8,30000,start,0.5 0.4 0.5 0.5 0.5\n"
      "escapes,8,30000,abadi-2016/dp-adam,0.02 0.01 0.03 0.01 0.02\n"
      "escapes,8,30000,abadi-2016/dp-sgd,0.01 0.02 0.01 0.02 0.015\n"
      "tensors,8,30000,start,0.5 0.5 0.5 0.5 0.5\n"
      "tensors,8,30000,abadi-2016/dp-adam,0.5 0.5 0.499 0.5 0.5\n"
      "tensors,8,30000,abadi-2016/dp-sgd,0.5 0.5 0.5 0.5 0.5\n");
  return all;
}

Advice about(const AdviceQuestion& question) { return advise(data(), question).front(); }

TEST(LeagueAdvice, ReadsWhatItWrites) {
  EXPECT_EQ(AdviceData(data().csv()).csv(), data().csv());
  EXPECT_EQ(data().places().size(), 4U);
  EXPECT_THROW(AdviceData("escapes,2,3000,start,\n"), InputError);
}

TEST(LeagueAdvice, TakesThePlaceWithTheNearestNoise) {
  const AdviceQuestion many{.records = 40000, .dimension = 7, .epsilon = 1, .kind = "escapes"};
  EXPECT_EQ(about(many).records, 30000);
  EXPECT_EQ(about(many).dimension, 8);
  EXPECT_NEAR(about(many).equivalent, 40000, 1e-6);
  EXPECT_EQ(about({.records = 4000, .dimension = 8, .kind = "escapes"}).records, 3000);
  AdviceQuestion private_one = many;
  private_one.epsilon = 0.05;  // as little noise as some 2400 records at ε = 1
  private_one.dimension = 2;
  EXPECT_EQ(about(private_one).records, 3000);
  EXPECT_NEAR(about(private_one).equivalent, 2400, 50);
}

TEST(LeagueAdvice, NamesWhoCannotBeToldFromTheBest) {
  const Advice alone = about({.records = 3000, .dimension = 2, .kind = "escapes"});
  ASSERT_EQ(alone.choices.size(), 1U) << "every instance has one ratio of the two";
  EXPECT_EQ(alone.choices.front().algorithm, "abadi-2016/dp-adam");
  EXPECT_EQ(alone.choices.front().level, 0.12);
  EXPECT_EQ(alone.choices.front().low, 0.1);
  EXPECT_EQ(alone.choices.front().high, 0.14);
  const Advice both = about({.records = 30000, .dimension = 8, .kind = "escapes"});
  ASSERT_EQ(both.choices.size(), 2U);
  EXPECT_EQ(both.choices.front().algorithm, "abadi-2016/dp-sgd") << "the least geometric mean";
  EXPECT_FALSE(both.hopeless);
}

TEST(LeagueAdvice, SaysWhereNothingCanBeDone) {
  const auto all = advise(data(), {.records = 30000, .dimension = 8});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].hopeless);
  EXPECT_TRUE(all[1].hopeless);
  EXPECT_EQ(all[1].kind, "tensors");
  EXPECT_THROW(advise(data(), {.records = 1, .dimension = 1, .kind = "escape"}), InputError);
}

TEST(LeagueAdvice, PutsConstantsIntoSettings) {
  const std::map<std::string, double> constants{
      {"lipschitz", 3}, {"smoothness", 4}, {"suboptimality", 16}};
  EXPECT_EQ(number_of("0.3 G", constants), "0.9");
  EXPECT_EQ(number_of("0.5 M", constants), "2");
  EXPECT_EQ(number_of("2/M", constants), "0.5");
  EXPECT_EQ(number_of("0.1 sqrt(B/M)", constants), "0.2");
  EXPECT_EQ(number_of("start", constants), "start");
  EXPECT_THROW(number_of("1 G", {}), MissingConstant);
}

TEST(LeagueAdvice, IsScoredOnInstancesThatItHasNotSeen) {
  const AdviceData fitted(
      "group,d,n,algorithm,levels over G\n"
      "escapes,8,30000,start,1 1\n"
      "escapes,8,30000,abadi-2016/dp-adam,0.1 0.1\n"
      "escapes,8,30000,abadi-2016/dp-sgd,0.2 0.2\n");
  const AdviceData scored(
      "group,d,n,algorithm,levels over G\n"
      "escapes,8,30000,start,1 1\n"
      "escapes,8,30000,abadi-2016/dp-adam,0.3 0.3\n"
      "escapes,8,30000,abadi-2016/dp-sgd,0.1 0.1\n");
  const plots::Table table = regret_table(fitted, scored);
  for (const plots::Row& row : table.row_groups.front().rows) {
    const double all = std::get<plots::Number>(row.cells[dimensions().size()].content).value;
    EXPECT_NEAR(all, row.label == "abadi-2016/dp-sgd" ? 1 : 3, 1e-12) << row.label;
  }
}

TEST(LeagueAdvice, IsBuiltInForEveryPlaceOfTheDivision) {
  for (const Place& place : places(Scale::quick)) {
    const auto found = committed_advice().places().find(
        {.group = place.group->id, .dimension = place.dimension, .records = place.records});
    ASSERT_NE(found, committed_advice().places().end()) << place.group->id;
    for (const Method& method : methods())
      EXPECT_TRUE(found->second.levels.contains(method.algorithm)) << method.algorithm;
  }
}

}  // namespace
}  // namespace dpsosp::league::league_advice_test
