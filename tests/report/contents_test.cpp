// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/report/contents.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "contents_texts.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "moved_page.hpp"
#include "publications.hpp"
#include "stored.hpp"
#include "temporary_folder.hpp"
#include "written.hpp"

// Pages from runs of one exhibit at smoke scale.
namespace dpsosp::report::contents_test {
namespace {

constexpr const char* exhibit = "lowy-2024/contour";
constexpr const char* sweep = "arora-2023-dp-spider";

/// A report of one exhibit and one sweep.
class Contents : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    const ReproduceOptions options{
        .exhibits = {exhibit}, .scale = Scale::smoke, .out = folder_->path(), .quiet = true};
    reproduce(reproductions().catalogue, options, [](const Reproduced& r) {
      site_ = std::make_unique<Site>(site_of(r, reproductions()));
      std::vector<Job> jobs = jobs_of(r.study.sweep(sweep));
      Store store(folder_->path() / "sweep.sqlite");
      const auto runs = run_jobs(
          store, jobs, [](const Job& job) { return reproductions().catalogue.compute(job); });
      const Runs lookup(runs);
      const Reproduced other{.study = r.study, .store = store, .runs = lookup};
      const Stored stored(other, reproductions());
      forest_ = forest_of(stored);
      rates_ = stored.rates();
      for (const Part& part : r.study.sweep(sweep).parts) parts_.insert(part.name);
      return r.out;
    });
  }
  static void TearDownTestSuite() {
    folder_.reset();
    site_.reset();
  }
  inline static std::unique_ptr<TemporaryFolder> folder_;
  inline static std::unique_ptr<Site> site_;
  inline static std::vector<ForestGroup> forest_;
  inline static std::vector<Rate> rates_;
  inline static std::set<std::string> parts_;  ///< of the sweep at this scale
};

TEST_F(Contents, ForestHasEverySlopeOfEveryClaimOnce) {
  ASSERT_FALSE(rates_.empty());
  std::size_t claimed = 0;
  for (const Claim& c : reproductions().claims.claims)
    for (const ClaimedSlope& s : c.slopes) claimed += s.sweep == sweep && parts_.contains(s.part);
  EXPECT_EQ(rates_.size(), claimed);
  std::size_t shown = 0;
  std::set<std::string> claims;
  for (const ForestGroup& g : forest_)
    for (const ForestRow& row : g.rows) {
      shown += row.rates.size() * (1 + row.also.size());
      claims.insert(row.claim);
      claims.insert(row.also.begin(), row.also.end());
    }
  EXPECT_EQ(shown, rates_.size());
  std::set<std::string> expected;
  for (const Rate& r : rates_) expected.insert(r.claim);
  EXPECT_EQ(claims, expected);
}

TEST_F(Contents, ResultsThatStayInTheStoreAreThoseOfItsRuns) {
  const Store store(folder_->path() / "sweep.sqlite", Store::Access::read_only);
  std::vector<StoredRun> whole, bare;
  std::vector<Job> jobs;
  store.each([&](const StoredRun& run, const Provenance&) {
    whole.push_back(run);
    jobs.emplace_back(run.key.description());
  });
  ASSERT_FALSE(whole.empty());
  add_stored(store, jobs, bare);
  const Runs here(whole), there(bare, store);
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    EXPECT_TRUE(bare[k].result.is_null());
    ASSERT_EQ(here.result(jobs[k]) == nullptr, there.result(jobs[k]) == nullptr);
    if (here.result(jobs[k]) != nullptr) {
      EXPECT_EQ(nlohmann::json(*here.result(jobs[k])), nlohmann::json(*there.result(jobs[k])));
    }
  }
}

TEST(Captions, NameWhatThePartDoesNotVary) {
  const Sweep s = parse_sweep(R"(
title = "A sweep"
metric = "output.sosp_level"
seeds = 3
[[arm]]
name = "ours"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
records = 40000
dimension = 10
[[part]]
name = "d"
axes = [{ dimension = [4, 8] }, { records = [20000] }]
)",
                              "test", Scale::quick);
  EXPECT_EQ(setting_of(s, s.parts[0], 0),
            "ours on ripple-location, n = 20000, ε = 1, δ = 10^{−6}, 3 seeds");
}

TEST_F(Contents, SaysWhatIsNotInTheReport) {
  ASSERT_EQ(site_->exhibits.size(), 1U);
  EXPECT_EQ(site_->exhibits[0].id, exhibit);
  EXPECT_TRUE(std::ranges::any_of(site_->index.missing, [](const Missing& m) {
    return m.what == "Other exhibits" && m.command == "./run reproduce";
  }));
  EXPECT_FALSE(site_->index.warning.empty());  // smoke
}

TEST_F(Contents, HasAPageForEveryAlgorithmAndProblem) {
  EXPECT_EQ(site_->algorithms.size(), site_->methods.size());
  for (const AlgorithmPage& a : site_->algorithms) {
    EXPECT_FALSE(a.commands.empty()) << a.key;
    EXPECT_TRUE(site_->addresses.contains(a.key)) << a.key;
  }
  EXPECT_GT(site_->problems.size(), 20U);
}

