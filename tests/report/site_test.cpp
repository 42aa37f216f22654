// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/report/site.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "../core/scratch_folder.hpp"
#include "dpsosp/core/files.hpp"
#include "markup_text.hpp"
#include "mathml.hpp"
#include "refusal.hpp"
#include "sample_site.hpp"
#include "text.hpp"

// A whole report as files: models and their schema, links, anchors, ids. Tests of pages are skipped
// where /usr/bin/python3 has no Jinja2.
namespace dpsosp::report::site_test {
namespace {

namespace fs = std::filesystem;
using plots::attributes;
using plots::count_of;

std::vector<fs::path> files_of(const fs::path& folder, const char* ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ending) found.push_back(entry.path());
  return found;
}

std::set<std::string> ids_of(const std::string& html) {
  std::set<std::string> ids;
  for (const std::string& id : attributes(html, "id")) ids.insert(id);
  return ids;
}

/// Links of the page that leave the report, lead nowhere, or to an anchor that is not there.
std::vector<std::string> broken_links(const fs::path& page) {
  std::vector<std::string> broken;
  const std::string html = read_file(page);
  for (const char* name : {"href", "src"})
    for (const std::string& link : attributes(html, name)) {
      const std::size_t hash = link.find('#');
      const std::string target = link.substr(0, hash);
      const fs::path file = target.empty() ? page : page.parent_path() / target;
      const bool relative = target.find(':') == std::string::npos && !target.starts_with('/');
      const bool anchored =
          hash == std::string::npos ||
          (fs::is_regular_file(file) && ids_of(read_file(file)).contains(link.substr(hash + 1)));
      if (!relative || !fs::is_regular_file(file) || !anchored) broken.push_back(link);
    }
  return broken;
}

class WrittenSite : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<ScratchFolder>();
    index_ = write_site(sample_site(), folder());
  }
  static void TearDownTestSuite() { scratch_.reset(); }
  void SetUp() override {
    if (index_.extension() != ".html") GTEST_SKIP() << "no pages";
  }
  static fs::path folder() { return scratch_->path() / "report"; }

  inline static std::unique_ptr<ScratchFolder> scratch_;
  inline static fs::path index_;
};

TEST_F(WrittenSite, HasAPageOfEachKindWithItsModelBesideIt) {
  EXPECT_EQ(index_, folder() / "index.html");
  const std::vector<fs::path> pages = files_of(folder(), ".html");
  EXPECT_EQ(pages.size(), 15U);
  for (fs::path page : pages) {
    page.replace_extension(".json");
    EXPECT_TRUE(nlohmann::json::accept(read_file(page))) << page;
  }
}

TEST_F(WrittenSite, ResolvesEveryLinkAndAnchor) {
  for (const fs::path& page : files_of(folder(), ".html"))
    EXPECT_EQ(broken_links(page), std::vector<std::string>{}) << page;
}

TEST_F(WrittenSite, LinkCheckSeesAMissingFile) {
  const ScratchFolder other;
  fs::copy(folder(), other.path(), fs::copy_options::recursive);
  fs::remove(other.path() / "smith-2027-table-1" / "cells.csv");
  EXPECT_EQ(broken_links(other.path() / "smith-2027-table-1" / "index.html"),
            std::vector<std::string>{"cells.csv"});
}

TEST_F(WrittenSite, LeavesNoFileOfAnExhibitWithoutALink) {
  const fs::path place = folder() / "smith-2027-table-1";
  std::set<fs::path> linked{place / "index.html"};
  for (const std::string& link : attributes(read_file(place / "index.html"), "href"))
    linked.insert((place / link).lexically_normal());
  for (const auto& entry : fs::directory_iterator(place))
    EXPECT_TRUE(linked.contains(entry.path())) << entry.path();
}

TEST_F(WrittenSite, IsWellFormedWithOneIdForOneThing) {
  for (const fs::path& page : files_of(folder(), ".html")) {
    const std::string html = read_file(page);
    EXPECT_EQ(plots::markup_fault(html), "") << page;
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    EXPECT_EQ(attributes(html, "id").size(), ids_of(html).size()) << page;
    EXPECT_EQ(count_of(html, "http"), 0U) << page;
    EXPECT_EQ(count_of(html, "<h1>"), 1U) << page;
  }
}

TEST_F(WrittenSite, HeadingsDescendOneLevelAtATime) {
  for (const fs::path& page : files_of(folder(), ".html")) {
    const std::string html = read_file(page);
    int level = 0;
    for (auto at = html.find("<h"); at != std::string::npos; at = html.find("<h", at + 1)) {
      const char digit = html[at + 2];
      if (digit < '1' || digit > '6') continue;
      EXPECT_LE(digit - '0', level + 1) << page;
      level = digit - '0';
    }
  }
}

TEST_F(WrittenSite, FindsEveryPageByTheSearchIndex) {
  const std::string script = read_file(folder() / "search.js");
  const auto entries = nlohmann::json::parse(script.substr(10, script.rfind(';') - 10));
  std::set<std::string> addresses;
  for (const auto& entry : entries) {
    const std::string address = entry.at(1);
    addresses.insert(address.substr(0, address.find('#')));
  }
  for (const char* page : {"claims/smith-2027-c1.html", "smith-2027-table-1/index.html",
                           "algorithms/smith-2027-momentum.html", "problems/double-well.html",
                           "papers/smith-2027.html", "which.html", "errata.html"})
    EXPECT_TRUE(addresses.contains(page)) << page;
}

TEST_F(WrittenSite, WritesSameBytesForSameSite) {
  const ScratchFolder other;
  write_site(sample_site(), other.path());
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(read_file(entry.path()),
              read_file(other.path() / fs::relative(entry.path(), folder())))
        << entry.path();
  }
}

