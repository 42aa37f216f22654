// SPDX-License-Identifier: Apache-2.0
// The statistical attack: its bounds, its scores, and that they do not depend on threads.
#include <cmath>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "likelihood/bounds.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "likelihood/likelihood.hpp"

namespace dpsosp::statistics_test {
namespace {

using namespace audit;

constexpr double confidence = 0.999;

struct Scores {
  std::vector<double> one, two;
};
/// Log likelihood ratios of N(μ, 1) and N(0, 1).
Scores gaussian_scores(double mu, std::size_t runs, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::test});
  Scores s;
  for (std::size_t k = 0; k < runs; ++k) {
    s.one.push_back(mu * (stream.normal() + 0.5 * mu));
    s.two.push_back(mu * (stream.normal() - 0.5 * mu));
  }
  return s;
}

TEST(ErrorRates, ApproachGaussianMuFromBelow) {
  const double mu = 1.5;
  const Scores s = gaussian_scores(mu, 40000, 1);
  const double audited = gaussian_mu_of(error_rates(s.one, s.two, confidence));
  EXPECT_LT(audited, mu);
  EXPECT_GT(audited, 0.95 * mu);
}

TEST(ErrorRates, GiveZeroMuForIdenticalWorlds) {
  const Scores s = gaussian_scores(0.0, 4000, 1);
  EXPECT_EQ(gaussian_mu_of(error_rates(s.one, s.two, confidence)), 0.0);
}

TEST(ErrorRates, MatchClopperPearsonForSeparatedWorlds) {
  const std::vector<double> one(200, 1.0), two(200, -1.0);
  const ErrorRates rates = error_rates(one, two, confidence);
  // No error in 100 runs: Clopper-Pearson with half the failure on either side.
  const double expected = 1.0 - std::pow(0.5e-3, 1.0 / 100);
  EXPECT_NEAR(rates.false_one, expected, 1e-12);
  EXPECT_NEAR(rates.false_two, expected, 1e-12);
  EXPECT_NEAR(epsilon_of_rates(rates, 0.0), std::log((1 - expected) / expected), 1e-12);
}

TEST(Claim, IsFalsifiedOnlyBeyondGaussianMu) {
  Claim claim({{GaussianEvent{1.0}, 4}});  // μ = 2
  const Scores honest = gaussian_scores(2.0, 4000, 3), bold = gaussian_scores(2.5, 4000, 3);
  const ErrorRates fair = error_rates(honest.one, honest.two, confidence);
  const ErrorRates more = error_rates(bold.one, bold.two, confidence);
  EXPECT_FALSE(claim.falsified_by(fair));
  EXPECT_LT(claim.audited_epsilon(fair, 1e-6), claim.epsilon(1e-6));
  EXPECT_TRUE(claim.falsified_by(more));
  EXPECT_GT(claim.audited_epsilon(more, 1e-6), claim.epsilon(1e-6));
  EXPECT_NEAR(claim.epsilon(1e-6), gaussian_epsilon(1e-6, 2.0), 1e-9);
}

TEST(Claim, IsFalsifiedOnlyBeyondMixedCharges) {
  Claim claim({{GaussianEvent{1.0}, 1}, {PureEvent{0.5}, 1}});
  const ErrorRates weak{0.3, 0.3}, strong{0.01, 0.01};
  EXPECT_FALSE(claim.falsified_by(weak));
  EXPECT_LE(claim.audited_epsilon(weak, 1e-6), claim.epsilon(1e-6));
  EXPECT_TRUE(claim.falsified_by(strong));
  EXPECT_GT(claim.audited_epsilon(strong, 1e-6), claim.epsilon(1e-6));
}

TEST(Claim, AuditsLeastNoiseExcludedByRates) {
  const auto with_noise = [](double multiple) {
    return Claim({{GaussianEvent{multiple}, 1}, {PureEvent{0.5 / multiple}, 1}});
  };
  for (const ErrorRates& rates : {ErrorRates{0.3, 0.3}, {0.01, 0.01}, {0.001, 0.6}, {0.7, 1e-4}}) {
    double allowed = 1.0 / 64, least = 64.0;
    while (least / allowed > 1.0001) {
      const double middle = std::sqrt(allowed * least);
      (with_noise(middle).falsified_by(rates) ? least : allowed) = middle;
    }
    const double audited = with_noise(1.0).audited_epsilon(rates, 1e-6);
    EXPECT_NEAR(audited / with_noise(least).epsilon(1e-6), 1.0, 2e-3);
  }
}

TEST(Claim, EmptyClaimIsFalsifiedByAnyAdvantage) {
  EXPECT_TRUE(Claim({}).falsified_by({0.3, 0.3}));
  EXPECT_FALSE(Claim({}).falsified_by({1.0, 1.0}));
}

Exchange gaussian_exchange(double answer, double noisy, double deviation, const Event& event) {
  Exchange e;
  e.what.deviation = deviation;
  LedgerEntry entry;
  entry.event = event;
  e.charges = {entry};
  e.answer = Vector::Constant(1, answer);
  e.noisy = Vector::Constant(1, noisy);
  return e;
}
std::vector<Vector> one_answer(double value) { return {Vector::Constant(1, value)}; }

