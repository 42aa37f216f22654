// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "paths.hpp"
#include "program.hpp"

// The exhibits with networks in the program without network code.
namespace dpsosp::networks_test {
namespace {

namespace fs = std::filesystem;

Result reproduce(const ScratchFolder& folder, const std::string& rest) {
  return run_program(
      "/usr/bin/env",
      words("DPSOSP_DATA=" + folder.path().string() + " " + built_program("dpsosp") +
            " reproduce --scale smoke --quiet --out " + folder.path().string() + " " + rest));
}

TEST(Networks, AreRefusedWithTheCommandThatHasThem) {
  const ScratchFolder folder;
  for (const char* named : {"avdiukhin-2024/figure-1a", "avdiukhin-2024/figure-3b"})
    expect_one_error_line(reproduce(folder, named), 2,
                          std::string("./run reproduce ") + named + " builds one with it");
  expect_one_error_line(reproduce(folder, "avdiukhin-2024"), 2, "without the code for the runs of");
  EXPECT_FALSE(fs::exists(folder / "report/index.html"));
}

TEST(Networks, WithDataThatOnlyTheUserHasAskForIt) {
  const ScratchFolder folder;
  EXPECT_EQ(reproduce(folder, "avdiukhin-2024/figure-2a avdiukhin-2024/figure-2b").code, 0);
  for (const auto& [figure, file] :
       {std::pair{"2a", "cifar-100-binary/train.bin"}, std::pair{"2b", "cola_public/raw"}}) {
    const std::string page =
        contents(folder / ("report/avdiukhin-2024-figure-" + std::string(figure) + "/index.html"));
    EXPECT_TRUE(has(page, "needs data: ", file));
  }
}

TEST(Networks, ArePlannedWhereTheyAreNamed) {
  const ScratchFolder folder;
  const Result all = reproduce(folder, "--dry-run"),
               named = reproduce(folder, "--dry-run avdiukhin-2024/figure-1a");
  EXPECT_EQ(all.code, 0);
  EXPECT_TRUE(has(all.out, "Computed only where they are named: avdiukhin-2024/figure-1a, "));
  EXPECT_EQ(named.code, 0);
  EXPECT_TRUE(lacks(named.out, "Computed only", "avdiukhin-2024/figure-1a           0"));
}

TEST(Networks, OfPaperAreCheckedAsFarAsReferenceHoldsThem) {
  const ScratchFolder folder;
  fs::create_directories(folder / "reference/league-tuned");
  folder.write("reference/league-tuned/t.csv", "a\r\n");
  const Result r = reproduce(folder, "avdiukhin-2024 --check " + (folder / "reference").string());
  expect_one_error_line(r, 2, "holds no tables of any exhibit");
  expect_one_error_line(
      reproduce(folder, "avdiukhin-2024/figure-2a --check " + (folder / "reference").string()), 2,
      "holds no tables of avdiukhin-2024-figure-2a");
}

}  // namespace
}  // namespace dpsosp::networks_test
