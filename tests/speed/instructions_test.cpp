// SPDX-License-Identifier: Apache-2.0
// Times vary from run to run; the instructions that callgrind counts do not.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/csv.hpp"
#include "paths.hpp"

namespace dpsosp::instructions_test {
namespace {

constexpr double slack = 0.05;

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe.get()) != nullptr) text += part.data();
  return text;
}

std::optional<double> instructions(const std::string& kernel) {
  const std::string text = output_of(
      fmt::format("DPSOSP_SIMD=avx2 valgrind --tool=callgrind --collect-atstart=no "
                  "--toggle-collect=measured_work --callgrind-out-file=/dev/null {} {} 2>&1",
                  built_program("instruction_kernels"),
                  kernel));
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("Collected : ([0-9]+)"))) {
    ADD_FAILURE() << text;
    return {};
  }
  return std::stod(found[1]);
}

/// A row a kernel: its name, the instructions of one call.
TEST(Instructions, OfEachKernelStayWithinFivePercent) {
  if (std::system("valgrind --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no valgrind";
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "counted for AVX2";
  std::ifstream file(in_checkout("tests/speed/instructions.csv"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string table = text.str();
  const std::vector<CsvRow> rows =
      read_csv_text(in_checkout("tests/speed/instructions.csv"), table);
  ASSERT_GE(rows.size(), 11U);
  const std::string build = fmt::format("{} {}", COMPILER, BUILD);
  if (rows[0].fields.at(1) != build)
    GTEST_SKIP() << "counted for " << rows[0].fields[1] << ", not for " << build;
  std::string names = output_of(built_program("instruction_kernels")), listed;
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const std::string& kernel = rows[k].fields.at(0);
    listed += kernel + '\n';
    const auto count = instructions(kernel);
    ASSERT_TRUE(count);
    const double expected = std::stod(rows[k].fields.at(1));
    EXPECT_LE(std::abs(*count / expected - 1), slack)
        << fmt::format("{},{:.0f}: where the change is meant, write this to {}",
                       kernel,
                       *count,
                       in_checkout("tests/speed/instructions.csv"));
  }
  EXPECT_EQ(names, listed);
}

}  // namespace
}  // namespace dpsosp::instructions_test
