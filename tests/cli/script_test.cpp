// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "program.hpp"

// ./run as far as it goes without installing or building anything.
namespace dpsosp::script_test {
namespace {

const std::string script = DPSOSP_RUN_SCRIPT;

TEST(RunScript, HelpListsEveryCommandOnStdout) {
  for (const char* word : {"--help", "-h", "help"}) {
    const Result r = run_program(script, {word});
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.err, "");
    for (const char* command : {"reproduce", "test", "build", "benchmark", "data", "dpsosp"})
      EXPECT_NE(r.out.find(std::string("\n  ") + command + " "), std::string::npos) << command;
  }
}

TEST(RunScript, RunsThroughSymlink) {
  const ScratchFolder folder;
  std::filesystem::create_symlink(script, folder / "link");
  EXPECT_EQ(run_program(folder / "link", {"--help"}).out, run_program(script, {"--help"}).out);
}

TEST(RunScript, RejectsUnknownCommandAndListsKnownOnes) {
  expect_one_error_line(run_program(script, {"reprduce"}), 2, "unknown command 'reprduce'");
  expect_one_error_line(run_program(script, {"reprduce"}), 2, "reproduce, test, build");
}

TEST(RunScript, RejectsUnknownOptionInOneLine) {
  expect_one_error_line(run_program(script, {"test", "--al"}), 2, "expected --all or --neural");
  expect_one_error_line(run_program(script, {"build", "--nativ"}), 2, "did you mean '--native'");
}

TEST(RunScript, PrintsUsageToStderrWithoutCommand) {
  const Result r = run_program(script, {});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(r.err.starts_with("usage: ./run COMMAND"));
}

}  // namespace
}  // namespace dpsosp::script_test
