// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "../cli/program.hpp"
#include "curves.hpp"
#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "figure_claims.hpp"
#include "figure_pages.hpp"
#include "figure_runs.hpp"
#include "figure_statistics.hpp"
#include "findings.hpp"
#include "made_up_figures.hpp"
#include "synthetic_training.hpp"

// The figures with networks: their rows, numbers and pages, from runs that nobody made.
namespace dpsosp::avdiukhin_2024_figures_test {
namespace {

using nlohmann::json;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// --- parameters and results ---

TEST(Training, RoundTripsThroughJson) {
  for (const char* figure : {"1a", "1b", "2a", "2b", "3a", "3b"})
    for (const CurveRun& run : made_up(figure, Scale::smoke)) {
      EXPECT_EQ(json(run.training).get<Training>(), run.training);
      EXPECT_EQ(json::parse(json(run.result).dump()).get<TrainingResult>(), run.result);
    }
  TrainingResult diverged{.epochs = {{.train_loss = inf, .largest_norm = inf, .audit_norm = -inf}}};
  EXPECT_EQ(json(diverged).get<TrainingResult>(), diverged);
  EXPECT_EQ(json(diverged).dump().find("null,\"epochs"), std::string::npos);
}

TEST(Training, RefusesMembersThatAreMissingUnknownOrOfAnotherKind) {
  const json good = runs_of_figure("1a", Scale::quick).front().training;
  const auto refused = [&](const std::function<void(json&)>& change) {
    json bad = good;
    change(bad);
    return refusal([&] { bad.get<Training>(); });
  };
  EXPECT_EQ(refused([](json&) {}), "");
  EXPECT_EQ(refused([](json& j) { j.erase("clip"); }),
            "training: clip = nothing, expected a number");
  EXPECT_EQ(refused([](json& j) { j["width"] = 1.5; }),
            "training: width = 1.5, expected an integer");
  EXPECT_EQ(refused([](json& j) { j["records"] = -1; }),
            "training: records = -1, expected an integer >= 0");
  EXPECT_EQ(refused([](json& j) { j["smooth"] = 1; }),
            "training: smooth = 1, expected true or false");
  EXPECT_EQ(refused([](json& j) { j["stepsize"] = 1; }),
            "unknown key of training 'stepsize'; did you mean 'step_size'?");
  EXPECT_EQ(refusal([] { json::array().get<Training>(); }),
            "training: value = [], expected an object");
}

TEST(TrainingResult, RefusesWhatIsNoResult) {
  const json good = made_up("1a", Scale::smoke).front().result;
  json no_epochs = good, bad_epoch = good;
  no_epochs["epochs"] = json::array();
  bad_epoch["epochs"][1]["train_loss"] = "big";
  EXPECT_EQ(refusal([&] { no_epochs.get<TrainingResult>(); }),
            "training result: epochs = [], expected an array, not empty");
  EXPECT_EQ(refusal([&] { bad_epoch.get<TrainingResult>(); }),
            "training result, epoch: train_loss = \"big\", expected a number, \"nan\", \"inf\" or "
            "\"-inf\"");
}

// --- the table of rows ---

TEST(Curves, RoundTripThroughCsv) {
  std::vector<CurveRun> runs = made_up("1a", Scale::quick);
  runs[1].result.summary.reason = "two words, and \"quotes\"\nin two lines";
  runs[2].failure = "the loss is nan";
  runs[2].result = {};
  runs[3].result.epochs[2].largest_norm = inf;
  runs[3].result.epochs[2].audit_norm = -inf;
  runs[4].result.epochs[1].train_loss = std::nan("");
  std::vector<CurveRun> back = read_curves("t", curves_csv(runs));
  ASSERT_EQ(back.size(), runs.size());
  EXPECT_TRUE(std::isnan(back[4].result.epochs[1].train_loss));
  back[4].result.epochs[1].train_loss = runs[4].result.epochs[1].train_loss = 0;
  EXPECT_EQ(back, runs);
  EXPECT_TRUE(read_curves("t", "").empty());
}

TEST(Curves, HaveOneRowForRunAndEpoch) {
  const std::vector<CurveRun> runs = made_up("3b", Scale::smoke);
  std::size_t rows = 1;
  for (const CurveRun& run : runs) rows += run.result.epochs.size();
  EXPECT_EQ(lines(curves_csv(runs)).size(), rows);
}

TEST(Curves, RefuseWhatIsNoSuchTableInOneLine) {
  const std::vector<std::string> good = lines(curves_csv(made_up("3b", Scale::smoke)));
  const auto refused = [&](std::size_t line, const std::string& from, const std::string& to) {
    std::vector<std::string> bad = good;
    const auto at = bad[line].find(from);
    EXPECT_NE(at, std::string::npos);
    bad[line].replace(at, from.size(), to);
    std::string text;
    for (const std::string& row : bad) text += row + "\n";
    return refusal([&] { read_curves("t.csv", text); });
  };
  EXPECT_NE(refused(0, "seed", "sede").find("t.csv, line 1: columns = "), std::string::npos);
  EXPECT_EQ(refused(2, ",batch", ""), "t.csv, line 3: fields = 43, expected 44, as the header has");
  EXPECT_EQ(refused(1, "58.9", "58.9.1"), "t.csv, line 2: clip = '58.9.1', expected a number");
  EXPECT_EQ(refused(1, "false", "no"), "t.csv, line 2: smooth = 'no', expected true or false");
  EXPECT_EQ(refused(1, "3b,published,0,,", "3b,published,0,failed,"),
            "t.csv, line 2: epoch = a number, expected nothing, since the run failed");
}

TEST(Provenance, RoundTripsThroughCsv) {
  const std::vector<ComputedBy> origins{
      {"quick", "2026-11-25", "2026-11-26", "0.2.0, GCC 12.2.0, x86-64", 47}};
  EXPECT_EQ(read_provenance("t", provenance_csv(origins)), origins);
  EXPECT_TRUE(read_provenance("t", "").empty());
}

// --- numbers ---

/// A curve whose runs have these final accuracies.
struct Made {
  std::optional<double> epsilon;
  std::vector<double> accuracies;
};
std::vector<CurveRun> made_of(const std::vector<Made>& curves, std::string figure = "1a") {
  std::vector<CurveRun> runs;
  for (const Made& m : curves)
    for (std::size_t seed = 0; seed < m.accuracies.size(); ++seed)
      runs.push_back({.figure = figure,
                      .variant = std::string(published),
                      .seed = seed,
                      .training = {.epsilon = m.epsilon},
                      .result = {.epochs = {{.epoch = 0, .test_accuracy = 0.9},
                                            {.epoch = 1, .test_accuracy = m.accuracies[seed]}}}});
  return runs;
}

Estimate correlation(const std::vector<Made>& curves) {
  const std::vector<CurveRun> runs = made_of(curves);
  return rank_correlation(curves_of(runs, "1a", published), &TrainedEpoch::test_accuracy);
}

TEST(RankCorrelation, IsOneInOrderAndMinusOneInReverse) {
  const Estimate up =
      correlation({{2.0, {0.3, 0.35}}, {0.5, {0.1, 0.1}}, {8.0, {0.4, 0.5}}, {{}, {0.1, 0.1}}});
  EXPECT_EQ(up.value, 1);
  EXPECT_EQ(up.interval.low, 1);
  EXPECT_EQ(up.interval.high, 1);
  EXPECT_EQ(correlation({{2.0, {0.3}}, {0.5, {0.5}}, {8.0, {0.1}}}).value, -1);
}

// Ranks 1, 2.5, 2.5, 4 against 1 to 4: 1 − 6 Σd²/(n(n² − 1)) corrected for the tie, 4.5/√(5·4.5).
TEST(RankCorrelation, SharesRanksOfEqualValues) {
  const Estimate e = correlation({{1.0, {0.1}}, {2.0, {0.2}}, {4.0, {0.2}}, {8.0, {0.3}}});
  EXPECT_NEAR(e.value, 4.5 / std::sqrt(5 * 4.5), 1e-12);
  EXPECT_EQ(e.interval.high, inf);  // of one seed
  EXPECT_EQ(correlation({{1.0, {0.1}}, {2.0, {0.1}}, {4.0, {0.1}}}).value, 0);
}

TEST(RankCorrelation, OfSeedsThatDisagreeHasWideInterval) {
  const Estimate e = correlation({{1.0, {0.1, 0.3}}, {2.0, {0.2, 0.2}}, {4.0, {0.3, 0.1}}});
  EXPECT_LE(e.interval.low, -0.9);
  EXPECT_GE(e.interval.high, 0.9);
  EXPECT_GE(e.interval.low, -1);
  EXPECT_LE(e.interval.high, 1);
  EXPECT_TRUE(std::isnan(correlation({{1.0, {0.1}}, {2.0, {0.2}}}).value));
}

TEST(Gap, PairsSeeds) {
  const std::vector<CurveRun> runs = made_of({{{}, {0.5, 0.7, 0.6, 0.9}}, {8.0, {0.4, 0.6, 0.5}}});
  const std::vector<Curve> curves = curves_of(runs, "1a", published);
  const EpochMetric metric = &TrainedEpoch::test_accuracy;
  const Estimate e = gap(curves[1], curves[0], metric);  // the fourth seed has no partner
  EXPECT_NEAR(e.value, 0.1, 1e-12);
  EXPECT_NEAR(e.interval.low, 0.1, 1e-12);
  EXPECT_NEAR(e.interval.high, 0.1, 1e-12);
  EXPECT_EQ(best_values(curves[0], metric), (std::vector<double>{0.9, 0.9, 0.9}));
}

TEST(Curves, OfVariantAreInOrderOfEpsilonAndSeedWithoutFailures) {
  std::vector<CurveRun> runs = made_of({{{}, {0.5}}, {8.0, {0.4, 0.6}}, {0.125, {0.1}}});
  runs[1].failure = "nan";
  std::ranges::reverse(runs);
  const std::vector<Curve> curves = curves_of(runs, "1a", published);
  ASSERT_EQ(curves.size(), 3U);
  EXPECT_EQ(curves[0].epsilon, 0.125);
  EXPECT_EQ(curves[1].epsilon, 8.0);
  EXPECT_EQ(curves[1].runs.size(), 1U);
  EXPECT_FALSE(curves[2].epsilon);
  EXPECT_TRUE(curves_of(runs, "1b", published).empty());
  EXPECT_EQ(curve_at(curves, 1.0), nullptr);
}

TEST(Estimates, AreWrittenWithIntervalWhereThereIsOne) {
  EXPECT_EQ(to_text(Estimate{0.25, {0.2, 0.3}}), "0.250 [0.200, 0.300]");
  EXPECT_EQ(to_text(Estimate{0.25, {-inf, inf}}), "0.250");
  EXPECT_EQ(to_text(Estimate{std::nan(""), {}}), "–");
  EXPECT_EQ(mean_and_range({0.1, 0.3}), "0.200 [0.100, 0.300]");
  EXPECT_EQ(mean_and_range({0.1}), "0.100");
  EXPECT_EQ(mean_and_range({}), "–");
}

// --- which runs, and from where ---

TEST(FigureRuns, BoundOfFigure3bIsThatOfLemma) {
  const double bound = avdiukhin_2024::lemma_3_2_bound({.records = 50000,
                                                        .dimension = 2274880,
                                                        .smoothness = 10,
                                                        .gap = std::log(10.0),
                                                        .deviation = 2.5},
                                                       24 * 97, 0.01);
  EXPECT_NEAR(bound, theorem_bound, 0.05);
}

TEST(FigureRuns, OfFigures1aAnd3bDifferInBoundAlone) {
  for (const Scale scale : {Scale::smoke, Scale::quick, Scale::full}) {
    const auto runs = runs_of_figure("3b", scale);
    ASSERT_EQ(runs.size(), 2U);
    Training training = runs[0].training;
    training.clip = published_bound;
    EXPECT_EQ(training, runs[1].training);
    EXPECT_EQ(runs[1].figure, "1a");
  }
}

TEST(FigureRuns, OfFullScaleAreOfPublishedSize) {
  for (const char* figure : {"1a", "1b", "2a", "2b"}) {
    const VariantRuns v = runs_of_figure(figure, Scale::full).front();
    EXPECT_TRUE(is_published_size({.training = v.training})) << figure;
    EXPECT_EQ(v.seeds, 10U);
    EXPECT_EQ(v.epsilons.size(), 8U);
    EXPECT_EQ(v.training.clip, 2.5);
    EXPECT_EQ(v.training.step_size, 0.1);
    EXPECT_EQ(v.training.delta, 0.01);
  }
}

TEST(FigureRuns, SoundOnesClipInPoissonBatchesWithoutSharedStatistics) {
  for (const Scale scale : {Scale::smoke, Scale::quick, Scale::full})
    for (const char* figure : {"1a", "1b", "2a", "2b"})
      for (const VariantRuns& v : runs_of_figure(figure, scale)) {
        if (v.variant != sound && v.variant != adam) continue;
        EXPECT_EQ(v.training.normalisation, "group");
        EXPECT_EQ(v.training.sampling, "poisson");
        EXPECT_EQ(v.training.adjacency, "replace_one");
        EXPECT_NE(v.training.algorithm, "avdiukhin-2024/noisy-sgd");
      }
}

TEST(FigureRuns, OfFiguresWithSuppliedDataAreAskedForWhereItIs) {
  const ScratchFolder folder;
  const char* before = std::getenv("DPSOSP_DATA");
  const std::string kept = before != nullptr ? before : "";
  setenv("DPSOSP_DATA", folder.path().c_str(), 1);
  const Study study = study_at(Scale::quick);
  EXPECT_TRUE(figure_jobs("2a", study).empty());
  const std::string missing = missing_files("2a");
  EXPECT_TRUE(missing.starts_with("needs data: cifar-100-binary/train.bin, ")) << missing;
  EXPECT_TRUE(missing.ends_with("; then ./run reproduce avdiukhin-2024/figure-2a")) << missing;
  EXPECT_NE(missing_files("2b").find("bert-base-uncased/vocab.txt"), std::string::npos);
  std::filesystem::create_directories(folder / "cifar-100-binary");
  for (const char* file :
       {"cifar-100-binary/train.bin", "cifar-100-binary/test.bin", "resnet18.safetensors"})
    std::ofstream(folder / file) << "x";
  EXPECT_EQ(missing_files("2a"), "");
  EXPECT_EQ(figure_jobs("2a", study).size(), 9U);
  EXPECT_EQ(missing_files("1a"), "");
  if (before != nullptr)
    setenv("DPSOSP_DATA", kept.c_str(), 1);
  else
    unsetenv("DPSOSP_DATA");
}

/// The runs of a figure as the store has them.
std::vector<StoredRun> stored_runs_of(std::string_view figure, Scale scale) {
  std::vector<StoredRun> stored;
  for (const Job& job : figure_jobs(figure, study_at(scale)))
    stored.push_back(
        {.key = job.key(),
         .reason = "",
         .result = synthetic_result(job.probe()->parameters.get<Training>(), job.seed())});
  return stored;
}

std::string tables_of(const plots::Exhibit& e) {
  std::string text = e.verdict.text.substr(0, e.verdict.text.find("; computed before"));
  for (const plots::Table& t : e.tables) text += plots::to_csv(t);
  for (const plots::Figure& f : e.figures)
    for (const plots::Panel& p : f.panels)
      for (const plots::Series& s : p.series)
        text += fmt::format("{} {} {}\n", s.label, fmt::join(s.x, " "), fmt::join(s.y, " ")) +
                f.caption;
  return text;
}

TEST(FigureData, FromCommittedRowsGivesThePageOfTheRuns) {
  for (const char* figure : {"1a", "1b", "3a", "3b"}) {
    const std::vector<StoredRun> stored = stored_runs_of(figure, Scale::quick);
    const FigureData fresh = figure_data(figure, Runs(stored), study_at(Scale::quick), {});
    ASSERT_FALSE(fresh.runs.empty());
    EXPECT_FALSE(fresh.before);
    const plots::Exhibit page = figure_page(figure, fresh);
    EXPECT_TRUE(page.notice.empty());

    // Each figure's own rows in a folder of their own, as results/ has them.
    std::map<std::string, std::vector<CurveRun>> by_figure;
    for (const CurveRun& run : fresh.runs) by_figure[run.figure].push_back(run);
    std::vector<std::string> texts;
    texts.reserve(2 * by_figure.size());
    std::vector<CommittedCurves> committed;
    for (const auto& [name, runs] : by_figure) {
      texts.push_back(std::string("avdiukhin-2024-figure-") + name);
      const std::string& folder = texts.back();
      texts.push_back(curves_csv(runs));
      committed.push_back(
          {folder, texts.back(), "scale,first,last,build,runs\nquick,2026-11-25,2026-11-26,B,7\n"});
    }
    const FigureData before = figure_data(figure, Runs({}), study_at(Scale::smoke), committed);
    EXPECT_TRUE(before.before);
    const plots::Exhibit page_before = figure_page(figure, before);
    EXPECT_EQ(tables_of(page_before), tables_of(page)) << figure;
    ASSERT_EQ(page_before.notice.size(), 1U);
    EXPECT_EQ(page_before.notice[0],
              "Computed before, with `./run reproduce avdiukhin-2024`, by dpsosp B at scale quick "
              "on 2026-11-25 to 2026-11-26; not computed in this run.");
    EXPECT_EQ(page_before.attachments[0].content, page.attachments[0].content);
  }
}

TEST(FigureData, IsNeverPartlyFromRuns) {
  std::vector<StoredRun> stored = stored_runs_of("1a", Scale::smoke);
  stored.pop_back();
  EXPECT_TRUE(figure_data("1a", Runs(stored), study_at(Scale::smoke), {}).runs.empty());
}

TEST(FigureData, KeepsFailedRunsAndRefusesWhatIsNoResult) {
  std::vector<StoredRun> stored = stored_runs_of("1a", Scale::smoke);
  stored[0] = {.key = stored[0].key,
               .status = RunStatus::failed,
               .reason = "the loss is nan",
               .result = nullptr};
  const FigureData data = figure_data("1a", Runs(stored), study_at(Scale::smoke), {});
  EXPECT_EQ(data.runs[0].failure, "the loss is nan");
  EXPECT_NE(figure_page("1a", data).notice.at(0).find("1 of "), std::string::npos);
  stored[1].result = 3;
  EXPECT_NE(refusal([&] {
              figure_data("1a", Runs(stored), study_at(Scale::smoke), {});
            }).find("what is stored is no result of this program: training result: value = 3"),
            std::string::npos);
}

TEST(FigurePages, WithoutRunsSayWhatTheyNeed) {
  const plots::Exhibit page = figure_page("1a", {});
  EXPECT_EQ(page.verdict.text, "not computed here: ./run reproduce avdiukhin-2024/figure-1a");
  EXPECT_EQ(page.notice, std::vector<std::string>{page.verdict.text});
  EXPECT_TRUE(page.tables.empty());
  EXPECT_TRUE(page.figures.empty());
}

TEST(FigurePages, DrawMeanAndRangeOverSeeds) {
  FigureData data{.runs = made_of({{8.0, {0.2, 0.3, 0.7}}})};
  const plots::Exhibit page = figure_page("1a", data);
  ASSERT_EQ(page.figures.size(), 1U);
  const plots::Series& s = page.figures[0].panels.at(0).series.at(0);
  EXPECT_EQ(s.x, (std::vector<double>{0, 1}));
  EXPECT_NEAR(s.y[1], 0.4, 1e-12);
  EXPECT_EQ(s.low[1], 0.2);
  EXPECT_EQ(s.high[1], 0.7);
  EXPECT_EQ(s.label, "ε = 8");
}

TEST(FigurePages, DrawNormsThatAreNotFiniteAsGaps) {
  FigureData data{.runs = made_up("3a", Scale::smoke)};
  for (CurveRun& run : data.runs) run.result.epochs.back().audit_norm = inf;
  const plots::Exhibit page = figure_page("3a", data);
  const auto norms = std::ranges::find(page.figures, "norm-curves", &plots::Figure::id);
  ASSERT_NE(norms, page.figures.end());
  EXPECT_TRUE(std::isnan(norms->panels[0].series[1].y.back()));
  EXPECT_EQ(norms->panels[0].lines[0].value, 2.5);
  plots::check(*norms);
}

// --- in the catalogue ---

TEST(FigureClaims, AreNoJobsOfClaimsUntilTheStoreHasThem) {
  const Collection& all = reproductions();
  const auto asks = [](const std::vector<Job>& jobs) {
    return std::ranges::count_if(jobs, [](const Job& job) {
      return job.probe() != nullptr && job.probe()->probe == training_probe;
    });
  };
  const ScratchFolder folder;
  Store store(folder / "store.sqlite");
  const Study study{.catalogue = all.catalogue, .scale = Scale::smoke, .store = &store};
  EXPECT_EQ(asks(claim_jobs(all.claims, study)), 0);
  for (const StoredRun& run : stored_runs_of("3b", Scale::smoke)) store.put(run, {});
  EXPECT_EQ(asks(claim_jobs(all.claims, study)), std::ssize(figure_jobs("3b", study)));
}

TEST(FigureClaims, AreHandedStoredRunsThroughTheirPredicates) {
  const Finding f = finding_of("avdiukhin-2024/figure-3b", Scale::quick, [](const json& job) {
    return json(synthetic_result(job.at("parameters").get<Training>(),
                                 job.at("seed").get<std::uint64_t>()));
  });
  EXPECT_EQ(f.verdict, Verdict::inconclusive);
  EXPECT_TRUE(
      f.reason.starts_with("the runs are smaller than the paper's (widths over 8, n = 5000"))
      << f.reason;
}

TEST(FigureExhibits, AreOnRequestAndNeedCodeThatLibrariesLack) {
  const Catalogue& catalogue = reproductions().catalogue;
  for (const char* figure : {"1a", "1b", "2a", "2b", "3a", "3b"}) {
    const std::string id = std::string("avdiukhin-2024/figure-") + figure;
    const auto entry = std::ranges::find(catalogue.exhibits, id, &ExhibitEntry::id);
    ASSERT_NE(entry, catalogue.exhibits.end()) << id;
    EXPECT_TRUE(entry->on_request);
    const Predicate* predicate = reproductions().claims.predicate_of(id);
    ASSERT_NE(predicate, nullptr) << id;
    EXPECT_EQ(predicate->exhibit, id);
  }
  EXPECT_FALSE(catalogue.can_compute(figure_jobs("1a", study_at(Scale::smoke)).front()));
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024_figures_test