TEST(WrittenSentences, NameClaimsWordsAndExhibitsThatExist) {
  const TomlDocument document(findings_toml(), "findings.toml");
  const auto expect_claim = [](const std::string& id, const std::string& word) {
    EXPECT_NE(std::ranges::find(reproductions().claims.claims, id, &Claim::id),
              reproductions().claims.claims.end())
        << id;
    EXPECT_NO_THROW(from_word<Headline>(word)) << word;
  };
  const auto expect_exhibit = [](const std::string& id) {
    const auto& exhibits = reproductions().catalogue.exhibits;
    EXPECT_NE(std::ranges::find(exhibits, id, &ExhibitEntry::id), exhibits.end()) << id;
  };
  for (const WrittenFinding& f : written_findings()) {
    for (const auto& [claim, word] : f.words) expect_claim(claim, word);
    if (!f.exhibit.empty()) expect_exhibit(f.exhibit);
  }
  for (const TomlNode& node : document.root().at("summary").array()) {
    const TomlTable t = node.table();
    expect_exhibit(t.at("exhibit").text());
    for (const auto& [claim, word] : t.at("words").table().entries())
      expect_claim(claim, word.text());
  }
}

// The first page of the report, docs/findings.md and README.md have the same findings in one order.
TEST(WrittenSentences, AreThoseOfFindingsPageAndReadme) {
  EXPECT_EQ(read_file(DPSOSP_DOCS "/findings.md"), findings_page())
      << "write it with `dpsosp list findings --document docs`";
  const auto on_one_line = [](std::string text) {
    return std::regex_replace(text, std::regex(R"(\s+)"), " ");
  };
  const std::string readme = on_one_line(read_file(DPSOSP_DOCS "/../README.md"));
  std::size_t at = 0;
  int number = 0;
  for (const WrittenFinding& f : written_findings()) {
    const std::string item = fmt::format("{}. {}", ++number, f.sentence);
    at = readme.find(item, at);
    ASSERT_NE(at, std::string::npos) << "README.md lacks, in this place: " << item;
  }
  EXPECT_EQ(readme.find(fmt::format(" {}. ", number + 1), at), std::string::npos);
}

std::vector<std::string> titles_of(std::string_view text, const char* form) {
  std::vector<std::string> titles;
  const std::string lines(text);
  const std::regex title(form);
  for (std::sregex_iterator at(lines.begin(), lines.end(), title), end; at != end; ++at)
    titles.push_back((*at)[1].str());
  EXPECT_GE(titles.size(), 5U);
  return titles;
}

TEST(Publications, EveryPaperOfAnAlgorithmHasAnEntry) {
  for (const AlgorithmEntry& e : algorithm_registry()) {
    const std::string key = paper_of(e.key);
    if (key == "reference" || key == "tracked-descent") continue;  // of this suite
    const std::string entry = bibtex_of(key);
    EXPECT_TRUE(entry.starts_with("@misc{" + key + ",\n  author = {")) << key << '\n' << entry;
    EXPECT_NE(entry.find("year = {" + key.substr(key.size() - 4) + "}"), std::string::npos) << key;
    EXPECT_EQ(entry.find('*'), std::string::npos) << entry;
    EXPECT_EQ(std::ranges::count(entry, '{'), std::ranges::count(entry, '}')) << entry;
  }
  for (const std::string& title : titles_of(citation_cff(), R"re(    title: "(.*)")re"))
    EXPECT_NE(publications_bib().find("{{" + title + "}}"), std::string_view::npos)
        << "CITATION.cff has another title: " << title;
  EXPECT_EQ(bibtex_of("liu-talwar-2025"),
            "@misc{liu-talwar-2025,\n"
            "  author = {Daogao Liu and Kunal Talwar},\n"
            "  title = {{Adaptive Batch Size for Privately Finding Second-Order Stationary "
            "Points}},\n"
            "  year = {2025},\n"
            "  eprint = {2410.07502},\n"
            "  archiveprefix = {arXiv}\n}");
  EXPECT_EQ(bibtex_of("nobody-1999"), "");
}

TEST(Publications, ReportIsCitedByItsVersionCommitScaleAndProgram) {
  setenv("DPSOSP_COMMIT", "0123abc", 1);
  const std::string entry = bibtex_of_report("quick");
  unsetenv("DPSOSP_COMMIT");
  const Build& build = provenance().build;
  EXPECT_TRUE(entry.starts_with("@software{dpsosp,\n  author = {")) << entry;
  for (const std::string& part :
       {"version = {" + build.program_version + "}", std::string("scale quick"),
        std::string("commit "), "SHA-256 " + build.binary})
    EXPECT_NE(entry.find(part), std::string::npos) << part << '\n' << entry;
  EXPECT_EQ(entry.find("invalid"), std::string::npos) << entry;  // an address that is none
  EXPECT_EQ(std::ranges::count(entry, '{'), std::ranges::count(entry, '}')) << entry;
  EXPECT_NE(citation_cff().find("\nversion: " + build.program_version + "\n"),
            std::string_view::npos);
}

