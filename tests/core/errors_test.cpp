// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/errors.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

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

TEST(Errors, ReturnsEmptyNearestNameWithoutCandidates) { EXPECT_EQ(nearest("x", {}), ""); }

TEST(Errors, FindsNearestNameByLastPartAndByBeginning) {
  const std::vector<std::string> keys{"reference/spider", "wang-ye-xu-2017/dp-gd", "league/benign"};
  EXPECT_EQ(nearest("dp-gd", keys), "wang-ye-xu-2017/dp-gd");
  EXPECT_EQ(nearest("dp-dg", keys), "wang-ye-xu-2017/dp-gd");
  EXPECT_EQ(nearest("league", keys), "league/benign");
}

TEST(Errors, SuggestsNothingFarFromEveryName) {
  const std::vector<std::string> keys{"zhou-2020", "lowy-2024-ramp"};
  EXPECT_EQ(nearest("nope", keys), "");
  EXPECT_THROW(
      {
        try {
          reject_unknown("sweep", "nope", keys);
        } catch (const InputError& e) {
          EXPECT_STREQ(e.what(), "unknown sweep 'nope'");
          throw;
        }
      },
      InputError);
}

}  // namespace
}  // namespace dpsosp::errors_test
