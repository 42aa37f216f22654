// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include "dpsosp/checks/problem_page.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "paths.hpp"

namespace dpsosp::problem_page_test {
namespace {

namespace fs = std::filesystem;
const fs::path docs = in_checkout("docs");

TEST(ProblemPage, CommittedTableMatchesGeneratedTable) {
  EXPECT_EQ(read_file(docs / "problems.md"), problem_table())
      << "write it again: dpsosp list problems --document docs";
}

TEST(ProblemPage, NamesEveryProblemConstantAndSetting) {
  const std::string page = problem_page();
  for (const ProblemEntry& entry : problem_registry()) {
    const auto family = entry.create();
    const auto section = page.find("### `" + entry.name + "`\n");
    ASSERT_NE(section, std::string::npos) << entry.name;
    const auto end = page.find("\n### ", section + 1);
    const std::string text = page.substr(section, end - section);
    const PublicFacts facts = family->facts({.records = 100});
    for (const auto& [name, c] : facts.constants.all())
      EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << entry.name << ' ' << name;
    for (const Field& f : family->fields())
      EXPECT_NE(text.find("`" + f.name + "`"), std::string::npos) << entry.name << ' ' << f.name;
  }
}

TEST(ProblemPage, ShowsThePicturesThatAreWritten) {
  const std::string page = problem_page();
  int pictures = 0, shown = 0;
  for (const ProblemEntry& entry : problem_registry()) {
    const bool has_picture = problem_picture(*entry.create(), 2).has_value();
    pictures += has_picture;
    EXPECT_EQ(page.find("](problems/" + entry.name + ".svg)") != std::string::npos, has_picture)
        << entry.name;
  }
  for (auto at = page.find("](problems/"); at != std::string::npos;
       at = page.find("](problems/", at + 1))
    ++shown;
  EXPECT_EQ(shown, pictures);
  EXPECT_GT(pictures, 0);
}

}  // namespace
}  // namespace dpsosp::problem_page_test
