// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paths.hpp"

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
  for (const char* folder :
       {"core", "trusted", "problems", "networks", "privacy", "evaluator", "algorithms", "plots",
        "experiments", "checks", "audit", "isolation", "reproductions", "cli", "benchmarks"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(dpsosp::in_checkout()) / folder))
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m)
    found.push_back((*m)[1]);
  return found;
}

/// Ids in the first column of tables and at the head of sections.
std::set<std::string> errata_ids(const std::string& markdown) {
  const auto ids = all_matches("\n" + markdown, std::regex(R"(\n(?:\| *|### )([A-Z]+[0-9]+)[ ,])"));
  return {ids.begin(), ids.end()};
}

/// The ids in docs/errata.md and the page of each paper.
std::set<std::string> all_errata_ids() {
  const fs::path docs = fs::path(dpsosp::in_checkout()) / "docs";
  std::string pages = read(docs / "errata.md");
  for (const auto& page : fs::directory_iterator(docs / "errata"))
    pages.append("\n").append(read(page.path()));
  return errata_ids(pages);
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

/// A page of docs/papers: its numbered headings, and the places of the paper that it lists with the
/// number of lines of an algorithm, 0 where the paper's lines have no numbers.
struct Notes {
  std::set<std::string> headings;
  std::map<std::string, int> places;
};

Notes notes_of(const std::string& markdown) {
  Notes notes;
  for (const std::string& number :
       all_matches("\n" + markdown, std::regex(R"(\n#+ +(\d+(?:\.\d+)?)\b)")))
    notes.headings.insert(number);
  const auto at = markdown.find("\n## Places");
  if (at == std::string::npos) return notes;
  const std::string table = markdown.substr(at);
  static const std::regex row(
      R"(\n\| *`?([A-Z]\w*(?: [\w.()]+)?)(?: \((?:lines 1[-–](\d+)|unnumbered)\))?`? *\|)");
  for (std::sregex_iterator m(table.begin(), table.end(), row), end; m != end; ++m)
    notes.places[(*m)[1]] = (*m)[2].matched ? std::stoi((*m)[2]) : 0;
  return notes;
}

/// Every page of docs/papers, by its key.
std::map<std::string, Notes> all_notes() {
  std::map<std::string, Notes> notes;
  for (const auto& entry :
       fs::directory_iterator(fs::path(dpsosp::in_checkout()) / "docs" / "papers"))
    notes[entry.path().stem().string()] = notes_of(read(entry.path()));
  return notes;
}

/// The keys of all pages, as alternatives of a regular expression.
const std::string keys = [] {
  std::string all;
  for (const auto& [key, notes] : all_notes()) all += (all.empty() ? "" : "|") + key;
  return all;
}();

/// What a text cites that does not exist: "KEY notes, 3.1 and 3.2", "KEY, Algorithm 2, line 9".
std::vector<std::string> unresolved(const std::string& text,
                                    const std::map<std::string, Notes>& notes) {
  std::vector<std::string> missing;
  static const std::regex any(keys + "|specification");
  if (!std::regex_search(text, any)) return missing;
  static const std::regex of_notes("(" + keys + R"() notes,((?:(?:,| and)? \d+(?:\.\d+)?\b)+))");
  for (std::sregex_iterator m(text.begin(), text.end(), of_notes), end; m != end; ++m)
    for (const std::string& number : all_matches((*m)[2], std::regex(R"((\d+(?:\.\d+)?))")))
      if (!notes.at((*m)[1]).headings.contains(number)) missing.push_back((*m)[0]);
  static const std::regex of_paper(
      "(" + keys +
      R"(), ((?:Algorithm|Theorem|Lemma|Corollary|Proposition|Definition|Assumption|Claim|Remark|Table|Figure|Section|Appendix|Footnote) [A-Z]?\.?\d*(?:\.\d+)*)(?:, lines? (\d+)(?:[-–](\d+))?)?)");
  for (std::sregex_iterator m(text.begin(), text.end(), of_paper), end; m != end; ++m) {
    const auto& places = notes.at((*m)[1]).places;
    const auto place = places.find((*m)[2]);
    const int line = (*m)[4].matched   ? std::stoi((*m)[4])
                     : (*m)[3].matched ? std::stoi((*m)[3])
                                       : 0;
    if (place == places.end() || line > place->second) missing.push_back((*m)[0]);
  }
  static const std::regex of_nothing("((?:" + keys +
                                     R"(),? (?:sections?|zoo entry) [\d.]+|\bspecification\b))");
  for (const std::string& match : all_matches(text, of_nothing)) missing.push_back(match);
  return missing;
}

/// A citation of a page or a paper, or a publication with its year or arXiv number.
bool names_a_source(const std::string& text) {
  static const std::regex known(
      "\\b(?:" + keys +
      R"()(?: notes)?, [A-Z\d]|\barXiv:\d{4}\.\d{4,5}|(?:^|[^-\w])(?:18|19|20)\d\d\b)");
  return std::regex_search(text, known);
}

TEST(Citations, EveryCitedErratumExists) {
  const auto known = all_errata_ids();
  ASSERT_GE(known.size(), 60U);
  std::size_t cited = 0;
  for (const fs::path& file : sources())
    for (const std::string& id : cited_errata(read(file))) {
      EXPECT_TRUE(known.contains(id)) << file << " cites " << id;
      ++cited;
    }
  EXPECT_GE(cited, 5U);
}

TEST(Citations, EverySourceIsAPaperItsNotesOrADatedPublication) {
  std::size_t stated = 0;
  for (const fs::path& file : sources())
    for (const std::string& source : stated_sources(read(file))) {
      EXPECT_TRUE(names_a_source(source)) << file << ": \\source" << source;
      ++stated;
    }
  EXPECT_GE(stated, 100U);
}

TEST(Citations, EveryCitedPlaceAndHeadingExists) {
  const auto notes = all_notes();
  ASSERT_GE(notes.size(), 7U);
  for (const fs::path& file : sources())
    for (const std::string& line : lines_of(unwrapped(read(file))))
      for (const std::string& missing : unresolved(line, notes))
        ADD_FAILURE() << file << " cites " << missing;
}

TEST(Citations, DetectUnknownErratumPlaceAndHeading) {
  const auto known =
      errata_ids("| id | where |\n|---|---|\n| X1 | here |\n\n### G12 · Lemma 2 · error\n");
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
  EXPECT_FALSE(names_a_source(" xu-2027, Theorem 3"));
  EXPECT_TRUE(names_a_source(" xu-2026, Theorem 3"));

  const std::map<std::string, Notes> notes{
      {"xu-2026",
       notes_of(
           "# Title\n## 3. Schedules\n### 3.1 Theory\n## Places in the paper\n\n| place | x |\n"
           "|---|---|\n| Algorithm 1 (lines 1-24) | a |\n| `Algorithm 2 (unnumbered)` | b |\n"
           "| Theorem B.1 | c |\n")}};
  EXPECT_EQ(unresolved("xu-2026 notes, 3 and 3.1; xu-2026, Algorithm 1, lines 9-24; xu-2026, "
                       "Algorithm 2; xu-2026, Theorem B.1",
                       notes),
            std::vector<std::string>{});
  for (const char* wrong :
       {"xu-2026 notes, 3.2", "xu-2026, Algorithm 1, line 25", "xu-2026, Algorithm 2, line 1",
        "xu-2026, Lemma 2", "xu-2026, section 3.1", "as the specification says"})
    EXPECT_EQ(unresolved(wrong, notes).size(), 1U) << wrong;
}

}  // namespace
