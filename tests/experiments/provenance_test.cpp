// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/provenance.hpp"

#include <cctype>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace dpsosp::provenance_test {
namespace {

/// The text with a 0 in place of every run of digits.
std::string shape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit || !out.ends_with('0')) out += digit ? '0' : c;
  }
  return out;
}

TEST(Provenance, RecordsBuildAndMachine) {
  const Provenance p = provenance();
  EXPECT_EQ(shape(p.build.program_version), "0.0.0");
  EXPECT_EQ(shape(p.build.compiler).substr(p.build.compiler.find(' ')), " 0.0.0");
  EXPECT_NE(p.build.flags.find("-ffp-contract=off"), std::string::npos) << p.build.flags;
  EXPECT_EQ(p.build.flags.find("-Wall"), std::string::npos) << p.build.flags;
  EXPECT_EQ(p.build.binary.size(), 64U);
  EXPECT_FALSE(p.build.instruction_set.empty());
  EXPECT_FALSE(p.cpu.empty());
  EXPECT_EQ(p.build, provenance().build);
}

TEST(Provenance, OmitsHostName) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof(host) - 1), 0);
  EXPECT_EQ(nlohmann::json(provenance()).dump().find(host), std::string::npos);
}

TEST(Provenance, FormatsUtcTimeToTheSecond) {
  EXPECT_EQ(shape(utc_now()), "0-0-0T0:0:0Z");
  EXPECT_EQ(utc_now().size(), 20U);
}

TEST(Provenance, PrintsBuildInOneLine) {
  const Build build{.program_version = "0.1.0",
                    .binary = "0123456789abcdef",
                    .compiler = "GCC 12.2.0",
                    .flags = "-O3",
                    .instruction_set = "x86-64 avx2"};
  EXPECT_EQ(to_string(build), "0.1.0, GCC 12.2.0, x86-64 avx2, -O3, binary 0123456789ab");
}

}  // namespace
}  // namespace dpsosp::provenance_test
