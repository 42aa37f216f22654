// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../program.hpp"
#include "paths.hpp"

namespace dpsosp::account_test {
namespace {

Result account(const std::string& options) {
  return run_program(built_program("dpsosp"), words("account " + options));
}

Result account_batch(const std::string& path) {
  return run_program(built_program("dpsosp"), {"account", "--batch", path});
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  if (text.ends_with(separator) && separator == ',') parts.emplace_back();
  return parts;
}

TEST(AccountCommand, PrintsReferenceEpsilonFirst) {
  const Result r = account(
      "--mechanism gaussian --noise-multiplier 1 --sampling poisson --rate 0.01 --steps 10000 "
      "--delta 1e-5 --adjacency add_remove --accountant rdp");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_TRUE(r.out.starts_with("epsilon 6.712738298 at delta 1e-05\n")) << r.out;
}

TEST(AccountCommand, PrintsReferenceNumbersAsJson) {
  const Result r = account(
      "--mechanism gaussian --noise-multiplier 1 --sampling poisson --rate 0.01 --steps 10000 "
      "--delta 1e-5 --adjacency add_remove --accountant rdp --json");
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_NEAR(json.at("epsilon").get<double>(), 6.712738297545423, 1e-9);
  EXPECT_EQ(json.at("order"), 4.1);
  EXPECT_EQ(json.at("adjacency"), "add_remove");
  EXPECT_EQ(json.at("accountant"), "rdp");
}

// An upper bound shows no violation; the lower end of the interval does.
TEST(AccountCommand, PrintsIntervalBetweenAttainedAndProvedEpsilon) {
  const std::string fixed =
      "--mechanism gaussian --sampling fixed --rate 0.125 --steps 4000 --sensitivity-ratio 2.323 "
      "--delta 1e-6 ";
  const auto json = nlohmann::json::parse(account(fixed + "--json").out);
  const double attained = json.at("epsilon_attained"), proved = json.at("epsilon");
  EXPECT_LT(attained, 0.9 * proved);
  EXPECT_GT(attained, 0.5 * proved);
  const Result text = account(fixed);
  EXPECT_NE(text.out.find("interval ["), std::string::npos) << text.out;
  const auto exact = nlohmann::json::parse(
      account("--mechanism gaussian --noise-multiplier 3 --delta 1e-6 --json").out);
  EXPECT_EQ(exact.at("epsilon_attained"), exact.at("epsilon"));
  // where epsilon is given there is nothing between
  const std::string given = "--mechanism gaussian --noise-multiplier 3 --epsilon 0.5";
  EXPECT_FALSE(nlohmann::json::parse(account(given + " --json").out).contains("epsilon_attained"));
  EXPECT_EQ(account(given).out.find("interval ["), std::string::npos);
}

TEST(AccountCommand, PldPrintsBothBoundsAndCalibratesConservatively) {
  const std::string sampled =
      "--mechanism gaussian --sampling poisson --rate 0.01 --steps 1000 --delta 1e-5 ";
  const Result r = account(sampled + "--noise-multiplier 2 --accountant pld --json");
  EXPECT_EQ(r.code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  const double epsilon = json.at("epsilon").get<double>();
  const double lower = json.at("epsilon_lower").get<double>();
  EXPECT_EQ(json.at("accountant"), "pld");
  EXPECT_LT(lower, epsilon);
  EXPECT_GT(lower, epsilon * (1 - 1e-3));
  EXPECT_NEAR(epsilon, 1.2052, 1e-3);
  const Result best = account(sampled + "--noise-multiplier 2");
  EXPECT_NE(best.out.find("accountant pld, between"), std::string::npos) << best.out;
  EXPECT_EQ(best.out.find("loose"), std::string::npos) << best.out;

  const Result noise = account(sampled + "--epsilon 1 --calibrate --accountant pld --json");
  const auto found = nlohmann::json::parse(noise.out);
  EXPECT_LE(found.at("epsilon").get<double>(), 1);
  EXPECT_GT(found.at("epsilon").get<double>(), 0.998);
  const Result narrow =
      account(sampled + "--noise-multiplier 2 --accountant pld --tolerance 1e-5 --json");
  const auto tight = nlohmann::json::parse(narrow.out);
  EXPECT_LT(tight.at("epsilon").get<double>() - tight.at("epsilon_lower").get<double>(), 1.3e-5);
}

double first_number(const std::string& options) {
  const Result r = account(options);
  EXPECT_EQ(r.code, 0) << options << '\n' << r.err;
  const std::vector<std::string> words = split(lines(r.out).at(0), ' ');
  return std::stod(words.at(1));
}

TEST(AccountCommand, ConvertsNoiseMultiplierToSensitivityRatio) {
  for (const char* sampling :
       {"", " --sampling poisson --rate 0.1", " --sampling fixed --rate 0.1"}) {
    const std::string rest =
        " --mechanism gaussian --steps 10 --delta 1e-5" + std::string(sampling);
    EXPECT_EQ(first_number("--noise-multiplier 4" + rest),
              first_number("--sensitivity-ratio 2" + rest));
    if (std::string(sampling).find("fixed") != std::string::npos) continue;
    const std::string removal = rest + " --adjacency add_remove";
    EXPECT_EQ(first_number("--noise-multiplier 4" + removal),
              first_number("--sensitivity-ratio 4" + removal));
  }
  EXPECT_EQ(first_number("--mechanism laplace --noise-multiplier 4 --accountant pure"), 0.5);
  EXPECT_EQ(first_number("--mechanism laplace --eps0 0.5 --accountant pure"), 0.5);
}

TEST(AccountCommand, MatchesReferenceForEachMechanism) {
  EXPECT_NEAR(first_number("--mechanism zcdp --rho 0.5 --delta 1e-6 --accountant zcdp"),
              5.221534445, 1e-8);
  EXPECT_NEAR(
      first_number("--mechanism zcdp --rho 0.5 --delta 1e-6 --accountant zcdp --conversion bs"),
      5.756521770, 1e-8);
  EXPECT_NEAR(first_number(
                  "--mechanism exponential --eps0 0.1 --steps 1000 --delta 1e-6 --accountant zcdp"),
              8.845889348, 1e-8);
  EXPECT_NEAR(first_number("--mechanism tree --sensitivity-ratio 20 --steps 1000 --delta 1e-6"),
              0.6481050995, 1e-9);
  EXPECT_NEAR(first_number("--mechanism gaussian --sensitivity-ratio 1 --epsilon 1"), 0.1269367375,
              1e-9);
}

TEST(AccountCommand, CalibrationMatchesReference) {
  const double z = first_number(
      "--mechanism gaussian --sampling poisson --rate 0.1 --steps 200 --delta 1e-5 --adjacency "
      "add_remove "
      "--accountant rdp --orders int_2_256 --calibrate --epsilon 1");
  EXPECT_NEAR(z, 5.888829163483478, 1e-6);
  EXPECT_NEAR(first_number("--mechanism zcdp --epsilon 1 --calibrate --delta 1e-6 --conversion bs "
                           "--accountant zcdp"),
              0.017468904769123376, 1e-14);
}

/// A file of options, removed at the end.
class SequenceFile {
 public:
  explicit SequenceFile(const std::string& text)
      : path_(testing::TempDir() + "sequence-" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt") {
    std::ofstream(path_) << text;
  }
  ~SequenceFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result account_sequence(const std::string& text, const std::string& options) {
  const SequenceFile file(text);
  return account("--sequence " + file.path() + " " + options);
}

double epsilon_in(const Result& r) {
  return nlohmann::json::parse(r.out).at("epsilon").get<double>();
}

TEST(AccountCommand, SequenceOfEqualMechanismsCostsAsTheirSteps) {
  const std::string one = "--mechanism gaussian --sensitivity-ratio 5 --steps ";
  const Result parts =
      account_sequence(one + "30 # first\n\n# rest\n" + one + "70\n", "--delta 1e-6 --json");
  const Result whole = account(one + "100 --delta 1e-6 --json");
  EXPECT_EQ(parts.err, "");
  EXPECT_EQ(epsilon_in(parts), epsilon_in(whole));
  EXPECT_EQ(nlohmann::json::parse(parts.out).at("sequence").size(), 2U);
  EXPECT_EQ(epsilon_in(account_sequence("\xEF\xBB\xBF" + one + "100\r\n", "--delta 1e-6 --json")),
            epsilon_in(whole))
      << "an editor's byte order mark and line ends";
}

TEST(AccountCommand, SequenceCostsAtMostTheSumOfItsParts) {
  const std::string laplace = "--mechanism laplace --eps0 0.3 --steps 2",
                    sampled =
                        "--mechanism gaussian --noise-multiplier 2 --sampling poisson --rate 0.05";
  const double both =
      epsilon_in(account_sequence(laplace + "\n" + sampled + "\n", "--delta 1e-6 --json"));
  const double first = epsilon_in(account(laplace + " --delta 1e-6 --json"));
  const double second = epsilon_in(account(sampled + " --delta 1e-6 --json"));
  EXPECT_LE(both, first + second + 1e-9);
  EXPECT_GT(both, std::max(first, second));
}

// The noise of one line beside the others: put into the file it meets the target, and 0.3 % less of
// it does not.
TEST(AccountCommand, CalibratesOneMechanismOfASequence) {
  const std::string fixed =
      "--mechanism laplace --eps0 0.1 --steps 2\n--mechanism any --eps0 0.05 --delta0 1e-7\n";
  const std::string unknown = "--mechanism gaussian --sampling poisson --rate 0.01 --steps 1000";
  const Result r = account_sequence(fixed + unknown, "--epsilon 1 --delta 1e-5 --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const auto found = nlohmann::json::parse(r.out).at("sequence").at(2);
  EXPECT_EQ(found.at("calibrated"), true);
  const double noise = found.at("noise_multiplier");
  const auto epsilon_with = [&](double z) {
    return epsilon_in(
        account_sequence(fixed + unknown + " --noise-multiplier " + std::to_string(z) + "\n",
                         "--delta 1e-5 --json"));
  };
  EXPECT_LE(epsilon_with(noise * 1.00001), 1);
  EXPECT_GT(epsilon_with(noise * 0.997), 1);
  const Result text = account_sequence(fixed + unknown, "--epsilon 1 --delta 1e-5 --calibrate");
  EXPECT_TRUE(text.out.starts_with("noise_multiplier ")) << text.out;
  EXPECT_NE(lines(text.out).at(0).find(" of gaussian for epsilon "), std::string::npos) << text.out;
}

TEST(AccountCommand, PureMechanismsNeedNoDelta) {
  for (const char* options : {"--mechanism laplace --eps0 0.5 --steps 3",
                              "--mechanism laplace --eps0 0.5 --steps 3 --delta 0",
                              "--mechanism exponential --eps0 0.5 --steps 3",
                              "--mechanism any --eps0 0.5 --steps 3 --accountant pure"}) {
    const Result r = account(options);
    EXPECT_TRUE(r.out.starts_with("epsilon 1.5 at delta 0\n")) << options << '\n' << r.out << r.err;
    EXPECT_NE(r.out.find("accountant pure"), std::string::npos) << r.out;
  }
  // δ(0) is the total variation, 1 − e^{−ε₀/2}.
  const Result variation = account("--mechanism laplace --eps0 0.5 --epsilon 0");
  EXPECT_TRUE(variation.out.starts_with("delta 0.2211992171 at epsilon 0\n"))
      << variation.out << variation.err;
  const Result alone = account("--mechanism any --eps0 0 --delta0 1e-3 --steps 3 --delta 1e-2");
  EXPECT_TRUE(alone.out.starts_with("epsilon 0 at delta 0.01\n")) << alone.out << alone.err;
  // q of Laplace: ln(1 + q(e^ε − 1)) a release
  EXPECT_NEAR(first_number("--mechanism laplace --noise-multiplier 2 --sampling poisson --rate 0.1 "
                           "--steps 3 --adjacency add_remove"),
              3 * std::log1p(0.1 * std::expm1(0.5)), 1e-9);
  const auto coins = nlohmann::json::parse(
      account("--mechanism any --eps0 0.5 --delta0 1e-7 --steps 3 --accountant pure --json").out);
  EXPECT_EQ(coins.at("epsilon"), 1.5);
  EXPECT_NEAR(coins.at("delta").get<double>(), 3e-7, 1e-13);
  EXPECT_NEAR(first_number("--mechanism laplace --epsilon 1.5 --steps 3 --calibrate"), 4, 1e-12);
}

TEST(AccountCommand, RecordsBatchesAndEpochsSayRateAndSteps) {
  const std::string rest = "--mechanism gaussian --noise-multiplier 1 --delta 1e-5 --json ";
  const Result given = account(rest + "--sampling poisson --rate 0.0125 --steps 240");
  for (const char* same : {"--sampling poisson --records 20000 --batch-size 250 --epochs 3",
                           "--sampling poisson --rate 0.0125 --epochs 3",
                           "--sampling poisson --records 2e4 --batch-size 250 --steps 240"})
    EXPECT_EQ(account(rest + same).out, given.out) << same;
  const auto part = nlohmann::json::parse(
      account(rest + "--sampling fixed --records 60000 --batch-size 256 --epochs 3").out);
  EXPECT_EQ(part.at("steps"), 704);  // 703.1 rounded up
}

TEST(AccountCommand, DeltaOfWhatHasALossDistributionIsBracketed) {
  for (const char* mechanism :
       {"--mechanism gaussian --noise-multiplier 2 --sampling poisson --rate 0.01 --steps 1000",
        "--mechanism gaussian --noise-multiplier 4 --sampling fixed --rate 0.01 --steps 100",
        "--mechanism laplace --noise-multiplier 2 --sampling poisson --rate 0.05 --steps 200",
        "--mechanism laplace --eps0 0.2 --steps 10", "--mechanism exponential --eps0 0.2 --steps 3",
        "--mechanism any --eps0 0.2 --delta0 1e-6 --steps 3"}) {
    SCOPED_TRACE(mechanism);
    const Result r = account(std::string(mechanism) + " --epsilon 0.4 --json");
    ASSERT_EQ(r.code, 0) << r.err;
    const auto json = nlohmann::json::parse(r.out);
    const double delta = json.at("delta"), lower = json.at("delta_lower");
    EXPECT_EQ(json.at("accountant"), "pld");
    EXPECT_LE(lower, delta);
    EXPECT_GT(lower, 0.98 * delta);
    // at that delta, epsilon is no more
    const Result back = account(std::string(mechanism) + " --delta " + json.at("delta").dump() +
                                " --accountant pld --json");
    EXPECT_NEAR(epsilon_in(back), 0.4, 0.004) << back.err;
  }
  const Result zcdp = account("--mechanism zcdp --rho 0.1 --epsilon 2");  // by its conversion
  EXPECT_TRUE(zcdp.out.starts_with("delta 4.325210869e-06 at epsilon 2\n")) << zcdp.out << zcdp.err;
  const Result sequence = account_sequence(
      "--mechanism laplace --eps0 0.1\n--mechanism gaussian --sensitivity-ratio 5", "--epsilon 1");
  EXPECT_TRUE(sequence.out.starts_with("delta ")) << sequence.out << sequence.err;
}

TEST(AccountCommand, SequenceRejectsBadFilesWithTheirLine) {
  const std::string good = "--mechanism gaussian --sensitivity-ratio 5\n";
  for (const auto& [text, options, message] : std::vector<std::array<std::string, 3>>{
           {good + "--mechanism gauss\n", "--delta 1e-6", ".txt:2: "},
           {good + good + "--mechanism laplace --eps0 -1", "--delta 1e-6", ".txt:3: "},
           {good + "--mechanism zcdp --delta 0.1", "--delta 1e-6",
            "--delta belongs to the command"},
           {good + "stray", "--delta 1e-6", ".txt:2: "},
           {good, "--delta 1e-6 --rate 0.1", "--rate belongs to a line"},
           {good, "--delta 1e-6 --epsilon 1 --calibrate", "0 of the 1 mechanisms"},
           {"--mechanism gaussian\n--mechanism laplace", "--delta 1e-6 --epsilon 1",
            "2 of the 2 mechanisms"},
           {good + "--mechanism gaussian", "--delta 1e-6",
            ".txt:2: account: --noise-multiplier is"},
           {"--mechanism gaussian --sensitivity-ratio 1\n--mechanism laplace",
            "--delta 1e-6 --epsilon 1", "expected more than 4.88"},
           {good, "--delta 1e-6 --epsilon 1", "expected two of them"},
           {good, "--delta 1e-6 --batch x.csv", "--batch beside --sequence"},
           {good, "", "--delta"},
           {"# nothing\n", "--delta 1e-6", "names no mechanism"}}) {
    const Result r = account_sequence(text, options);
    EXPECT_EQ(r.code, 2) << text << options;
    EXPECT_EQ(r.out, "");
    EXPECT_NE(r.err.find(message), std::string::npos) << r.err;
    EXPECT_EQ(std::ranges::count(r.err, '\n'), 1) << r.err;
  }
  EXPECT_NE(account("--sequence no-such-file --delta 1e-6").err.find("no-such-file does not exist"),
            std::string::npos);
}

TEST(AccountCommand, RejectsBadInputWithCodeTwo) {
  const std::string good = "--mechanism gaussian --noise-multiplier 1 --delta 1e-5 ";
  const std::string noise = "--mechanism gaussian --delta 1e-5 ";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "--mechanism is missing"},
      {"--mechanism gausian --noise-multiplier 1 --delta 1e-5", "did you mean 'gaussian'"},
      {good + "--stepz 3", "did you mean '--steps'"},
      {good + "--steps 0", "--steps = 0"},
      {good + "--steps 1.5", "--steps = '1.5'"},
      {good + "--sampling poisson --rate 0", "--rate = 0, expected a number in (0, 1]"},
      {good + "--sampling poisson --rate 1.01", "--rate = 1.01"},
      {good + "--sampling poisson", "--rate is missing"},
      {good + "--rate 0.1", "--rate is for"},
      {good + "--eps0 0.1", "--eps0 is for"},
      {good + "--epsilon 1", "expected two of them"},
      {good + "--epsilon 1 --calibrate", "--noise-multiplier"},
      {good + "--sensitivity-ratio 1", "expected one"},
      {good + "--adjacency add", "did you mean 'add_remove'"},
      {good + "--accountant rpd", "did you mean"},
      {good + "--delta 1e-6", "--delta"},
      {good + "--tolerance 0", "--tolerance = 0, expected a number in [1e-6, 1)"},
      {good + "--tolerance 1e-7", "--tolerance = 1e-07"},
      {good + "extra", "expected --name value"},
      {noise + "--noise-multiplier 0", "expected a finite number > 0"},
      {noise + "--noise-multiplier -1", "expected a finite number > 0"},
      {noise + "--noise-multiplier nan", "expected a finite number > 0"},
      {noise + "--noise-multiplier inf", "expected a finite number > 0"},
      {noise + "--noise-multiplier 1x", "'1x'"},
      {noise + "--noise-multiplier", "missing"},
      {noise, "--noise-multiplier is missing"},
      {noise + "--calibrate", "--epsilon is missing"},
      {noise + "--calibrate --epsilon 0", "--epsilon = 0"},
      {noise + "--calibrate --epsilon nan", "--epsilon = nan"},
      {"--mechanism gaussian --noise-multiplier 1", "--delta is missing"},
      {"--mechanism gaussian --noise-multiplier 1 --delta 0",
       "--delta = 0, expected a number in (0, 1)"},
      {"--mechanism gaussian --noise-multiplier 1 --delta 1", "--delta = 1"},
      {good + "--records 100 --batch-size 10", "--records is for --sampling"},
      {good + "--sampling poisson --records 100", "--batch-size is missing"},
      {good + "--sampling poisson --records 100 --batch-size 101", "at most --records = 100"},
      {good + "--sampling poisson --records 100 --batch-size 10 --rate 0.1", "say the same thing"},
      {good + "--sampling poisson --rate 0.1 --epochs 2 --steps 3", "say the same thing"},
      {good + "--sampling poisson --rate 25/100", "--batch-size and --records"},
      {good + "--delta0 0.1", "--delta0 is for --mechanism any"},
      {"--mechanism any --eps0 1 --delta0 1 --delta 0.1", "--delta0 = 1"},
      {"--mechanism any --eps0 1 --delta0 1e-3 --steps 2 --delta 1e-3", "more than 0.001999"},
      {"--mechanism laplace --eps0 1 --accountant zcdp", "--accountant pure none is needed"},
      {"--batch 256 --records 60000", "the size of a batch is --batch-size"},
      {"--batch /nonexistent.csv", "/nonexistent.csv does not exist"},
      {"--batch /tmp", "/tmp is a folder"}};
  for (const auto& [options, part] : bad) {
    SCOPED_TRACE(options);
    expect_one_error_line(account(options), 2, part);
  }
}

TEST(AccountCommand, RejectsUnprovedCasesWithCodeThree) {
  const std::string good = "--mechanism gaussian --noise-multiplier 1 --delta 1e-5 ";
  const std::string sampled = good + "--sampling poisson --rate 0.1 ";
  expect_one_error_line(account("--mechanism zcdp --rho 1 --delta 1e-5 --accountant pld"), 3,
                        "does not fix a loss distribution");
  expect_one_error_line(
      account("--mechanism gaussian --noise-multiplier 1e-6 --delta 1e-5 --accountant pld"), 3,
      "too wide to resolve");
  expect_one_error_line(account("--mechanism laplace --eps0 1 --delta 1e-200 --accountant pld"), 3,
                        "1e-100");
  expect_one_error_line(account(good + "--sampling fixed --rate 0.1 --adjacency add_remove"), 3,
                        "replace_one only");
  expect_one_error_line(account(sampled + "--accountant analytic"), 3, "unsampled");
  expect_one_error_line(account(sampled + "--accountant zcdp"), 3, "zCDP");
  expect_one_error_line(account(sampled + "--accountant rdp --conversion bs_sqrtpi"), 3,
                        "bs_sqrtpi");
  expect_one_error_line(
      account("--mechanism exponential --eps0 1 --delta 1e-5 --sampling poisson --rate 0.1"), 3,
      "sampling is accounted for gaussian and laplace");
  expect_one_error_line(account("--mechanism laplace --eps0 1 --delta 1e-5 --sampling fixed --rate "
                                "0.1 --adjacency add_remove"),
                        3, "replace_one only");
  expect_one_error_line(account("--mechanism laplace --eps0 1 --epsilon 0.5 --accountant pure"), 3,
                        "use pld");
}

const std::string kReference = in_checkout("tests/data/accounting_vectors.csv");

TEST(AccountBatch, MatchesEveryReferenceRow) {
  const Result r = account_batch(kReference);
  ASSERT_EQ(r.code, 0) << r.err;
  const std::vector<std::string> given = lines(contents(kReference));
  const std::vector<std::string> answers = lines(r.out);
  ASSERT_EQ(answers.size(), given.size());
  EXPECT_EQ(answers[0], given[0] + ",answer,status");
  const std::vector<std::string> names = split(given[0], ',');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  int ok = 0;
  for (std::size_t i = 1; i < answers.size(); ++i) {
    SCOPED_TRACE(answers[i]);
    EXPECT_TRUE(answers[i].starts_with(given[i] + ","));
    const std::vector<std::string> fields = split(answers[i], ',');
    ASSERT_EQ(fields.size(), names.size() + 2);
    const std::string& status = fields.back();
    ASSERT_EQ(status, "ok");
    const std::string target = fields[column("solve_for")];
    const double expected = std::stod(fields[column(target == "rdp" ? "epsilon" : target)]);
    const double tolerance = std::stod(fields[column("rel_tol")]);
    EXPECT_LE(std::abs(std::stod(fields[names.size()]) - expected), tolerance * std::abs(expected));
    ++ok;
  }
  EXPECT_EQ(ok, 271);
}

Result batch_of(const std::string& content) {
  const ScratchFolder folder;
  std::ofstream(folder / "rows.csv") << content;
  return account_batch(folder / "rows.csv");
}

const std::string kHeader =
    "id,mechanism,accountant,conversion,adjacency,solve_for,sigma,q,steps,delta,eps0,rho,order,"
    "order_grid,epsilon\n";

TEST(AccountBatch, AcceptsEmptyAnswersAndCarriageReturns) {
  const Result r = batch_of(
      kHeader + "a,gaussian,analytic_gaussian,balle_wang,any,epsilon,1,1,1,1e-05,,,,,\r\n");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find(",4.37717809568"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find(",ok\n"), std::string::npos);
}

TEST(AccountBatch, KeepsQuotedFieldsAsWritten) {
  const std::string row =
      "\"a, b\",gaussian,analytic_gaussian,balle_wang,any,epsilon,1,1,1,1e-05,,,,,";
  const Result r = batch_of(kHeader + row + "\n");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find(row + ",4.37717809568"), std::string::npos) << r.out;
}

TEST(AccountBatch, ReplaceOnePoissonRowsUseTwiceTheClipNorm) {
  const Result r =
      batch_of(kHeader + "a,poisson_gaussian,rdp,none,replace_one,rdp,1,0.01,1,,,,2,,\n");
  EXPECT_NE(r.out.find(",0.00012846815"), std::string::npos) << r.out;
}

TEST(AccountBatch, RejectsMalformedFileWithCodeTwo) {
  const std::string good = "a,gaussian,zcdp,cks,any,epsilon,1,1,1,1e-05,,,,,\n";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "empty"},
      {"id,mechanism\na,gaussian\n", "column 'accountant' is missing"},
      {kHeader + good + "b,gaussian,zcdp\n", "line 3: 3 fields, expected 15"},
      {kHeader + good + "b,gausian,zcdp,cks,any,epsilon,1,1,1,1e-05,,,,,\n",
       "line 3: unknown mechanism 'gausian'"},
      {kHeader + good + "b,gaussian,zcdp,cks,any,epsilon,one,1,1,1e-05,,,,,\n",
       "line 3: sigma = 'one'"},
      {kHeader + good + "b,gaussian,zcdp,cks,any,epsilon,,1,1,1e-05,,,,,\n", "line 3: sigma = ''"},
      {kHeader + good + "b,gaussian,zcdp,cks,any,epsilon,1,1,1,,,,,,\n", "line 3: delta = ''"},
      {kHeader + good + "b,gaussian,zcdp,cks,any,epsilon,-1,1,1,1e-05,,,,,\n",
       "line 3: gaussian: noise_multiplier = -1"},
      {kHeader + good + "b,gaussian,zcdp,cks,any,epsilon,1,1,0,1e-05,,,,,\n", "line 3: steps = 0"},
      {kHeader + good + "b,gaussian,zcdp,cks,any,epsilon,1,1,1,2,,,,,\n",
       "line 3: epsilon_of: delta = 2"},
      {kHeader + good + "b,gaussian,zcdp,cks_on_grid,any,epsilon,1,1,1,1e-05,,,,,\n",
       "line 3: conversion"}};
  for (const auto& [content, part] : bad) {
    SCOPED_TRACE(part);
    expect_one_error_line(batch_of(content), 2, part);
  }
}

