// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../cli/program.hpp"

// What README.md lists is what the program and the tree have.
namespace dpsosp {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

fs::path source(const std::string& name) { return fs::path(in_checkout()) / name; }

/// The lines below a heading, up to the next heading of any level.
std::string section(const std::string& markdown, const std::string& heading) {
  std::string text;
  bool inside = false;
  for (const std::string& line : lines(markdown)) {
    if (line.starts_with('#')) inside = line == heading;
    if (inside) text += line + '\n';
  }
  return text;
}

Names matches(const std::string& text, const char* pattern) {
  Names found;
  const std::regex expression(pattern);
  for (std::sregex_iterator m(text.begin(), text.end(), expression), end; m != end; ++m)
    found.insert((*m)[1]);
  return found;
}

/// The first cell of each row, where it begins with a word in backticks.
Names quoted_rows(const std::string& text) { return matches("\n" + text, R"(\n\| `([^`]+)` *\|)"); }

/// The folders of the repository; hidden ones, and those that .gitignore names, are left out.
Names top_folders() {
  static const Names ignored{"build", "data", "out"};
  Names folders;
  for (const auto& entry : fs::directory_iterator(in_checkout())) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with('.') && !ignored.contains(name))
      folders.insert(name);
  }
  return folders;
}

/// The names that `dpsosp list WHAT --json` prints.
Names listed(const std::string& what) {
  Names names;
  for (const auto& entry : nlohmann::json::parse(answer("list --json " + what)))
    names.insert(entry.at("name"));
  return names;
}

std::string readme() { return contents(source("README.md")); }

TEST(Design, NamesEveryFolder) {
  const std::string house = section(contents(source("docs/design.md")), "## The house");
  const Names named = matches(house, R"(`([a-z]+)/)");
  for (const std::string& folder : top_folders()) EXPECT_TRUE(named.contains(folder)) << folder;
}

TEST(Readme, HasAtMostEightHundredWords) { EXPECT_LE(words(readme()).size(), 800U); }

TEST(Results, ListExhibitsOfProgram) {
  const Names exhibits = quoted_rows(section(contents(source("results/README.md")), "## Exhibits"));
  EXPECT_FALSE(exhibits.empty());
  EXPECT_EQ(exhibits, listed("exhibits"));
}

TEST(CommandLine, ListsCommandsOfProgram) {
  Names commands = quoted_rows(section(contents(source("docs/command-line.md")), "## Commands"));
  commands.erase("./run dpsosp …");  // head of the table
  EXPECT_FALSE(commands.empty());
  EXPECT_EQ(commands, matches("\n" + answer("--help"), R"(\n  ([a-z]+)  +)"));
}

TEST(Readme, CommandsOfFindingsNameExhibitsOfProgram) {
  const Names exhibits = listed("exhibits");
  int named = 0;
  for (const char* page : {"README.md", "docs/findings.md"})
    for (const std::string& command :
         matches(contents(source(page)), R"(\./run reproduce((?: [a-z0-9.-]+/[a-z0-9.-]+)+))"))
      for (const std::string& exhibit : words(command)) {
        EXPECT_TRUE(exhibits.contains(exhibit)) << exhibit;
        ++named;
      }
  EXPECT_GE(named, 4);
}

TEST(Documents, TablesAreReadAsWritten) {
  const std::string page =
      "## A\n| `x` | `no` |\n### B\n| `y/z` | text |\n| [a](docs/a.md) | |\n## C\n| `v` | |\n";
  EXPECT_EQ(quoted_rows(section(page, "## A")), Names{"x"});
  EXPECT_EQ(quoted_rows(section(page, "### B")), Names{"y/z"});
  EXPECT_TRUE(section(page, "## D").empty());
}

/// What docs/findings.md says, and where results/ has it: columns text, file, row, cell. The page
/// has the phrase, and FILE a line with every part of `row` (separated by ";") and with `cell`. Of
/// a number that no table has, `file` is "setting" and `row` says what it is.
struct FindingNumber {
  std::string text, file, row, cell;
};

