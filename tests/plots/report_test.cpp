// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/report.hpp"

#include <filesystem>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "dpsosp/core/files.hpp"
#include "markup_text.hpp"
#include "sample_report.hpp"
#include "scratch_folder.hpp"

namespace dpsosp::plots::report_test {
namespace {

namespace fs = std::filesystem;

// relative path -> content
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files.emplace(fs::relative(entry.path(), folder).string(), read_file(entry.path()));
  return files;
}

std::string decoded(const std::string& address) {
  std::string out;
  for (std::size_t i = 0; i < address.size(); ++i) {
    if (address[i] == '%') {
      out += static_cast<char>(std::stoi(address.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += address[i];
    }
  }
  return out;
}

// Links of the page that leave the report, lead nowhere, or to an anchor that is not there.
std::vector<std::string> broken_links(const fs::path& page) {
  std::vector<std::string> broken;
  const std::string html = read_file(page);
  for (const char* name : {"href", "src"}) {
    for (const std::string& link : attributes(html, name)) {
      const std::size_t hash = link.find('#');
      const std::string target = decoded(link.substr(0, hash));
      const fs::path file = target.empty() ? page : page.parent_path() / target;
      const bool relative = target.find(':') == std::string::npos && !target.starts_with('/');
      const bool exists = fs::is_regular_file(file);
      const bool anchored =
          hash == std::string::npos ||
          (exists && count_of(read_file(file), " id=\"" + link.substr(hash + 1) + "\"") == 1);
      if (!relative || !exists || !anchored) broken.push_back(link);
    }
  }
  return broken;
}

std::vector<fs::path> pages(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".html") found.push_back(entry.path());
  return found;
}

Report small_report() {
  return {.title = "R",
          .exhibits = {{.id = "e", .paper = "P", .title = "E", .verdict = {"holds", Tone::good}}}};
}

class WrittenReport : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<ScratchFolder>();
    write_file(scratch_->path() / "ledger of run #1.json", "{}");
    index_ = write_report(report(), folder());
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static fs::path folder() { return scratch_->path() / "report"; }
  static Report report() {
    Report r = sample_report();
    r.exhibits[1].attachments = {{"Ledger & key", scratch_->path() / "ledger of run #1.json"}};
    return r;
  }

  inline static std::unique_ptr<ScratchFolder> scratch_;
  inline static fs::path index_;
};

TEST_F(WrittenReport, ResolvesEveryRelativeLink) {
  EXPECT_EQ(index_, folder() / "index.html");
  ASSERT_EQ(pages(folder()).size(), 3U);
  for (const fs::path& page : pages(folder()))
    EXPECT_EQ(broken_links(page), std::vector<std::string>{}) << page;
}

TEST_F(WrittenReport, LinksToEveryFile) {
  std::map<std::string, std::string> files = contents(folder());
  files.erase("index.html");
  for (const fs::path& page : pages(folder())) {
    for (const char* name : {"href", "src"})
      for (const std::string& link : attributes(read_file(page), name))
        files.erase(
            fs::relative(page.parent_path() / decoded(link.substr(0, link.find('#'))), folder())
                .lexically_normal()
                .string());
  }
  for (const auto& [name, content] : files) ADD_FAILURE() << name;
}

TEST_F(WrittenReport, LinkCheckDetectsMissingFile) {
  const ScratchFolder other;
  fs::copy(folder(), other.path(), fs::copy_options::recursive);
  fs::remove(other.path() / "xu-2026-table-2" / "table-2.csv");
  EXPECT_EQ(broken_links(other.path() / "xu-2026-table-2" / "index.html"),
            std::vector<std::string>{"table-2.csv"});
}

TEST_F(WrittenReport, HasWellFormedSelfContainedPages) {
  for (const fs::path& page : pages(folder())) {
    const std::string html = read_file(page);
    EXPECT_EQ(markup_fault(html), "") << page;
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    EXPECT_EQ(count_of(html, "http"), 0U);
    EXPECT_EQ(count_of(html, "<script"), 0U);
    EXPECT_EQ(count_of(html, "<img"), attributes(html, "alt").size());
  }
  EXPECT_EQ(count_of(read_file(folder() / "style.css"), "url("), 0U);
}

TEST_F(WrittenReport, HeadingsDescendOneLevelAtATime) {
  for (const fs::path& page : pages(folder())) {
    const std::string html = read_file(page);
    EXPECT_EQ(count_of(html, "<h1>"), 1U);
    int level = 0;
    for (auto at = html.find("<h"); at != std::string::npos; at = html.find("<h", at + 1)) {
      const char digit = html[at + 2];
      if (digit < '1' || digit > '6') continue;
      EXPECT_LE(digit - '0', level + 1) << page;
      level = digit - '0';
    }
    EXPECT_GE(level, 2);
  }
}

TEST_F(WrittenReport, EscapesAndShowsTexts) {
  const std::string index = read_file(index_);
  EXPECT_EQ(count_of(index, "Table 1: rates for SOSP, n &lt; d &amp; &quot;n &gt; d&quot;</a>"),
            1U);
  EXPECT_EQ(count_of(index, "<dt>compiler</dt><dd>g++ 12.2.0, -O3</dd>"), 1U);
  EXPECT_EQ(
      count_of(index, "class=\"label caution\">reproduced, but the numbers are those of noise<"),
      1U);
  const std::string page = read_file(folder() / "xu-2026-table-2" / "index.html");
  EXPECT_EQ(count_of(page, "2 of 20 failed: not_finite"), 2U);
  EXPECT_EQ(count_of(page, "href=\"ledger%20of%20run%20%231.json\">Ledger &amp; key</a>"), 1U);
  EXPECT_LT(page.find("What the paper says"), page.find("Where this differs, and why"));
}

TEST_F(WrittenReport, WritesSameBytesForSameReport) {
  const ScratchFolder other;
  write_report(report(), other.path());
  const auto first = contents(folder());
  const auto second = contents(other.path());
  ASSERT_EQ(first.size(), second.size());
  for (const auto& [name, content] : first) EXPECT_TRUE(content == second.at(name)) << name;
}

TEST(Report, RejectsBadInputBeforeWriting) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "report";
  const auto refused = [&](const Report& report) {
    const std::string message = message_of([&] { write_report(report, folder); });
    return message.empty() || fs::exists(folder) ? "" : message;
  };
  Report twice = small_report();
  twice.exhibits.push_back(twice.exhibits[0]);
  EXPECT_EQ(refused(twice), "report: file = 'e', expected a name of its own");
  Report missing = small_report();
  missing.exhibits[0].attachments = {{"Ledger", "no-such-file.json"}};
  EXPECT_NE(refused(missing), "");
  Report index = small_report();
  write_file(scratch.path() / "index.html", "");
  index.exhibits[0].attachments = {{"Index", scratch.path() / "index.html"}};
  EXPECT_NE(refused(index), "");
  Report bad_figure = small_report();
  bad_figure.exhibits[0].figures = {Figure{.id = "f"}};
  EXPECT_NE(refused(bad_figure), "");
  EXPECT_EQ(refused(small_report()), "");
}