TEST(Publications, PseudoCodeIsFoundWhereTheTableSays) {
  for (const std::string& key : algorithms_with_pseudocode()) {
    EXPECT_TRUE(find_algorithm(key) != nullptr) << key;
    const std::vector<PseudoCode> blocks = pseudocode_of(key);
    ASSERT_FALSE(blocks.empty()) << key;
    for (const PseudoCode& b : blocks) EXPECT_GE(b.lines.size(), 2U) << key << ' ' << b.heading;
  }
  EXPECT_TRUE(pseudocode_of("reference/sgd").empty());
  // Of two blocks of one section, the one with the text.
  EXPECT_EQ(pseudocode_of("wang-ye-xu-2017/dp-gd").size(), 1U);
  EXPECT_TRUE(pseudocode_of("wang-ye-xu-2017/dp-gd")[0].lines[0].starts_with("DP-GD("));
}

TEST(Numbers, AreShortInTexts) {
  for (const auto& [v, shown] : {std::pair{1000.0, "1000"},
                                 {4e9, "4·10^{9}"},
                                 {1e-4, "10^{−4}"},
                                 {0.001, "0.001"},
                                 {99999.9, "99999.9"},
                                 {-2.5e-7, "-2.5·10^{−7}"},
                                 {0.0, "0"}})
    EXPECT_EQ(short_number(v), shown);
}

TEST_F(Contents, NumbersNameTheSweepThatComputesThem) {
  for (const ExhibitPage& e : site_->exhibits)
    EXPECT_TRUE(std::ranges::any_of(e.commands, [](const Command& c) {
      return c.command == std::string("./run reproduce ") + exhibit;
    }));
  for (const Rate& r : rates_) EXPECT_EQ(r.sweep, sweep);
}

TEST_F(Contents, ErrataHaveAddresses) {
  EXPECT_EQ(site_->addresses.at("X7"), "errata-xu-2026.html#X7");
  EXPECT_EQ(site_->addresses.at("Z1"), "errata.html#Z1");
}

Compared compared(std::string name, std::string word, double slope) {
  Compared c{.name = std::move(name), .results = {{{"a", "1"}, {"b", word}}, {"a build"}}};
  c.site.claims = {{.id = "smith-2027/c1",
                    .word = word,
                    .rates = {{.claim = "smith-2027/c1",
                               .axis = "n",
                               .claimed_low = -0.5,
                               .claimed_high = -0.5,
                               .zone_low = -0.6,
                               .zone_high = -0.4,
                               .value = slope,
                               .low = slope - 0.01,
                               .high = slope + 0.01,
                               .word = word}}}};
  c.site.exhibits = {{.id = "smith-2027/table-1", .finding = "1 " + word}};
  return c;
}

std::size_t rows_of(const TextPage& page, const std::string& section) {
  const auto s = std::ranges::find(page.sections, section, &TextPage::Section::id);
  return s->tables.empty() ? 0 : s->tables.front().row_groups.front().rows.size();
}

TEST(Moved, ShowsWordsExponentsAndVerdictsThatDiffer) {
  const Compared before = compared("before.sqlite", "confirmed", -0.5),
                 after = compared("after.sqlite", "open", -0.7);
  const TextPage page = moved_page({&before, &after});
  for (const char* section : {"words", "exponents", "verdicts"})
    EXPECT_EQ(rows_of(page, section), 1U) << section;
  const plots::Row& first = page.sections.front().tables.front().row_groups.front().rows.front();
  std::vector<std::string> cells;
  for (const plots::Cell& c : first.cells) cells.push_back(std::get<std::string>(c.content));
  EXPECT_EQ(cells, (std::vector<std::string>{"2", "1", "1", "0", "a build"}));
}

TEST(Moved, ShowsNothingOfEqualStores) {
  const Compared one = compared("one.sqlite", "open", -0.5),
                 other = compared("other.sqlite", "open", -0.5);
  const TextPage page = moved_page({&one, &other});
  for (const char* section : {"words", "exponents", "verdicts"})
    EXPECT_EQ(rows_of(page, section), 0U) << section;
}

TEST(Rates, OfASlopeWithoutAClaimHaveNone) {
  const Slope slope{.part = "n", .arm = "a", .request = {.metric = "output.sosp_level"}};
  const Rate r = rate_of(slope, {}, "mine", nullptr);
  EXPECT_FALSE(is_claimed(r));
  EXPECT_TRUE(r.word.empty());
  EXPECT_TRUE(is_claimed(rate_of(slope, ClaimedExponent{-0.5}, "mine", nullptr)));
}

}  // namespace
}  // namespace dpsosp::report::contents_test