TEST(AccountBatch, RefusesWhatIsFilledAndNotUsed) {
  const auto row = [](const std::map<std::string, std::string>& fields) {
    const std::vector<std::string> names = split(lines(contents(kReference))[0], ',');
    std::string text = lines(contents(kReference))[0] + "\n";
    for (const std::string& name : names) {
      const auto found = fields.find(name);
      text += (name == "id" ? "" : ",") + (found == fields.end() ? "" : found->second);
    }
    return batch_of(text + "\n");
  };
  const std::map<std::string, std::string> gaussian{
      {"mechanism", "gaussian"}, {"accountant", "pld"}, {"adjacency", "add_remove"},
      {"solve_for", "epsilon"},  {"sigma", "1"},        {"steps", "100"},
      {"delta", "1e-05"}};
  const auto with = [&](std::map<std::string, std::string> changes) {
    changes.insert(gaussian.begin(), gaussian.end());
    return row(changes);
  };
  EXPECT_EQ(with({}).code, 0) << with({}).err;
  const std::map<std::string, std::string> zcdp{
      {"mechanism", "zcdp"}, {"accountant", "zcdp"}, {"conversion", "cks"}, {"sigma", ""}};
  const auto with_zcdp = [&](std::map<std::string, std::string> changes) {
    changes.insert(zcdp.begin(), zcdp.end());
    return with(std::move(changes));
  };
  EXPECT_EQ(with_zcdp({{"rho", "0.01"}, {"steps", "1"}}).code, 0);
  expect_one_error_line(with_zcdp({{"rho", "0.01"}}), 2, "steps = 100, expected none, or 1");
  const std::map<std::string, std::string> fixed{
      {"mechanism", "wor_gaussian"}, {"accountant", "rdp"},  {"conversion", "cks_on_grid"},
      {"adjacency", "replace_one"},  {"sample_size", "500"}, {"dataset_size", "1000"}};
  for (const auto& [q, code] : {std::pair{"0.5", 0}, {"0.01", 2}}) {
    std::map<std::string, std::string> changes = fixed;
    changes["q"] = q;
    EXPECT_EQ(with(changes).code, code) << q;
  }
  for (const auto& [changes, part] :
       std::vector<std::pair<std::map<std::string, std::string>, std::string>>{
           {{{"q", "0.01"}}, "q = 0.01, expected none, or 1"},
           {{{"eps0", "1"}}, "eps0 = 1, expected none: mechanism gaussian has no eps0"},
           {{{"rho", "3"}}, "rho = 3, expected none, or 50"},
           {{{"sample_size", "5"}}, "sample_size = 5, expected none"},
           {{{"mechanism", "laplace"}, {"eps0", "0.5"}, {"sigma", "3"}}, "sigma = 3"},
           {{{"mechanism", "laplace"}, {"eps0", "1"}, {"q", "0.1"}}, "q = 0.1"}})
    expect_one_error_line(with(changes), 2, part);
}

}  // namespace
}  // namespace dpsosp::account_test