TEST(Report, BeginsWithNoticeAndWritesContentOfAttachments) {
  const ScratchFolder scratch;
  Report report = small_report();
  report.exhibits[0].notice = {"Computed <before>."};
  report.exhibits[0].paper_says = {"something"};
  report.exhibits[0].attachments = {{"Rows", "rows.csv", "a,b\n"}};
  write_report(report, scratch.path());
  const std::string page = read_file(scratch.path() / "e" / "index.html");
  const auto notice = page.find("<p>Computed &lt;before&gt;.</p>");
  EXPECT_LT(notice, page.find("What the paper says"));
  EXPECT_NE(page.find("<a href=\"rows.csv\">Rows</a>"), std::string::npos);
  EXPECT_EQ(read_file(scratch.path() / "e" / "rows.csv"), "a,b\n");
}

TEST(Report, WritesPagesThatRowsLeadTo) {
  const ScratchFolder scratch;
  Report report = small_report();
  report.exhibits[0].pages = {
      {.id = "one", .title = "First <page>", .sections = {{"Heading", {"text"}}}},
      {.id = "two", .title = "Second"}};
  Table t{.id = "t", .column_groups = {{"", {"c"}}}};
  Row row{.label = "row", .cells = {text_cell("x")}};
  row.link = "one.html";
  t.row_groups = {{"", {row}}};
  report.exhibits[0].tables.push_back(t);
  write_report(report, scratch.path());
  const std::string page = read_file(scratch.path() / "e" / "one.html");
  EXPECT_NE(page.find("<h1>First &lt;page&gt;</h1>"), std::string::npos);
  EXPECT_NE(page.find("<h2>Heading</h2>"), std::string::npos);
  EXPECT_NE(page.find("<a href=\"two.html\">Next: Second</a>"), std::string::npos);
  EXPECT_NE(read_file(scratch.path() / "e" / "index.html").find("<a href=\"one.html\">row</a>"),
            std::string::npos);
  report.exhibits[0].pages.push_back({.id = "index", .title = "Taken"});
  EXPECT_EQ(message_of([&] { write_report(report, scratch.path()); }),
            "exhibit 'e': file = 'index.html', expected a name of its own");
}

TEST(Report, RejectsUnwritableFolderInOneLine) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "file", "x");
  const std::string message =
      message_of([&] { write_report(small_report(), scratch.path() / "file"); });
  EXPECT_NE(message.find("cannot make this folder"), std::string::npos);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace dpsosp::plots::report_test
