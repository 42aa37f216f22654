// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/names.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::names_test {
namespace {

const std::vector<Named> algorithms{{"abadi-2016/dp-sgd", "DP-SGD"},
                                    {"avdiukhin-2024/dp-sgd", "clipped SGD"},
                                    {"arora-2023/dp-spider", "DP-SPIDER"},
                                    {"spider", ""}};

std::string resolved(std::string_view word, std::string_view list = "dpsosp list algorithms") {
  return resolve_name("algorithm", word, algorithms, list);
}

std::string refusal(std::string_view word, std::string_view list = "dpsosp list algorithms") {
  try {
    return "resolved to " + resolved(word, list);
  } catch (const InputError& e) {
    return e.what();
  }
}

TEST(ResolveName, TakesNameLastPartAndTitleWithoutRegardToCase) {
  for (const char* word :
       {"arora-2023/dp-spider", "Arora-2023/DP-SPIDER", "dp-spider", "Dp-Spider", "DP-SPIDER"})
    EXPECT_EQ(resolved(word), "arora-2023/dp-spider") << word;
  EXPECT_EQ(resolved("clipped sgd"), "avdiukhin-2024/dp-sgd");
}

TEST(ResolveName, PrefersTheExactName) { EXPECT_EQ(resolved("spider"), "spider"); }

TEST(ResolveName, ListsAllThatAWordMayMean) {
  EXPECT_EQ(refusal("dp-sgd"),
            "algorithm 'dp-sgd' may be abadi-2016/dp-sgd, avdiukhin-2024/dp-sgd; expected one of "
            "them");
}

TEST(ResolveName, OffersTheNearestNameOrTheList) {
  EXPECT_EQ(refusal("dp-spidr"),
            "unknown algorithm 'dp-spidr'; did you mean 'arora-2023/dp-spider'?");
  EXPECT_EQ(refusal("xyzzy"), "unknown algorithm 'xyzzy'; see dpsosp list algorithms");
  EXPECT_EQ(refusal("xyzzy", ""),
            "unknown algorithm 'xyzzy', expected one of abadi-2016/dp-sgd, avdiukhin-2024/dp-sgd, "
            "arora-2023/dp-spider, spider");
  EXPECT_EQ(refusal(""), "unknown algorithm ''; see dpsosp list algorithms");
}

}  // namespace
}  // namespace dpsosp::names_test
