// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/report/contents.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "stored.hpp"
#include "temporary_folder.hpp"

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
};

TEST_F(Contents, ForestHasEverySlopeOfEveryClaimOnce) {
  ASSERT_FALSE(rates_.empty());
  // Of the claims of the sweep in the catalogue:
  std::size_t claimed = 0;
  for (const Claim& c : reproductions().claims.claims)
    for (const ClaimedSlope& s : c.slopes) claimed += s.sweep == sweep;
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

}  // namespace
}  // namespace dpsosp::report::contents_test
