// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/runs.hpp"

// exhibits.toml as docs/claims.md describes it, above all its table [every].
namespace dpsosp::exhibit_text_test {
namespace {

using Paragraphs = std::vector<std::string>;

constexpr std::string_view two_exhibits = R"(
[every]
paper = "All papers"
paper_says = ["every says"]
differences = ["every differs"]

[[every.table]]
id = "shared"
title = "Shared table"
caption = "Shared caption"
notes = ["every note"]

[[every.figure]]
id = "curve"
title = "Shared figure"

[[exhibit]]
id = "smith-2027/one"
title = "One"
paper_says = ["one says"]
differences = ["one differs"]

[[exhibit.table]]
id = "own"
title = "Own table"

[[exhibit]]
id = "smith-2027/two"
title = "Two"
heading = "Two at length"
paper = "Smith"
)";

Texts texts(std::string_view exhibits) {
  return {.key = "smith-2027", .claims = {}, .tables = {}, .exhibits = exhibits, .sweeps = {}};
}

/// The page of an exhibit for which the code makes one table and figure of each name, says
/// something itself, and sets the title of the table "set".
plots::Exhibit page(std::string_view exhibits, std::string_view id) {
  const auto render = [](const Runs&, const Study&) {
    plots::Exhibit exhibit;
    exhibit.paper_says = {"code says"};
    exhibit.differences = {"code differs"};
    for (const char* name : {"shared", "own"}) {
      plots::Table table;
      table.id = name;
      table.notes = {"code note"};
      exhibit.tables.push_back(table);
    }
    exhibit.tables[0].caption = "caption with a measured number";
    plots::Figure figure;
    figure.id = "curve";
    exhibit.figures = {figure};
    return exhibit;
  };
  const ExhibitEntry entry = exhibit_entry(
      texts(exhibits), id, [](const Study&) { return std::vector<Job>{}; }, render);
  const Catalogue catalogue{};
  return entry.render(Runs({}), Study{catalogue});
}

std::string refusal(std::string_view exhibits) {
  try {
    parse_exhibits(texts(exhibits));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExhibitText, WordsOfEveryComeBeforeThoseOfExhibitAndOfCode) {
  const plots::Exhibit one = page(two_exhibits, "smith-2027/one");
  EXPECT_EQ(one.paper_says, (Paragraphs{"every says", "one says", "code says"}));
  EXPECT_EQ(one.differences, (Paragraphs{"every differs", "one differs", "code differs"}));
  const plots::Exhibit two = page(two_exhibits, "smith-2027/two");
  EXPECT_EQ(two.paper_says, (Paragraphs{"every says", "code says"}));
  EXPECT_EQ(two.differences, (Paragraphs{"every differs", "code differs"}));
}

TEST(ExhibitText, TablesAndFiguresOfEveryAreThoseOfEachExhibit) {
  for (const char* id : {"smith-2027/one", "smith-2027/two"}) {
    const plots::Exhibit exhibit = page(two_exhibits, id);
    EXPECT_EQ(exhibit.tables[0].title, "Shared table") << id;
    EXPECT_EQ(exhibit.tables[0].notes, (Paragraphs{"every note", "code note"})) << id;
    EXPECT_EQ(exhibit.figures[0].title, "Shared figure") << id;
  }
  EXPECT_EQ(page(two_exhibits, "smith-2027/one").tables[1].title, "Own table");
  EXPECT_EQ(page(two_exhibits, "smith-2027/two").tables[1].title, "");
}

TEST(ExhibitText, OwnWordsOfATableTakeThePlaceOfThoseOfEvery) {
  const std::string own =
      std::string(two_exhibits) + "\n[[exhibit.table]]\nid = \"shared\"\ntitle = \"Its own\"\n";
  EXPECT_EQ(page(own, "smith-2027/two").tables[0].title, "Its own");
  EXPECT_EQ(page(own, "smith-2027/one").tables[0].title, "Shared table");
}

TEST(ExhibitText, CaptionOfCodeIsKept) {
  EXPECT_EQ(page(two_exhibits, "smith-2027/one").tables[0].caption,
            "caption with a measured number");
}

TEST(ExhibitText, PaperOfEveryHoldsUnlessExhibitNamesItsOwn) {
  EXPECT_EQ(page(two_exhibits, "smith-2027/one").paper, "All papers");
  EXPECT_EQ(page(two_exhibits, "smith-2027/two").paper, "Smith");
}

TEST(ExhibitText, HeadingIsTitleUnlessSet) {
  EXPECT_EQ(page(two_exhibits, "smith-2027/one").title, "One");
  const plots::Exhibit two = page(two_exhibits, "smith-2027/two");
  EXPECT_EQ(two.title, "Two at length");
  EXPECT_EQ(two.id, "smith-2027-two");
}

TEST(ExhibitText, RefusesWhatEveryCannotHold) {
  const std::string exhibit = "[[exhibit]]\nid = \"a\"\ntitle = \"A\"\npaper = \"P\"\n";
  EXPECT_EQ(refusal(exhibit), "accepted");
  EXPECT_EQ(refusal("[every]\ntitle = \"T\"\n" + exhibit),
            "smith-2027/exhibits.toml:2: unknown key 'title'; did you mean 'table'?");
  EXPECT_EQ(refusal("[every]\nid = \"i\"\n" + exhibit),
            "smith-2027/exhibits.toml:2: unknown key 'id', expected one of paper, paper_says, "
            "differences, table, figure");
  EXPECT_EQ(refusal("[every]\npaper_say = []\n" + exhibit),
            "smith-2027/exhibits.toml:2: unknown key 'paper_say'; did you mean 'paper_says'?");
  EXPECT_EQ(refusal("[every]\npaper = 3\n" + exhibit),
            "smith-2027/exhibits.toml:2: paper = 3, expected text in quotes");
  EXPECT_EQ(refusal("[[every]]\npaper = \"P\"\n" + exhibit),
            "smith-2027/exhibits.toml:1: every = [ { paper = 'P' } ], expected a table");
  EXPECT_EQ(refusal("[[every.table]]\ntitle = \"T\"\n" + exhibit),
            "smith-2027/exhibits.toml:1: id is missing in entry 1 of table");
  EXPECT_EQ(refusal("[all]\npaper = \"P\"\n" + exhibit),
            "smith-2027/exhibits.toml:1: unknown key 'all', expected one of every, exhibit");
}

TEST(ExhibitText, RefusesExhibitWithoutPaperWhereEveryHasNone) {
  const std::string exhibit = "[[exhibit]]\nid = \"a\"\ntitle = \"A\"\n";
  EXPECT_EQ(refusal("[every]\npaper = \"P\"\n" + exhibit), "accepted");
  EXPECT_EQ(refusal("[every]\npaper_says = [\"s\"]\n" + exhibit),
            "smith-2027/exhibits.toml:3: paper is missing in entry 1 of exhibit");
}

TEST(ExhibitText, RefusesWordsOfATableThatTheExhibitLacks) {
  const std::string wrong =
      std::string(two_exhibits) + "\n[[exhibit.table]]\nid = \"onw\"\ntitle = \"Own table\"\n";
  try {
    page(wrong, "smith-2027/two");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown table in exhibits.toml, smith-2027/two 'onw'; did you mean 'own'?");
  }
  EXPECT_NO_THROW(page(wrong, "smith-2027/one"));
}

TEST(ExhibitText, RefusesIdThatTheFileLacks) {
  EXPECT_THROW(page(two_exhibits, "smith-2027/three"), InputError);
}

}  // namespace
}  // namespace dpsosp::exhibit_text_test
