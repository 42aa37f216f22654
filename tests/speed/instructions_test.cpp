// SPDX-License-Identifier: Apache-2.0
// Times vary from run to run; the instructions that callgrind counts do not.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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
// Whatever processor the suite runs as.
constexpr const char* valgrind = "GLIBC_TUNABLES= DPSOSP_SIMD=avx2 valgrind";

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe.get()) != nullptr) text += part.data();
  return text;
}

std::optional<double> instructions(const std::string& kernel) {
  const std::string text = output_of(
      fmt::format("{} --tool=callgrind --collect-atstart=no "
                  "--toggle-collect=measured_work --callgrind-out-file=/dev/null {} {} 2>&1",
                  valgrind, built_program("instruction_kernels"), kernel));
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
  const std::string program = built_program("instruction_kernels"), names = output_of(program);
  const std::string emulated =
      output_of(fmt::format("{} -q --tool=none {} 2>&1", valgrind, program));
  if (!emulated.ends_with(names))
    GTEST_SKIP() << "valgrind cannot run it: " << emulated.substr(0, emulated.find('\n'));
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
  std::string listed;
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const std::string& kernel = rows[k].fields.at(0);
    listed += kernel + '\n';
    const auto count = instructions(kernel);
    ASSERT_TRUE(count);
    const double expected = std::stod(rows[k].fields.at(1));
    EXPECT_LE(std::abs(*count / expected - 1), slack)
        << fmt::format("{},{:.0f}: where the change is meant, write this to {}", kernel, *count,
                       in_checkout("tests/speed/instructions.csv"));
  }
  EXPECT_EQ(names, listed);
}

/// As valgrind 3.19 does on processors that are newer: an illegal opcode in a library's start.
TEST(Instructions, AreNotCountedWhereValgrindStopsBeforeMain) {
  if (__builtin_cpu_supports("avx2") == 0) GTEST_SKIP() << "counted for AVX2";
  const std::filesystem::path folder = testing::TempDir() + "no-valgrind";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "valgrind") << "#!/bin/sh\n"
                                        "[ $1 = --version ] || echo unhandled instruction\n";
  std::filesystem::permissions(folder / "valgrind", std::filesystem::perms::owner_all);
  const std::string text = output_of(
      fmt::format("PATH='{}:'$PATH {} --gtest_filter='*FivePercent' 2>&1", folder.string(),
                  std::filesystem::read_symlink("/proc/self/exe").string()));
  EXPECT_NE(text.find("valgrind cannot run it: unhandled instruction\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("[  SKIPPED ] 1 test"), std::string::npos) << text;
}

}  // namespace
}  // namespace dpsosp::instructions_test
