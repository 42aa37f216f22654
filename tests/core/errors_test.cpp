// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/errors.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/utf8.hpp"

namespace dpsosp::errors_test {
namespace {

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Errors, SuggestsNearestNameForTypo) {
  const std::vector<std::string> names{"matrix-sensing", "cosine-saddle", "cosine-minimax"};
  EXPECT_EQ(message_of([&] { reject_unknown("problem", "matrx-sensing", names); }),
            "unknown problem 'matrx-sensing'; did you mean 'matrix-sensing'?");
}

TEST(Errors, ReportsBadValueWithPlaceNameAndConstraint) {
  EXPECT_EQ(message_of([] { reject("run", "epsilon", -1.0, "> 0"); }),
            "run: epsilon = -1, expected > 0");
}

TEST(Errors, EscapesControlCharactersInMessages) {
  EXPECT_EQ(message_of([] { throw InputError("a\nb\tc\r\x1b[1m\x7f ε"); }),
            "a\\nb\\tc\\x0d\\x1b[1m\\x7f ε");
}

TEST(Errors, EscapesCharactersThatSteerTerminals) {
  EXPECT_STREQ(InputError("a\xc2\x9b"
                          "2J")
                   .what(),
               "a\\xc2\\x9b2J");
  EXPECT_STREQ(InputError("\xe2\x80\xae").what(), "\\xe2\\x80\\xae");
  EXPECT_STREQ(InputError("\xe2\x81\xa9").what(), "\\xe2\\x81\\xa9");
  for (const char* shown : {"\xc2\xa1", "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa"})
    EXPECT_STREQ(InputError(shown).what(), shown);
}

TEST(Errors, ShowsWhatCannotBeSeen) {
  for (const auto& [unseen, shown] : {std::pair{"\xc2\xa0", "\\xc2\\xa0"},
                                      {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},
                                      {"\xe2\x80\xa9", "\\xe2\\x80\\xa9"},
                                      {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"}})
    EXPECT_STREQ(InputError(unseen).what(), shown);
}

TEST(Errors, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(message_of([] { throw InputError("a\xff\xc3\xa9\xc3"); }), "a\\xff\xc3\xa9\\xc3");
  for (const std::string_view good :
       {"", "abc", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  // Cut off, alone, overlong, surrogates, beyond U+10FFFF.
  for (const std::string_view bad : {"\xc2", "\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                                     "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(Errors, ReturnsEmptyNearestNameWithoutCandidates) { EXPECT_EQ(nearest("x", {}), ""); }

TEST(Errors, FindsNearestNameByLastPartAndByBeginning) {
  const std::vector<std::string> keys{"reference/spider", "wang-ye-xu-2017/dp-gd", "league/tuned"};
  EXPECT_EQ(nearest("dp-gd", keys), "wang-ye-xu-2017/dp-gd");
  EXPECT_EQ(nearest("dp-dg", keys), "wang-ye-xu-2017/dp-gd");
  EXPECT_EQ(nearest("league", keys), "league/tuned");
}

TEST(Errors, SuggestsByLettersWithoutCaseAndNeverByNumbers) {
  const std::vector<std::string> columns{"a", "b", "y"};
  EXPECT_EQ(nearest("Y", columns), "y");
  EXPECT_EQ(nearest("z", columns), "") << "one letter for another has nothing in common";
  EXPECT_EQ(nearest("AGE", std::vector<std::string>{"wage", "age", "page"}), "age");
  EXPECT_EQ(nearest("aGE", std::vector<std::string>{"age", "AGE"}), "AGE") << "the nearer case";
  EXPECT_EQ(nearest("5", std::vector<std::string>{"1", "2", "3", "4"}), "");
  EXPECT_EQ(nearest("12", std::vector<std::string>{"1", "2", "13"}), "");
  EXPECT_EQ(nearest("", columns), "");
}

std::string refusal_of_unknown(const std::vector<std::string>& keys) {
  try {
    reject_unknown("sweep", "nope", keys);
  } catch (const InputError& e) {
    return e.what();
  }
}

TEST(Errors, SuggestsNothingFarFromEveryNameButListsFew) {
  EXPECT_EQ(nearest("nope", std::vector<std::string>{"zhou-2020", "lowy-2024-ramp"}), "");
  EXPECT_EQ(refusal_of_unknown({}), "unknown sweep 'nope'");
  EXPECT_EQ(refusal_of_unknown({"zhou-2020"}), "unknown sweep 'nope', expected zhou-2020");
  EXPECT_EQ(refusal_of_unknown({"zhou-2020", "lowy-2024-ramp"}),
            "unknown sweep 'nope', expected one of zhou-2020, lowy-2024-ramp");
  EXPECT_EQ(refusal_of_unknown(std::vector<std::string>(17, "zhou-2020")), "unknown sweep 'nope'");
}

}  // namespace
}  // namespace dpsosp::errors_test
