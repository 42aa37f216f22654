// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../program.hpp"

namespace dpsosp::account_test {
namespace {

using nlohmann::json;

Result account(const std::string& options) { return dpsosp("account " + options); }
Result account_batch(const std::string& path) { return dpsosp("account --batch", {path}); }
json json_of(const std::string& options) {
  return json::parse(answer("account --json " + options));
}
double epsilon_of(const std::string& options) { return json_of(options).at("epsilon"); }

/// The number that the first line says.
double first_number(const std::string& options) {
  return std::stod(words(answer("account " + options)).at(1));
}

std::vector<std::string> fields_of(const std::string& row) {
  std::vector<std::string> fields(1);
  for (const char c : row)
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

TEST(AccountCommand, PrintsReferenceNumbers) {
  const std::string reference =
      "--mechanism gaussian --noise-multiplier 1 --sampling poisson --rate 0.01 --steps 10000 "
      "--delta 1e-5 --adjacency add_remove --accountant rdp ";
  EXPECT_TRUE(answer("account " + reference).starts_with("epsilon 6.712738298 at delta 1e-05\n"));
  const json j = json_of(reference);
  EXPECT_NEAR(j.at("epsilon").get<double>(), 6.712738297545423, 1e-9);
  EXPECT_EQ(j.at("order"), 4.1);
  EXPECT_EQ(j.at("adjacency"), "add_remove");
  EXPECT_EQ(j.at("accountant"), "rdp");
}

// An upper bound shows no violation; the lower end of the interval does.
TEST(AccountCommand, PrintsIntervalBetweenAttainedAndProvedEpsilon) {
  const std::string fixed =
      "--mechanism gaussian --sampling fixed --rate 0.125 --steps 4000 --sensitivity-ratio 2.323 "
      "--delta 1e-6 ";
  const json j = json_of(fixed);
  const double attained = j.at("epsilon_attained"), proved = j.at("epsilon");
  EXPECT_LT(attained, 0.9 * proved);
  EXPECT_GT(attained, 0.5 * proved);
  EXPECT_TRUE(has(account(fixed).out, "interval ["));
  const json exact = json_of("--mechanism gaussian --noise-multiplier 3 --delta 1e-6");
  EXPECT_EQ(exact.at("epsilon_attained"), exact.at("epsilon"));
  // where epsilon is given there is nothing between
  const std::string given = "--mechanism gaussian --noise-multiplier 3 --epsilon 0.5";
  EXPECT_FALSE(json_of(given).contains("epsilon_attained"));
  EXPECT_TRUE(lacks(account(given).out, "interval ["));
}

TEST(AccountCommand, PldPrintsBothBoundsAndCalibratesConservatively) {
  const std::string sampled =
      "--mechanism gaussian --sampling poisson --rate 0.01 --steps 1000 --delta 1e-5 ";
  const json j = json_of(sampled + "--noise-multiplier 2 --accountant pld");
  const double epsilon = j.at("epsilon"), lower = j.at("epsilon_lower");
  EXPECT_EQ(j.at("accountant"), "pld");
  EXPECT_LT(lower, epsilon);
  EXPECT_GT(lower, epsilon * (1 - 1e-3));
  EXPECT_NEAR(epsilon, 1.2052, 1e-3);
  const std::string best = account(sampled + "--noise-multiplier 2").out;
  EXPECT_TRUE(has(best, "accountant pld, between"));
  EXPECT_TRUE(lacks(best, "loose"));

  const double found = epsilon_of(sampled + "--epsilon 1 --calibrate --accountant pld");
  EXPECT_LE(found, 1);
  EXPECT_GT(found, 0.998);
  const json tight = json_of(sampled + "--noise-multiplier 2 --accountant pld --tolerance 1e-5");
  EXPECT_LT(tight.at("epsilon").get<double>() - tight.at("epsilon_lower").get<double>(), 1.3e-5);
}

TEST(AccountCommand, ConvertsNoiseMultiplierToSensitivityRatio) {
  for (const std::string sampling :
       {"", " --sampling poisson --rate 0.1", " --sampling fixed --rate 0.1"}) {
    const std::string rest = " --mechanism gaussian --steps 10 --delta 1e-5" + sampling;
    EXPECT_EQ(first_number("--noise-multiplier 4" + rest),
              first_number("--sensitivity-ratio 2" + rest));
    if (has(sampling, "fixed")) continue;
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

Result account_sequence(const std::string& text, const std::string& options) {
  const ScratchFolder folder;
  return dpsosp("account " + options + " --sequence", {folder.write("sequence.txt", text)});
}

json json_of_sequence(const std::string& text, const std::string& options) {
  const Result r = account_sequence(text, options + " --json");
  EXPECT_TRUE(r.code == 0 && r.err.empty()) << r.err;
  return json::parse(r.out);
}

double epsilon_of_sequence(const std::string& text, const std::string& options) {
  return json_of_sequence(text, options).at("epsilon");
}

TEST(AccountCommand, SequenceOfEqualMechanismsCostsAsTheirSteps) {
  const std::string one = "--mechanism gaussian --sensitivity-ratio 5 --steps ";
  const json parts =
      json_of_sequence(one + "30 # first\n\n# rest\n" + one + "70\n", "--delta 1e-6");
  const double whole = epsilon_of(one + "100 --delta 1e-6");
  EXPECT_EQ(parts.at("epsilon"), whole);
  EXPECT_EQ(parts.at("sequence").size(), 2U);
  EXPECT_EQ(epsilon_of_sequence("\xEF\xBB\xBF" + one + "100\r\n", "--delta 1e-6"), whole)
      << "an editor's byte order mark and line ends";
}

TEST(AccountCommand, SequenceCostsAtMostTheSumOfItsParts) {
  const std::string laplace = "--mechanism laplace --eps0 0.3 --steps 2",
                    sampled =
                        "--mechanism gaussian --noise-multiplier 2 --sampling poisson --rate 0.05";
  const double both = epsilon_of_sequence(laplace + "\n" + sampled + "\n", "--delta 1e-6");
  const double first = epsilon_of(laplace + " --delta 1e-6"),
               second = epsilon_of(sampled + " --delta 1e-6");
  EXPECT_LE(both, first + second + 1e-9);
  EXPECT_GT(both, std::max(first, second));
}

// The noise of one line beside the others: put into the file it meets the target, and 0.3 % less of
// it does not.
TEST(AccountCommand, CalibratesOneMechanismOfASequence) {
  const std::string text =
      "--mechanism laplace --eps0 0.1 --steps 2\n--mechanism any --eps0 0.05 --delta0 1e-7\n"
      "--mechanism gaussian --sampling poisson --rate 0.01 --steps 1000";
  const json found = json_of_sequence(text, "--epsilon 1 --delta 1e-5").at("sequence").at(2);
  EXPECT_EQ(found.at("calibrated"), true);
  const double noise = found.at("noise_multiplier");
  const auto epsilon_with = [&](double z) {
    return epsilon_of_sequence(text + " --noise-multiplier " + std::to_string(z), "--delta 1e-5");
  };
  EXPECT_LE(epsilon_with(noise * 1.00001), 1);
  EXPECT_GT(epsilon_with(noise * 0.997), 1);
  const Result said = account_sequence(text, "--epsilon 1 --delta 1e-5 --calibrate");
  EXPECT_TRUE(said.out.starts_with("noise_multiplier ")) << said.out;
  EXPECT_TRUE(has(lines(said.out).at(0), " of gaussian for epsilon "));
}

TEST(AccountCommand, PureMechanismsNeedNoDelta) {
  for (const auto& [options, start] : std::vector<std::pair<std::string, std::string>>{
           {"--mechanism laplace --eps0 0.5 --steps 3", "epsilon 1.5 at delta 0\n"},
           {"--mechanism laplace --eps0 0.5 --steps 3 --delta 0", "epsilon 1.5 at delta 0\n"},
           {"--mechanism exponential --eps0 0.5 --steps 3", "epsilon 1.5 at delta 0\n"},
           {"--mechanism any --eps0 0.5 --steps 3 --accountant pure", "epsilon 1.5 at delta 0\n"},
           // δ(0) is the total variation, 1 − e^{−ε₀/2}.
           {"--mechanism laplace --eps0 0.5 --epsilon 0", "delta 0.2211992171 at epsilon 0\n"},
           {"--mechanism any --eps0 0 --delta0 1e-3 --steps 3 --delta 1e-2",
            "epsilon 0 at delta 0.01\n"}}) {
    const std::string said = answer("account " + options);
    EXPECT_TRUE(said.starts_with(start)) << options << '\n' << said;
    EXPECT_TRUE(start[8] != '1' || has(said, "accountant pure"));
  }
  // q of Laplace: ln(1 + q(e^ε − 1)) a release
  EXPECT_NEAR(first_number("--mechanism laplace --noise-multiplier 2 --sampling poisson --rate 0.1 "
                           "--steps 3 --adjacency add_remove"),
              3 * std::log1p(0.1 * std::expm1(0.5)), 1e-9);
  const json coins =
      json_of("--mechanism any --eps0 0.5 --delta0 1e-7 --steps 3 --accountant pure");
  EXPECT_EQ(coins.at("epsilon"), 1.5);
  EXPECT_NEAR(coins.at("delta").get<double>(), 3e-7, 1e-13);
  EXPECT_NEAR(first_number("--mechanism laplace --epsilon 1.5 --steps 3 --calibrate"), 4, 1e-12);
}

TEST(AccountCommand, RecordsBatchesAndEpochsSayRateAndSteps) {
  const std::string rest = "--mechanism gaussian --noise-multiplier 1 --delta 1e-5 --sampling ";
  const json given = json_of(rest + "poisson --rate 0.0125 --steps 240");
  for (const char* same :
       {"poisson --records 20000 --batch-size 250 --epochs 3", "poisson --rate 0.0125 --epochs 3",
        "poisson --records 2e4 --batch-size 250 --steps 240"})
    EXPECT_EQ(json_of(rest + same), given) << same;
  const json part = json_of(rest + "fixed --records 60000 --batch-size 256 --epochs 3");
  EXPECT_EQ(part.at("steps"), 704);  // 703.1 rounded up
}

TEST(AccountCommand, DeltaOfWhatHasALossDistributionIsBracketed) {
  for (const std::string mechanism :
       {"--mechanism gaussian --noise-multiplier 2 --sampling poisson --rate 0.01 --steps 1000",
        "--mechanism gaussian --noise-multiplier 4 --sampling fixed --rate 0.01 --steps 100",
        "--mechanism laplace --noise-multiplier 2 --sampling poisson --rate 0.05 --steps 200",
        "--mechanism laplace --eps0 0.2 --steps 10", "--mechanism exponential --eps0 0.2 --steps 3",
        "--mechanism any --eps0 0.2 --delta0 1e-6 --steps 3"}) {
    SCOPED_TRACE(mechanism);
    const json j = json_of(mechanism + " --epsilon 0.4");
    const double delta = j.at("delta"), lower = j.at("delta_lower");
    EXPECT_EQ(j.at("accountant"), "pld");
    EXPECT_LE(lower, delta);
    EXPECT_GT(lower, 0.98 * delta);
    // at that delta, epsilon is no more
    EXPECT_NEAR(epsilon_of(mechanism + " --accountant pld --delta " + j.at("delta").dump()), 0.4,
                0.004);
  }
  // zCDP by its conversion
  EXPECT_TRUE(answer("account --mechanism zcdp --rho 0.1 --epsilon 2")
                  .starts_with("delta 4.325210869e-06 at epsilon 2\n"));
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
    SCOPED_TRACE(text + options);
    expect_one_error_line(account_sequence(text, options), 2, message);
  }
}

TEST(AccountCommand, RejectsBadInputWithCodeTwoAndUnprovedCasesWithThree) {
  expect_refusals(R"(
$ account
 | --mechanism is missing
--mechanism gausian --noise-multiplier 1 --delta 1e-5 | did you mean 'gaussian'
--mechanism gaussian --noise-multiplier 1 | --delta is missing
--mechanism gaussian --noise-multiplier 1 --delta 0 | --delta = 0, expected a number in (0, 1)
--mechanism gaussian --noise-multiplier 1 --delta 1 | --delta = 1
--mechanism any --eps0 1 --delta0 1 --delta 0.1 | --delta0 = 1
--mechanism any --eps0 1 --delta0 1e-3 --steps 2 --delta 1e-3 | more than 0.001999
--mechanism laplace --eps0 1 --accountant zcdp | --accountant pure none is needed
--batch 256 --records 60000 | the size of a batch is --batch-size
--batch /nonexistent.csv | /nonexistent.csv does not exist
--batch /tmp | /tmp is a folder
--sequence no-such-file --delta 1e-6 | no-such-file does not exist
3 --mechanism zcdp --rho 1 --delta 1e-5 --accountant pld | does not fix a loss distribution
3 --mechanism gaussian --noise-multiplier 1e-6 --delta 1e-5 --accountant pld | too wide to resolve
3 --mechanism laplace --eps0 1 --delta 1e-200 --accountant pld | 1e-100
3 --mechanism exponential --eps0 1 --delta 1e-5 --sampling poisson --rate 0.1 | sampling is accounted for gaussian and laplace
3 --mechanism laplace --eps0 1 --delta 1e-5 --sampling fixed --rate 0.1 --adjacency add_remove | replace_one only
3 --mechanism laplace --eps0 1 --epsilon 0.5 --accountant pure | use pld
$ account --mechanism gaussian --delta 1e-5
--noise-multiplier {0 -1 nan inf} | expected a finite number > 0
--noise-multiplier 1x | '1x'
--noise-multiplier | missing
 | --noise-multiplier is missing
--calibrate | --epsilon is missing
--calibrate --epsilon 0 | --epsilon = 0
--calibrate --epsilon nan | --epsilon = nan
$ account --mechanism gaussian --noise-multiplier 1 --delta 1e-5
--stepz 3 | did you mean '--steps'
--steps 0 | --steps = 0
--steps 1.5 | --steps = '1.5'
--sampling poisson --rate 0 | --rate = 0, expected a number in (0, 1]
--sampling poisson --rate 1.01 | --rate = 1.01
--sampling poisson | --rate is missing
--rate 0.1 | --rate is for
--eps0 0.1 | --eps0 is for
--epsilon 1 | expected two of them
--epsilon 1 --calibrate | --noise-multiplier
--sensitivity-ratio 1 | expected one
--adjacency add | did you mean 'add_remove'
--accountant rpd | did you mean
--delta 1e-6 | --delta
--tolerance 0 | --tolerance = 0, expected a number in [1e-6, 1)
--tolerance 1e-7 | --tolerance = 1e-07
extra | expected --name value
--records 100 --batch-size 10 | --records is for --sampling
--sampling poisson --records 100 | --batch-size is missing
--sampling poisson --records 100 --batch-size 101 | at most --records = 100
--sampling poisson --records 100 --batch-size 10 --rate 0.1 | say the same thing
--sampling poisson --rate 0.1 --epochs 2 --steps 3 | say the same thing
--sampling poisson --rate 25/100 | --batch-size and --records
--delta0 0.1 | --delta0 is for --mechanism any
3 --sampling fixed --rate 0.1 --adjacency add_remove | replace_one only
3 --sampling poisson --rate 0.1 --accountant analytic | unsampled
3 --sampling poisson --rate 0.1 --accountant zcdp | zCDP
3 --sampling poisson --rate 0.1 --accountant rdp --conversion bs_sqrtpi | bs_sqrtpi
)");
}

const std::string kReference = in_checkout("tests/data/accounting_vectors.csv");

TEST(AccountBatch, MatchesEveryReferenceRow) {
  const Result r = account_batch(kReference);
  ASSERT_EQ(r.code, 0) << r.err;
  const std::vector<std::string> given = lines(contents(kReference));
  const std::vector<std::string> answers = lines(r.out);
  ASSERT_EQ(answers.size(), given.size());
  EXPECT_EQ(answers[0], given[0] + ",answer,status");
  const std::vector<std::string> names = fields_of(given[0]);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  EXPECT_EQ(answers.size(), 272U);
  for (std::size_t i = 1; i < answers.size(); ++i) {
    SCOPED_TRACE(answers[i]);
    EXPECT_TRUE(answers[i].starts_with(given[i] + ","));
    const std::vector<std::string> fields = fields_of(answers[i]);
    ASSERT_EQ(fields.size(), names.size() + 2);
    ASSERT_EQ(fields.back(), "ok");
    const std::string target = fields[column("solve_for")];
    const double expected = std::stod(fields[column(target == "rdp" ? "epsilon" : target)]);
    const double tolerance = std::stod(fields[column("rel_tol")]);
    EXPECT_LE(std::abs(std::stod(fields[names.size()]) - expected), tolerance * std::abs(expected));
  }
}

Result batch_of(const std::string& content) {
  const ScratchFolder folder;
  return account_batch(folder.write("rows.csv", content));
}

const std::string kHeader =
    "id,mechanism,accountant,conversion,adjacency,solve_for,sigma,q,steps,delta,eps0,rho,order,"
    "order_grid,epsilon\n";

TEST(AccountBatch, KeepsRowsAsWritten) {
  const std::string gaussian =
      ",gaussian,analytic_gaussian,balle_wang,any,epsilon,1,1,1,1e-05,,,,,";
  const Result r = batch_of(kHeader + "a" + gaussian + "\r\n\"a, b\"" + gaussian +
                            "\nb,poisson_gaussian,rdp,none,replace_one,rdp,1,0.01,1,,,,2,,\n");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "\na" + gaussian + ",4.37717809568", ",ok\n",
                  "\n\"a, b\"" + gaussian + ",4.37717809568"));
  EXPECT_TRUE(has(r.out, ",0.00012846815")) << "replace-one takes twice the clip norm";
}

TEST(AccountBatch, RejectsMalformedFileWithCodeTwo) {
  expect_one_error_line(batch_of(""), 2, "empty");
  expect_one_error_line(batch_of("id,mechanism\na,gaussian\n"), 2,
                        "column 'accountant' is missing");
  for (const auto& [row, part] : std::vector<std::pair<std::string, std::string>>{
           {"b,gaussian,zcdp", "3 fields, expected 15"},
           {"b,gausian,zcdp,cks,any,epsilon,1,1,1,1e-05,,,,,", "unknown mechanism 'gausian'"},
           {"b,gaussian,zcdp,cks,any,epsilon,one,1,1,1e-05,,,,,", "sigma = 'one'"},
           {"b,gaussian,zcdp,cks,any,epsilon,,1,1,1e-05,,,,,", "sigma = ''"},
           {"b,gaussian,zcdp,cks,any,epsilon,1,1,1,,,,,,", "delta = ''"},
           {"b,gaussian,zcdp,cks,any,epsilon,-1,1,1,1e-05,,,,,", "gaussian: noise_multiplier = -1"},
           {"b,gaussian,zcdp,cks,any,epsilon,1,1,0,1e-05,,,,,", "steps = 0"},
           {"b,gaussian,zcdp,cks,any,epsilon,1,1,1,2,,,,,", "epsilon_of: delta = 2"},
           {"b,gaussian,zcdp,cks_on_grid,any,epsilon,1,1,1,1e-05,,,,,", "conversion"}}) {
    const std::string good = "a,gaussian,zcdp,cks,any,epsilon,1,1,1,1e-05,,,,,\n";
    SCOPED_TRACE(row);
    expect_one_error_line(batch_of(kHeader + good + row + "\n"), 2, "line 3: " + part);
  }
}

using Fields = std::map<std::string, std::string>;

TEST(AccountBatch, RefusesWhatIsFilledAndNotUsed) {
  const std::string header = lines(contents(kReference))[0];
  const auto with = [&](Fields fields) {
    fields.merge(Fields{{"mechanism", "gaussian"},
                        {"accountant", "pld"},
                        {"adjacency", "add_remove"},
                        {"solve_for", "epsilon"},
                        {"sigma", "1"},
                        {"steps", "100"},
                        {"delta", "1e-05"}});
    std::string text = header + "\n";
    for (const std::string& name : fields_of(header))
      text += (name == "id" ? "" : ",") + fields[name];
    return batch_of(text + "\n");
  };
  EXPECT_EQ(with({}).code, 0) << with({}).err;
  Fields zcdp{{"mechanism", "zcdp"},
              {"accountant", "zcdp"},
              {"conversion", "cks"},
              {"sigma", ""},
              {"rho", "0.01"}};
  expect_one_error_line(with(zcdp), 2, "steps = 100, expected none, or 1");
  zcdp["steps"] = "1";
  EXPECT_EQ(with(zcdp).code, 0);
  Fields fixed{{"mechanism", "wor_gaussian"}, {"accountant", "rdp"},  {"conversion", "cks_on_grid"},
               {"adjacency", "replace_one"},  {"sample_size", "500"}, {"dataset_size", "1000"}};
  for (const auto& [q, code] : {std::pair{"0.5", 0}, {"0.01", 2}}) {
    fixed["q"] = q;
    EXPECT_EQ(with(fixed).code, code) << q;
  }
  for (const auto& [changes, part] : std::vector<std::pair<Fields, std::string>>{
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
