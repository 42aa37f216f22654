// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/provenance.hpp"

#include <regex>

#include <gtest/gtest.h>
#include <unistd.h>

namespace dpsosp {
namespace {

TEST(Provenance, SaysWhatBuiltTheProgramAndWhereItRuns) {
  const Provenance p = provenance();
  EXPECT_TRUE(std::regex_match(p.build.program_version, std::regex(R"(\d+\.\d+\.\d+)")));
  EXPECT_TRUE(std::regex_match(p.build.compiler, std::regex(R"((GCC|Clang) \d+\.\d+\.\d+)")));
  EXPECT_NE(p.build.flags.find("-ffp-contract=off"), std::string::npos) << p.build.flags;
  EXPECT_EQ(p.build.flags.find("-W"), std::string::npos) << p.build.flags;
  EXPECT_EQ(p.build.binary.size(), 64U);
  EXPECT_FALSE(p.build.instruction_set.empty());
  EXPECT_FALSE(p.cpu.empty());
  EXPECT_EQ(p.build, provenance().build);
}

TEST(Provenance, NamesNoHost) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof(host) - 1), 0);
  EXPECT_EQ(nlohmann::json(provenance()).dump().find(host), std::string::npos);
}

TEST(Provenance, TimeIsUtcToTheSecond) {
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}

TEST(Provenance, ABuildIsOneLine) {
  const Build build{.program_version = "0.1.0",
                    .binary = "0123456789abcdef",
                    .compiler = "GCC 12.2.0",
                    .flags = "-O3",
                    .instruction_set = "x86-64 avx2"};
  EXPECT_EQ(to_string(build), "0.1.0, GCC 12.2.0, x86-64 avx2, -O3, binary 0123456789ab");
}

}  // namespace
}  // namespace dpsosp