TEST_F(WrittenSite, LosesNoTableWherePythonIsBroken) {
  const ScratchFolder other;
  fs::create_directories(other.path() / "modules/jinja2");
  write_file(other.path() / "modules/jinja2/__init__.py", "raise ImportError('none')");
  std::vector<std::string> notices;
  ::setenv("PYTHONPATH", (other.path() / "modules").c_str(), 1);
  const fs::path page =
      write_site(sample_site(), other.path() / "report",
                 {.notice = [&](const std::string& line) { notices.push_back(line); }});
  ::unsetenv("PYTHONPATH");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(has(notices[0], "install python3-jinja2"));
  EXPECT_EQ(page, other.path() / "report/index.json");
  EXPECT_TRUE(files_of(other.path() / "report", ".html").empty());
  for (const char* ending : {".json", ".csv", ".tex", ".md"})
    EXPECT_EQ(files_of(other.path() / "report", ending).size(), files_of(folder(), ending).size());
}

TEST(Models, KeepWhatIsEmptyOnPurpose) {
  ExhibitPage page;
  page.tables = {{.row_groups = {{.rows = {{.cells = {plots::text_cell(""), {}}}}}}}};
  const nlohmann::json row = model_json(page)["tables"][0]["row_groups"][0]["rows"][0];
  EXPECT_EQ(row["cells"].dump(), R"([{"content":""},{}])");
}

TEST(Formulas, OfQuotationsAreMathML) {
  std::map<std::string, std::string> formulas;
  add_formulas(formulas, R"(at $\frac{\sqrt{d}}{n_{0}}\leq\alpha^{2/3}$ < 1, $$a<b$$ and $c$)");
  EXPECT_EQ(formulas.size(), 3U);
  const std::string& formula = formulas.at(R"(\frac{\sqrt{d}}{n_{0}}\leq\alpha^{2/3})");
  EXPECT_EQ(plots::markup_fault(formula), "");
  for (const char* part : {"<mfrac>", "<msqrt>", "<msub>", "<msup>", "≤", "α"})
    EXPECT_EQ(count_of(formula, part), 1U) << part;
  EXPECT_TRUE(has(formulas.at("a<b"), "&lt;"));
  add_formulas(formulas, R"($\operatorname*{argmin}$)");
  EXPECT_TRUE(has(formulas.at(R"(\operatorname*{argmin})"), "<mtext>argmin</mtext>"));
}

TEST(Formulas, OfMarkdownAreThoseOfItsQuotations) {
  std::map<std::string, std::string> formulas;
  add_formulas_of_quotations(formulas, "`$OUT` costs $1\n\n> as $x +\n> y$ says\n\n> and $z$");
  ASSERT_EQ(formulas.size(), 2U);
  EXPECT_TRUE(formulas.contains("x + y") && formulas.contains("z"));
}

TEST(Site, RejectsBadInputBeforeWriting) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "report";
  const auto refused = [&](const Site& site) {
    const std::string message = refusal_of([&] { write_site(site, folder); });
    return fs::exists(folder) ? "" : message;
  };
  Site twice = sample_site();
  twice.exhibits.push_back(twice.exhibits[0]);
  EXPECT_EQ(refused(twice), "report: file = 'smith-2027-table-1', expected a name of its own");
  Site same_table = sample_site();
  same_table.exhibits[0].details.push_back(same_table.exhibits[0].tables[0]);
  EXPECT_TRUE(has(refused(same_table), "expected a name of its own"));
  Site bad_figure = sample_site();
  bad_figure.exhibits[0].figures = {plots::Figure{.id = "f"}};
  EXPECT_NE(refused(bad_figure), "");
}

TEST(ExhibitAlone, LosesAFigureAndNoTable) {
  const ScratchFolder scratch;
  ExhibitPage exhibit = sample_site().exhibits.front();
  exhibit.folder.clear();
  exhibit.figures.resize(1);
  for (const char* id : {"figure-b", "figure-c", "figure-d"}) {
    exhibit.figures.push_back(exhibit.figures.front());
    exhibit.figures.back().id = id;
  }
  plots::Figure& bad = exhibit.figures.back();
  bad.panels.front().y.scale = plots::Scale::log;
  bad.panels.front().series.front().y.front() = -1;
  std::vector<std::string> notices;
  const auto written = write_exhibit(
      exhibit, sample_site(), scratch.path(),
      {.formats = {"svg"}, .notice = [&](const std::string& line) { notices.push_back(line); }});
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].starts_with("The figure figure-d is missing: ")) << notices[0];
  for (const fs::path& file : written) EXPECT_TRUE(fs::is_regular_file(file)) << file;
  const bool made = written.back().extension() == ".html";
  EXPECT_EQ(written.back(), scratch.path() / (made ? "index.html" : "index.json"));
  for (const plots::Table& t : exhibit.tables)
    EXPECT_TRUE(fs::exists(scratch.path() / (t.id + ".csv"))) << t.id;
  EXPECT_TRUE(fs::exists(scratch.path() / "figure-c.svg"));
  EXPECT_FALSE(fs::exists(scratch.path() / "figure-d.svg"));
  if (!made) GTEST_SKIP() << "no page";
  const std::string html = read_file(scratch.path() / "index.html");
  EXPECT_TRUE(has(html, "The figure figure-d is missing"));
  EXPECT_TRUE(lacks(html, "More figures")) << "a page alone shows all in one place";
}

TEST(Site, RejectsUnwritableFolderInOneLine) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "file", "x");
  const std::string message =
      refusal_of([&] { write_site(sample_site(), scratch.path() / "file"); });
  EXPECT_TRUE(has(message, "cannot make this folder"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace dpsosp::report::site_test
