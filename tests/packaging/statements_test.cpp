// SPDX-License-Identifier: Apache-2.0
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
#include <nlohmann/json.hpp>

#include "../cli/program.hpp"
#include "paths.hpp"

// docs/papers/KEY.md lists every numbered statement of its paper, and where it is here. What the
// list names exists.
namespace dpsosp::statements_test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr const char* heading = "## Every statement of the paper";

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path source(const std::string& name) { return fs::path(in_checkout()) / name; }

/// Labels by paper, in the order of the paper: a line without a space begins a paper.
std::map<std::string, std::vector<std::string>> printed_statements() {
  std::map<std::string, std::vector<std::string>> labels;
  std::string key;
  std::istringstream in(read(source("tests/data/statements.txt")));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.find(' ') == std::string::npos)
      key = line;
    else
      labels[key].push_back(line);
  }
  return labels;
}

struct Row {
  std::string label;
  std::string here;  ///< the last cell
};

/// The rows of the table below the heading.
std::vector<Row> rows_of(const std::string& page) {
  std::vector<Row> rows;
  const auto at = page.find(heading);
  if (at == std::string::npos) return rows;
  static const std::regex row(R"(\| *([^|]*[^| ]) *\| *([^|]*[^| ]) *\| *([^|]*[^| ]) *\|)");
  std::istringstream in(page.substr(at));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line) && !line.starts_with("## ")) {
    std::smatch m;
    if (std::regex_match(line, m, row) && m[1] != "statement" && m[1].str()[0] != '-')
      rows.push_back({m[1], m[3]});
  }
  return rows;
}

struct Item {
  std::string kind;
  std::string name;
};

/// What a cell names: "claim `a`; file `b` (in part)". None for "not here: REASON.".
/// \throws std::runtime_error where the cell is written otherwise
std::vector<Item> items_of(const std::string& here) {
  if (here.starts_with("not here: ")) {
    if (here.size() < 30) throw std::runtime_error("a reason is a sentence: " + here);
    return {};
  }
  static const std::regex item(
      R"((claim|algorithm|exhibit|sweep|file|test) `([^`]+)`(?: \([^;]*\))?)");
  std::vector<Item> items;
  std::size_t begin = 0;
  while (begin <= here.size()) {
    const std::size_t end = std::min(here.find("; ", begin), here.size());
    const std::string part = here.substr(begin, end - begin);
    std::smatch m;
    if (!std::regex_match(part, m, item)) throw std::runtime_error("not an item: " + part);
    items.push_back({m[1], m[2]});
    begin = end + 2;
  }
  return items;
}

/// The names that `dpsosp list WHAT --json` prints.
Names listed(const std::string& what) {
  const Result result = run_program(built_program("dpsosp"), {"list", what, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  Names names;
  for (const auto& entry : nlohmann::json::parse(result.out)) names.insert(entry.at("name"));
  return names;
}

/// First groups of a pattern in all files of a folder that end so.
Names found_below(const char* folder, const char* end, const char* pattern) {
  Names names;
  const std::regex expression(pattern);
  for (const auto& entry : fs::recursive_directory_iterator(source(folder))) {
    if (!entry.path().string().ends_with(end)) continue;
    const std::string text = read(entry.path());
    for (std::sregex_iterator m(text.begin(), text.end(), expression), none; m != none; ++m)
      names.insert((*m).size() > 2 ? (*m)[1].str() + "." + (*m)[2].str() : (*m)[1].str());
  }
  return names;
}

struct Known {
  Names claims = found_below("reproductions", "claims.toml", R"re(\nid = "([^"]+)")re");
  Names algorithms = listed("algorithms");
  Names exhibits = listed("exhibits");
  Names tests =
      found_below("tests", ".cpp", R"(\n(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\((\w+),\s*(\w+)[,)])");

  bool has(const Item& item) const {
    if (item.kind == "claim") return claims.contains(item.name);
    if (item.kind == "algorithm") return algorithms.contains(item.name);
    if (item.kind == "exhibit") return exhibits.contains(item.name);
    if (item.kind == "test") return tests.contains(item.name);
    if (item.kind == "file") return fs::exists(source(item.name));
    for (const auto& entry : fs::recursive_directory_iterator(source("reproductions")))
      if (entry.path().extension() == ".toml" && entry.path().stem() == item.name) return true;
    return false;
  }
};

TEST(Statements, OfEveryPaperAreListedInItsOrder) {
  for (const auto& [key, labels] : printed_statements()) {
    const auto rows = rows_of(read(source("docs/papers/" + key + ".md")));
    std::vector<std::string> found;
    for (const Row& row : rows) found.push_back(row.label);
    EXPECT_EQ(found, labels) << key;
  }
}

TEST(Statements, NameWhatExists) {
  const Known known;
  for (const auto& [key, labels] : printed_statements())
    for (const Row& row : rows_of(read(source("docs/papers/" + key + ".md")))) {
      std::vector<Item> items;
      ASSERT_NO_THROW(items = items_of(row.here)) << key << ", " << row.label << ": " << row.here;
      for (const Item& item : items)
        EXPECT_TRUE(known.has(item))
            << key << ", " << row.label << ": no " << item.kind << " " << item.name;
    }
}

TEST(Statements, OfAnUnknownFormAreRejected) {
  const auto rows = rows_of(std::string("# Page\n") + heading +
                            "\n\n| statement | what it says | here |\n|---|---|---|\n"
                            "| Lemma 1 | x ≤ y | claim `a/1`; file `b.hpp` (one side) |\n"
                            "| Lemma 2 | z | not here: it restates a theorem of another paper. |\n"
                            "## Next\n| Lemma 3 | u | claim `a/3` |\n");
  ASSERT_EQ(rows.size(), 2U);
  const auto items = items_of(rows[0].here);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[1].kind + " " + items[1].name, "file b.hpp");
  EXPECT_TRUE(items_of(rows[1].here).empty());
  for (const char* wrong :
       {"not here: no.", "claims `a/1`, `a/2`", "see the notes", "claim `a/1`;"})
    EXPECT_THROW(items_of(wrong), std::runtime_error) << wrong;
  const Known known;
  EXPECT_FALSE(known.has({"claim", "ganesh-2023/99"}));
  EXPECT_FALSE(known.has({"test", "Statements.AreNowhere"}));
  EXPECT_TRUE(known.has({"test", "Statements.NameWhatExists"}));
  EXPECT_TRUE(known.has({"sweep", "xu-2026-dp-rgda"}));
}

}  // namespace
}  // namespace dpsosp::statements_test