TEST(LikelihoodRatio, MatchesGaussianFormula) {
  const Transcript t{gaussian_exchange(1.0, 0.7, 2.0, GaussianEvent{1.0})};
  const Answers a{one_answer(1.0), one_answer(-1.0), {}, {}, {}};
  EXPECT_NEAR(log_likelihood_ratio(t, a), (1.7 * 1.7 - 0.3 * 0.3) / 8.0, 1e-14);
}

TEST(LikelihoodRatio, MatchesMixtureForSampledGaussian) {
  const double q = 0.25, s = 2.0, y = 0.7;
  const Transcript t{gaussian_exchange(1.0, y, s, PoissonGaussianEvent{q, 1.0})};
  EXPECT_TRUE(is_sampled(t));
  const Answers a{one_answer(1.0), one_answer(0.5), one_answer(1.0), one_answer(-1.0),
                  one_answer(0.0)};
  const auto density = [&](double mean) {
    return std::exp(-(y - mean) * (y - mean) / (2 * s * s));
  };
  const double expected =
      std::log(((1 - q) * density(0) + q * density(1)) / ((1 - q) * density(0) + q * density(-1)));
  EXPECT_NEAR(log_likelihood_ratio(t, a), expected, 1e-13);
}

TEST(LikelihoodRatio, MatchesChoiceProbabilities) {
  Transcript t;
  Answers a;
  const std::vector<double> one{0.0, 1.0, 0.5}, two{0.2, 0.4, 0.5};
  for (std::size_t k = 0; k < one.size(); ++k) {
    Exchange e;
    e.what = {.kind = AuditedAnswer::Kind::score,
              .deviation = 0.5,
              .index = static_cast<std::int64_t>(k)};
    e.answer = Vector::Constant(1, one[k]);
    t.push_back(e);
    a.one.push_back(Vector::Constant(1, one[k]));
    a.two.push_back(Vector::Constant(1, two[k]));
  }
  t.back().noisy = Vector::Constant(1, 1.0);  // the second candidate
  const auto probability = [](const std::vector<double>& s) {
    double total = 0;
    for (const double x : s) total += std::exp(-x / 0.5);
    return std::exp(-s[1] / 0.5) / total;
  };
  EXPECT_NEAR(log_likelihood_ratio(t, a), std::log(probability(one) / probability(two)), 1e-12);
}

/// One question of AboveThreshold: the difference of two Laplace variables decides.
TEST(LikelihoodRatio, MatchesThresholdAnswerProbabilities) {
  using Kind = AuditedAnswer::Kind;
  Exchange threshold, question;
  threshold.what = {.kind = Kind::threshold, .deviation = 1.0};
  threshold.answer = threshold.noisy = Vector::Zero(1);
  question.what = {.kind = Kind::question, .deviation = 2.0};
  question.answer = Vector::Constant(1, 0.8);
  question.noisy = Vector::Constant(1, -0.1);  // yes
  const Transcript t{threshold, question};
  const Answers a{{Vector::Zero(1), Vector::Constant(1, 0.8)},
                  {Vector::Zero(1), Vector::Constant(1, -0.8)},
                  {},
                  {},
                  {}};
  Stream stream({.seed = 9, .purpose = Purpose::test});
  int yes_one = 0, yes_two = 0;
  for (int k = 0; k < 200000; ++k) {
    const double rho = stream.laplace(), nu = 2.0 * stream.laplace();
    yes_one += 0.8 + nu <= rho ? 1 : 0;
    yes_two += -0.8 + nu <= rho ? 1 : 0;
  }
  EXPECT_NEAR(log_likelihood_ratio(t, a), std::log(double(yes_one) / yes_two), 0.02);
}

TEST(StatisticalAudit, YieldsSameNumbersForAnyThreadCount) {
  const auto audit = [](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return audit_statistics("abadi-2016/dp-sgd", {.runs = 64, .power = false});
  };
  const StatisticalAudit one = audit(1), three = audit(3);
  EXPECT_EQ(one.audited, three.audited);
  EXPECT_EQ(one.direct, three.direct);
  EXPECT_EQ(one.accounted, three.accounted);
}

TEST(StatisticalAudit, CatchesPlantedBugsInThousandRuns) {
  const StatisticalOptions options{.runs = 1000, .power = false};
  EXPECT_FALSE(audit_statistics("wang-ye-xu-2017/dp-gd", options).falsified);
  for (const char* plant : {"noise-over-sqrt2", "add-remove-sensitivity", "batch-mean-clip"})
    EXPECT_TRUE(audit_statistics("wang-ye-xu-2017/dp-gd", options, plant).falsified) << plant;
  EXPECT_TRUE(
      audit_statistics("tran-cutkosky-2022/momentum-aggregation", options, "difference-clip")
          .falsified);
  EXPECT_TRUE(audit_statistics("zhou-2020/dp-sgd", options, "fresh-reused").falsified);
}

}  // namespace
}  // namespace dpsosp::statistics_test