std::string plain(std::string text) {
  static const std::vector<std::pair<std::string, std::string>> signs{
      {"−", "-"}, {"\u00a0", " "}, {"\n", " "}, {"**", ""}};
  for (const auto& [sign, replacement] : signs)
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos;
         at += replacement.size())
      text.replace(at, sign.size(), replacement);
  return text;
}

/// Fields of a line; a separator within quotes is none.
std::vector<std::string> fields_of(const std::string& line, char separator) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (const char c : line)
    if (c == '"' && separator == ',')
      inside = !inside;
    else if (c == separator && !inside)
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

std::vector<FindingNumber> finding_numbers() {
  std::vector<FindingNumber> numbers;
  for (const std::string& line : lines(contents(source("tests/data/readme_findings.txt")))) {
    if (line.empty() || line.starts_with('#')) continue;
    auto fields = fields_of(line, '|');
    EXPECT_EQ(fields.size(), 4U) << line;
    fields.resize(4);
    numbers.push_back({plain(fields[0]), fields[1], plain(fields[2]), plain(fields[3])});
  }
  return numbers;
}

/// The findings of README.md, in short, and of their page.
std::vector<std::string> findings() {
  return {plain(section(readme(), "## Findings")), plain(contents(source("docs/findings.md")))};
}

bool has_parts(const std::string& line, const std::string& row, const std::string& cell) {
  return std::ranges::all_of(
             fields_of(row, ';'),
             [&](const auto& part) { return line.find(part) != std::string::npos; }) &&
         line.find(cell) != std::string::npos;
}

TEST(ReadmeFindings, NumbersAreThoseOfResults) {
  const std::string page = findings().back();
  for (const FindingNumber& n : finding_numbers()) {
    EXPECT_TRUE(page.find(n.text) != std::string::npos)
        << "docs/findings.md has no '" << n.text << "'";
    if (n.file == "setting") continue;
    bool found = false;
    for (const std::string& line : lines(contents(source("results/" + n.file))))
      found = found || has_parts(plain(line), n.row, n.cell);
    EXPECT_TRUE(found) << "results/" << n.file << " has no row '" << n.row << "' with '" << n.cell
                       << "', which docs/findings.md states as '" << n.text << "'";
  }
}

// "39 of the 43 and never for the other four", "47 of the 47 bugs".
TEST(ReadmeFindings, CountsAreThoseOfTheAudit) {
  const auto rows = lines(contents(source("results/audit/algorithms.csv")));
  const std::vector<std::string> header = fields_of(rows.at(0), ',');
  const auto power = static_cast<std::size_t>(
      std::ranges::find(header, "statistical attack: power") - header.begin());
  ASSERT_LT(power, header.size());
  int algorithms = 0, strong = 0, blind = 0;
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const std::vector<std::string> row = fields_of(rows[k], ',');
    if (row.size() <= power || row[0].starts_with("curator/") || row[0].starts_with("release/"))
      continue;
    ++algorithms;
    const double value = std::stod(row[power]);
    strong += value >= 0.6 - 1e-9;
    blind += value == 0;
  }
  EXPECT_EQ(algorithms, 43);
  EXPECT_EQ(strong, 39);
  EXPECT_EQ(blind, 4);
  int plants = 0;
  for (const std::string& line : lines(contents(source("results/audit/plants.csv"))))
    plants += !line.empty();
  EXPECT_EQ(plants - 1, 47);
}

TEST(ReadmeFindings, HaveNoNumberThatNoEntryCovers) {
  for (std::string rest : findings()) {
    for (const FindingNumber& n : finding_numbers())
      for (std::size_t at = 0; (at = rest.find(n.text, at)) != std::string::npos;)
        rest.replace(at, n.text.size(), 1, '#');
    static const std::regex number(R"((\d+\.\d+|\d+ %|\d+ of (?:the )?\d+))");
    for (std::sregex_iterator m(rest.begin(), rest.end(), number), end; m != end; ++m)
      ADD_FAILURE() << "a finding states " << m->str()
                    << "; tests/data/readme_findings.txt says nothing of it";
  }
}

}  // namespace
}  // namespace dpsosp
