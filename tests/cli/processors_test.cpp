// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

// The C library chooses its elementary functions by the processor. Told that fused multiply-adds
// and wide registers are absent, it shows what another processor would compute.
namespace dpsosp::processors_test {
namespace {

nlohmann::json run_on(const std::string& processor, const std::string& what) {
  std::vector<std::string> all{"GLIBC_TUNABLES=glibc.cpu.hwcaps=" + processor,
                               built_program("dpsosp")};
  for (const std::string& word : words("run " + what +
                                       " --records 2000 --epsilon 1 --delta 1e-5 --seed 3 "
                                       "--json --quiet"))
    all.push_back(word);
  const Result result = run_program("/usr/bin/env", all);
  EXPECT_EQ(result.code, 0) << result.err;
  return nlohmann::json::parse(result.out);
}

constexpr const char* older = "-AVX2,-FMA,-FMA4,-AVX512F";

TEST(Processors, GiveTheSameBitsWhereObjectivesAreAlgebraic) {
  for (const char* algorithm : {"ganesh-2023/stochastic-spider", "liu-talwar-2025/adaptive-spider",
                                "arora-2023/tree-spider", "lowy-2024/exponential-mechanism"}) {
    const std::string what = std::string("--algorithm ") + algorithm + " --problem double-well";
    EXPECT_EQ(run_on("", what), run_on(older, what)) << algorithm;
  }
}

/// A run that leaves a saddle without noise makes much of a last digit of a sine or a power.
TEST(Processors, GiveTheSameBitsWhereObjectivesHaveSines) {
  for (const char* what :
       {"--algorithm reference/gradient-descent-ascent --problem cosine-minimax",
        "--algorithm zhang-2025/private-diff --problem cosine-minimax",
        "--algorithm ganesh-2023/discrete-exponential --problem ripple-location --dimension 4",
        "--algorithm reference/perturbed-gd --problem cosine-saddle"})
    EXPECT_EQ(run_on("", what), run_on(older, what)) << what;
}

}  // namespace
}  // namespace dpsosp::processors_test
