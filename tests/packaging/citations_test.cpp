// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Every erratum and every source that the code cites exists.
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The sources of the suite, tests excepted: what they plant need not exist.
std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const char* folder : {"core",
                             "problems",
                             "privacy",
                             "evaluator",
                             "algorithms",
                             "plots",
                             "experiments",
                             "cli",
                             "benchmarks"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(DPSOSP_SOURCE_FOLDER) / folder))
      if (entry.path().extension() == ".hpp" || entry.path().extension() == ".cpp")
        files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// The text with comments that run over several lines put on one; an empty comment line still ends
/// its paragraph.
std::string unwrapped(const std::string& code) {
  static const std::regex continued(R"(\n[ \t]*//[/!]?[ \t]+(?=[^ \t\n]))");
  return std::regex_replace(code, continued, " ");
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m)
    found.push_back((*m)[1]);
  return found;
}

/// Ids in the first column of the tables.
std::set<std::string> errata_ids(const std::string& markdown) {
  const auto ids = all_matches("\n" + markdown, std::regex(R"(\n\| *([A-Z]+[0-9]+) *\|)"));
  return {ids.begin(), ids.end()};
}

/// What follows "errata.md" in the code: "errata.md, X1", "errata.md, X1 and X2".
std::vector<std::string> cited_errata(const std::string& code) {
  std::vector<std::string> ids;
  static const std::regex citation(R"(errata\.md((?:(?:,| and|:)? *[A-Z]+[0-9]+\b)+))");
  for (const std::string& list : all_matches(unwrapped(code), citation))
    for (const std::string& id : all_matches(list, std::regex(R"(([A-Z]+[0-9]+))")))
      ids.push_back(id);
  return ids;
}

/// What follows each \source, up to the end of its paragraph or the next command.
std::vector<std::string> stated_sources(const std::string& code) {
  return all_matches(unwrapped(code), std::regex(R"(\\source([^\n\\]*))"));
}

/// A key of a specification, or a publication with its year or arXiv number.
bool names_a_source(const std::string& text) {
  static const std::regex known(
      R"(\b(ganesh-2023|avdiukhin-2024|lowy-2024|liu-talwar-2025|xu-2026|baselines|privacy-accounting)\b)"
      R"(|\barXiv:\d{4}\.\d{4,5}|(^|[^-\w])(18|19|20)\d\d\b)");
  return std::regex_search(text, known);
}

TEST(Citations, EveryCitedErratumExists) {
  const auto known = errata_ids(read(fs::path(DPSOSP_SOURCE_FOLDER) / "docs/errata.md"));
  ASSERT_GE(known.size(), 10U);
  std::size_t cited = 0;
  for (const fs::path& file : sources())
    for (const std::string& id : cited_errata(read(file))) {
      EXPECT_TRUE(known.contains(id)) << file << " cites " << id;
      ++cited;
    }
  EXPECT_GE(cited, 5U);
}

TEST(Citations, EverySourceIsSpecificationOrDatedPublication) {
  std::size_t stated = 0;
  for (const fs::path& file : sources())
    for (const std::string& source : stated_sources(read(file))) {
      EXPECT_TRUE(names_a_source(source)) << file << ": \\source" << source;
      ++stated;
    }
  EXPECT_GE(stated, 20U);
}

TEST(Citations, DetectUnknownErratumAndUndatedSource) {
  const auto known = errata_ids("| id | where |\n|---|---|\n| X1 | here |\n| G12 | there |\n");
  EXPECT_EQ(known, (std::set<std::string>{"X1", "G12"}));
  EXPECT_EQ(
      cited_errata("f();  // dev: (docs/errata.md,\n  // X9) and more; errata.md, G12 and X1\n"),
      (std::vector<std::string>{"X9", "G12", "X1"}));
  EXPECT_TRUE(cited_errata("the repairs of docs/errata.md.").empty());

  const auto found = stated_sources(
      "/// \\source Wang,\n/// Lu (2020), Theorem 3. \\return x\n"
      "/// \\source folklore\n///\n/// Added in 1999.\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(names_a_source(found[0])) << found[0];
  EXPECT_FALSE(names_a_source(found[1])) << found[1];
  EXPECT_FALSE(names_a_source(" xu-2027, section 3"));
  EXPECT_TRUE(names_a_source(" xu-2026, section 3"));
}

}  // namespace
