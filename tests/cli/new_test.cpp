// SPDX-License-Identifier: Apache-2.0
// What `dpsosp new` writes; that it compiles and runs is tests/packaging/new_test.sh.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paths.hpp"
#include "program.hpp"

namespace dpsosp::new_test {
namespace {

namespace fs = std::filesystem;

class NewFile : public testing::Test {
 protected:
  Result in_folder(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{"-C", folder_.path(), built_program("dpsosp")};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program("/usr/bin/env", words);
  }
  Result made(const std::string& what, const std::string& name) const {
    return in_folder({"new", what, name});
  }
  /// The files that it names, one a line before "next: ".
  static std::vector<std::string> files_of(const Result& result) {
    std::vector<std::string> files;
    for (const std::string& line : lines(result.out))
      if (!line.starts_with("next: ")) files.push_back(line);
    return files;
  }
  std::size_t files_here() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      count += entry.is_regular_file();
    return count;
  }

  ScratchFolder folder_;
};

class New : public NewFile, public testing::WithParamInterface<std::string> {};

TEST_P(New, HasItsOwnNameInThePlacesOfTheExample) {
  const Result r = made(GetParam(), "my-first.try");
  ASSERT_EQ(r.code, 0) << r.err;
  const std::vector<std::string> files = files_of(r);
  EXPECT_EQ(files.size(), files_here());
  EXPECT_TRUE(has(r.out, "\nnext: "));
  for (const std::string& file : files) {
    const std::string text = contents(folder_ / file);
    EXPECT_FALSE(text.empty()) << file;
    EXPECT_TRUE(lacks(text, "smith", "Smith", "ormalised_momentum", "ormalisedMomentum",
                      "ormalised-momentum", "log_well", "log-well", "LogWell", "../"))
        << file << ": ";
  }
}

TEST_P(New, WritesOverNothing) {
  ASSERT_EQ(made(GetParam(), "mine").code, 0);
  const std::size_t before = files_here();
  expect_one_error_line(made(GetParam(), "mine"), 2, "exists, expected a new name");
  EXPECT_EQ(files_here(), before);
}

TEST_P(New, RefusesWhatIsNoName) {
  for (const char* name : {"", "../mine", "a b", "2nd", "-mine"})
    EXPECT_EQ(made(GetParam(), name).code, 2) << name;
  EXPECT_EQ(files_here(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, New,
                         testing::Values("algorithm", "problem", "program", "sweep", "claim"),
                         [](const auto& of) { return of.param; });

TEST_F(NewFile, IsASweepThatIsAccepted) {
  for (const char* what : {"sweep", "claim"}) {
    ASSERT_EQ(made(what, what).code, 0);
    const Result plan =
        in_folder({"sweep", std::string(what) + ".toml", "--scale", "smoke", "--dry-run"});
    EXPECT_EQ(plan.code, 0) << plan.err;
  }
}

TEST_F(NewFile, IsAProgramThatIsFound) {
  ASSERT_EQ(in_folder({"new", "algorithm", "mine", "--python"}).code, 0);
  const Result list = run_program("/usr/bin/env", {"DPSOSP_PROGRAMS=" + folder_.path().string(),
                                                   built_program("dpsosp"), "list", "algorithms"});
  EXPECT_TRUE(has(list.out, "mine/mine")) << list.err;
}

TEST_F(NewFile, IsRefusedInOneLine) {
  expect_one_error_line(in_folder({"new"}), 2, "expected what and a name");
  expect_one_error_line(made("algoritm", "mine"), 2, "did you mean 'algorithm'?");
  for (const char* name : {"main", "curator"})
    expect_one_error_line(made("algorithm", name), 2, "that the example does not use itself");
  expect_one_error_line(in_folder({"new", "problem", "mine", "--python"}), 2,
                        "there is no problem in Python");
}

}  // namespace
}  // namespace dpsosp::new_test
