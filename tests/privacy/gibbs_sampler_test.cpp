// SPDX-License-Identifier: Apache-2.0
// Draws from Gibbs laws against quadrature; what they cost.
#include "dpsosp/privacy/gibbs_sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::gibbs_sampler_test {
namespace {

/// f_i(x) = 2 sin(3x + 0.3 i), i = 0..4: 6-Lipschitz. \source ganesh-2023 notes, 7
class Sines final : public SampledLoss {
 public:
  Index count() const override { return 5; }
  double one(Index i, ConstVectorRef x) override {
    return 2 * std::sin(3 * x[0] + 0.3 * static_cast<double>(i));
  }
  double mean(ConstVectorRef x) override {
    double sum = 0;
    for (Index i = 0; i < 5; ++i) sum += one(i, x);
    return sum / 5;
  }
};

constexpr double bias_mean = -0.4707, bias_second = 0.4643;

struct Moments {
  double mean, second, out_of_range;
};

/// Averages over one long chain after a tenth of it.
Moments chain(GibbsMethod method, double step, Index rounds) {
  AlternateSampler sampler({.inverse_temperature = 1,
                            .regularizer = 0.5,
                            .domain = Domain::box(1),
                            .bound = 2,
                            .method = method,
                            .step = step,
                            .rounds = 1});
  Sines loss;
  Stream stream({.seed = 12});
  Vector x(1);
  sampler.draw_prior(stream, x);
  double first = 0, second = 0, kept = 0;
  for (Index t = 0; t < rounds; ++t) {
    sampler.round(loss, stream, x);
    if (t < rounds / 10) continue;
    first += x[0];
    second += x[0] * x[0];
    kept += 1;
  }
  const EstimateCounts& c = sampler.counts();
  const double outside =
      c.estimates > 0 ? static_cast<double>(c.out_of_range) / static_cast<double>(c.estimates) : 0;
  return {first / kept, second / kept, outside};
}

/// Mean of g under exp(−f(x) − x²/4) on [−1, 1].
double quadrature(const std::function<double(double)>& g) {
  Sines loss;
  double top = 0, bottom = 0;
  for (int k = 0; k < 20000; ++k) {
    const double x = -1 + (k + 0.5) / 10000;
    const double w = std::exp(-loss.mean(Vector::Constant(1, x)) - x * x / 4);
    top += w * g(x);
    bottom += w;
  }
  return top / bottom;
}

TEST(AlternateSampler, BiasTestTargetHasPublishedMoments) {
  EXPECT_NEAR(quadrature([](double x) { return x; }), bias_mean, 5e-5);
  EXPECT_NEAR(quadrature([](double x) { return x * x; }), bias_second, 5e-5);
}

TEST(AlternateSampler, ExactStepsMatchMomentsAtLargeStep) {
  const Moments m = chain(GibbsMethod::exact, 0.02, 200000);
  EXPECT_NEAR(m.mean, bias_mean, 0.02);
  EXPECT_NEAR(m.second, bias_second, 0.01);
}

TEST(AlternateSampler, StochasticStepsAreBiasedAtLargeStepOnly) {
  const Moments large = chain(GibbsMethod::stochastic, 0.02, 300000);
  EXPECT_NEAR(large.out_of_range, 0.17, 0.01);
  EXPECT_NEAR(large.mean, -0.262, 0.04);
  const Moments medium = chain(GibbsMethod::stochastic, 0.005, 600000);
  EXPECT_NEAR(medium.out_of_range, 0.034, 0.004);
  EXPECT_NEAR(medium.mean, -0.415, 0.04);
  const Moments small = chain(GibbsMethod::stochastic, 0.001, 3000000);
  EXPECT_NEAR(small.out_of_range, 0.0008, 0.0003);
  EXPECT_NEAR(small.mean, bias_mean, 0.05);
  EXPECT_NEAR(small.second, bias_second, 0.02);
}

TEST(AlternateSampler, RejectionDrawsFromTarget) {
  AlternateSampler sampler(
      {.inverse_temperature = 1, .regularizer = 0.5, .domain = Domain::box(1), .bound = 2});
  Sines loss;
  Stream stream({.seed = 13});
  Vector x(1);
  double first = 0, second = 0;
  constexpr int draws = 40000;
  for (int k = 0; k < draws; ++k) {
    sampler.sample(loss, stream, x);
    first += x[0];
    second += x[0] * x[0];
  }
  EXPECT_NEAR(first / draws, bias_mean, 5 * 0.5 / 200);
  EXPECT_NEAR(second / draws, bias_second, 5 * 0.4 / 200);
}

/// However many proposals are refused: some 4000 a draw.
TEST(AlternateSampler, DrawsFromTargetWhereMostProposalsAreRefused) {
  const GibbsLaw law{.inverse_temperature = 4,
                     .regularizer = 0.5,
                     .domain = Domain::box(1),
                     .bound = 2,
                     .method = GibbsMethod::rejection};
  /// Between 0 and 2, so that each proposal is refused with probability 1 - e^-8 at least.
  class High final : public SampledLoss {
   public:
    Index count() const override { return 1; }
    double one(Index, ConstVectorRef x) override { return 1 + x[0]; }
    double mean(ConstVectorRef x) override { return one(0, x); }
  } loss;
  const auto weight = [&](double x) { return std::exp(-4 * (1 + x) - x * x); };
  std::vector<double> below{0.0};  // of the target, on a grid
  for (int k = 0; k < 2000; ++k) below.push_back(below.back() + weight(-1 + (k + 0.5) / 1000));
  AlternateSampler sampler(law);
  Stream stream({.seed = 21});
  constexpr int draws = 300;
  std::vector<double> ranks;
  Vector x(1);
  for (int k = 0; k < draws; ++k) {
    sampler.sample(loss, stream, x);
    ranks.push_back(below[static_cast<std::size_t>((x[0] + 1) * 1000)] / below.back());
  }
  std::ranges::sort(ranks);
  double farthest = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k)
    farthest = std::max(farthest, std::abs(ranks[k] - (static_cast<double>(k) + 0.5) / draws));
  EXPECT_LE(farthest, 2.2 / std::sqrt(draws));  // passed with probability 1e-4 by the law itself
}

/// Steps on a ball draw a normal for each coordinate and one number to accept by, no more.
TEST(AlternateSampler, RoundsOnABallAreThoseOfTheirOwnStream) {
  class Level final : public SampledLoss {  // accepted whatever it is asked at
   public:
    Index count() const override { return 1; }
    double one(Index, ConstVectorRef) override { return -1; }
    double mean(ConstVectorRef) override { return -1; }
  } loss;
  constexpr double step = 0.3, temperature = 0.5, regularizer = 0.8;
  AlternateSampler sampler({.inverse_temperature = temperature,
                            .regularizer = regularizer,
                            .domain = Domain::ball(1e6),
                            .bound = 1,
                            .method = GibbsMethod::exact,
                            .step = step,
                            .rounds = 1});
  Stream stream({.seed = 18}), twin({.seed = 18});
  Vector x = Vector::Ones(3), expected = x;
  for (int t = 0; t < 5; ++t) {
    sampler.round(loss, stream, x);
    twin.add_normal(std::sqrt(step), expected);
    const double shrink = 1 / (1 + step * temperature * regularizer);
    expected *= shrink;
    twin.add_normal(std::sqrt(step * shrink), expected);
    twin.uniform();
    EXPECT_LE((x - expected).norm(), 1e-14 * x.norm()) << t;
    EXPECT_EQ(stream.position(), twin.position()) << t;
  }
}

TEST(AlternateSampler, EstimatorHasDerivedMeanAndCost) {
  for (const auto& [from, to] : {std::pair{0.3, -0.2}, std::pair{-0.8, 0.1}}) {
    AlternateSampler sampler({.inverse_temperature = 0.4,
                              .regularizer = 0.5,
                              .domain = Domain::box(1),
                              .bound = 2,
                              .method = GibbsMethod::stochastic,
                              .step = 0.01,
                              .rounds = 1});
    Sines loss;
    Stream stream({.seed = 14});
    const Vector x = Vector::Constant(1, from), z = Vector::Constant(1, to);
    constexpr int trials = 400000;
    double sum = 0, squares = 0;
    for (int k = 0; k < trials; ++k) {
      const double r = sampler.estimate(loss, x, z, stream);
      sum += r;
      squares += r * r;
    }
    const double mean = sum / trials, spread = std::sqrt((squares / trials - mean * mean) / trials);
    EXPECT_NEAR(mean, std::exp(0.4 * (loss.mean(z) - loss.mean(x))), 5 * spread);
    EXPECT_NEAR(static_cast<double>(sampler.counts().differences) / trials, std::numbers::e, 0.02);
  }
}

TEST(AlternateSampler, MatchesMomentsOnBallAndBox) {
  // linear tilt, so that both moments follow from a sum over a fine grid
  class Tilt final : public SampledLoss {
   public:
    Index count() const override { return 1; }
    double one(Index, ConstVectorRef x) override { return 0.6 * x[0] - 0.2 * x[1]; }
    double mean(ConstVectorRef x) override { return one(0, x); }
  } loss;
  for (const Domain& domain : {Domain::box(1), Domain::ball(1)}) {
    Eigen::Vector2d expected = Eigen::Vector2d::Zero();
    double weight = 0, square = 0;
    for (int i = 0; i < 400; ++i)
      for (int j = 0; j < 400; ++j) {
        const Vector x{{-1 + (i + 0.5) / 200, -1 + (j + 0.5) / 200}};
        if (!domain.contains(x)) continue;
        const double w = std::exp(-2 * loss.mean(x) - 0.75 * x.squaredNorm());
        weight += w;
        expected += w * x;
        square += w * x.squaredNorm();
      }
    for (const GibbsMethod method :
         {GibbsMethod::rejection, GibbsMethod::exact, GibbsMethod::stochastic}) {
      AlternateSampler sampler({.inverse_temperature = 2,
                                .regularizer = 0.75,
                                .domain = domain,
                                .bound = 0.8,
                                .method = method,
                                .step = 0.03,
                                .rounds = 150});
      Stream stream({.seed = 15});
      Eigen::Vector2d mean = Eigen::Vector2d::Zero();
      double second = 0;
      constexpr int draws = 2500;
      Vector x(2);
      for (int k = 0; k < draws; ++k) {
        sampler.sample(loss, stream, x);
        ASSERT_TRUE(domain.contains(x));
        mean += x / draws;
        second += x.squaredNorm() / draws;
      }
      EXPECT_LT((mean - expected / weight).norm(), 0.05) << static_cast<int>(method);
      EXPECT_NEAR(second, square / weight, 0.04) << static_cast<int>(method);
    }
  }
}

TEST(AlternateSampler, RefusesNumbersWhosePowersOverflow) {
  const GibbsLaw law{.inverse_temperature = 1e-3,
                     .regularizer = 1,
                     .domain = Domain::ball(1),
                     .bound = 1,
                     .method = GibbsMethod::stochastic,
                     .step = 0.1,
                     .rounds = 1};
  EXPECT_NO_THROW(AlternateSampler{law});
  for (const double bad : {0.0, -1.0, 1e-101, 1e101, HUGE_VAL, std::nan("")}) {
    std::array<GibbsLaw, 4> laws{law, law, law, law};
    laws[0].inverse_temperature = bad;
    laws[1].bound = bad;
    laws[2].domain.radius = bad;
    laws[3].step = bad;
    for (const GibbsLaw& wrong : laws) EXPECT_THROW(AlternateSampler{wrong}, InputError) << bad;
  }
}

// (‖x‖/R)^d is uniform in [0, 1] as the regulariser vanishes, whichever way the radius is drawn.
TEST(AlternateSampler, PriorOnBallIsUniformWhereRegulariserIsTiny) {
  constexpr Index d = 30;
  for (const double regularizer : {0.0, 1e-30, 1e-16, 1e-6}) {
    const AlternateSampler sampler({.inverse_temperature = 1,
                                    .regularizer = regularizer,
                                    .domain = Domain::ball(2),
                                    .bound = 1});
    Stream stream({.seed = 16});
    Vector x(d);
    double mean = 0, square = 0, together = 0;
    constexpr int draws = 4000;
    for (int k = 0; k < draws; ++k) {
      sampler.draw_prior(stream, x);
      const double volume = std::pow(x.norm() / 2, d);
      const double along = d * std::pow(x[0] / x.norm(), 2) - 1;
      together += (volume - 0.5) * along / draws;
      mean += volume / draws;
      square += volume * volume / draws;
    }
    EXPECT_NEAR(mean, 1.0 / 2, 0.025) << regularizer;  // five standard errors
    EXPECT_NEAR(square, 1.0 / 3, 0.025) << regularizer;
    EXPECT_NEAR(together, 0, 0.032) << "the radius does not depend on the direction";
  }
}

TEST(AlternateSampler, PriorOnBoxHasIndependentUniformCoordinates) {
  const AlternateSampler sampler(
      {.inverse_temperature = 1, .regularizer = 0, .domain = Domain::box(2), .bound = 1});
  Stream stream({.seed = 17});
  constexpr int draws = 4000;
  Matrix points(2, draws);
  for (int k = 0; k < draws; ++k) sampler.draw_prior(stream, points.col(k));
  const Matrix moments = points * points.transpose() / draws;
  EXPECT_LE(points.cwiseAbs().maxCoeff(), 2);
  EXPECT_LE(points.rowwise().mean().norm(), 0.13);  // 5 standard errors of 1.15/√4000
  EXPECT_NEAR(moments(0, 0), 4.0 / 3, 0.1);         // of a coordinate's variance
  EXPECT_NEAR(moments(0, 1), 0, 0.11);              // independent
  EXPECT_LE(std::abs(points.row(0).head(draws - 1).dot(points.row(0).tail(draws - 1))) / draws,
            0.11);  // from one draw to the next
}

TEST(TruncatedNormal, MatchesMeanForAnyInterval) {
  Stream stream({.seed = 16});
  struct Case {
    double mean, deviation, low, high;
  };
  for (const Case& c :
       {Case{0, 1, -1, 1}, Case{0.5, 0.2, -1, 1}, Case{3, 1, -1, 1}, Case{-8, 1, -1, 1},
        Case{30, 1, -1, 1}, Case{60, 1, -1, 1}, Case{-60, 1, -1, 1}}) {
    double top = 0, bottom = 0, largest = -HUGE_VAL;
    const auto log_density = [&](double x) {
      return -0.5 * (x - c.mean) * (x - c.mean) / (c.deviation * c.deviation);
    };
    largest = log_density(std::clamp(c.mean, c.low, c.high));
    for (int k = 0; k < 20000; ++k) {
      const double x = c.low + (k + 0.5) / 20000 * (c.high - c.low);
      const double w = std::exp(log_density(x) - largest);
      top += w * x;
      bottom += w;
    }
    double sum = 0, squares = 0;
    constexpr int draws = 20000;
    for (int k = 0; k < draws; ++k) {
      const double x = truncated_normal(c.mean, c.deviation, c.low, c.high, stream);
      ASSERT_GE(x, c.low);
      ASSERT_LE(x, c.high);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / draws, spread = std::sqrt(squares / draws - mean * mean);
    EXPECT_NEAR(mean, top / bottom, 5 * spread / std::sqrt(draws) + 1e-5) << c.mean;
  }
}

TEST(GibbsSampler, RoundsMatchPublishedExample) {
  const double beta = 1.42546, mu = 0.701529;
  EXPECT_NEAR(alternating_rounds(beta, mu, 2.0, 0.0205236, 1e-6), 12974, 3);
}

struct Lab {
  explicit Lab(FilterRule rule, const char* family = "multi-well", Index n = 200)
      : problem(find_problem(family)->make({.records = n, .dimension = 2})),
        curator(problem.facts, *problem.records, rule, {.seed = 4}, &log) {}
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  GibbsSpec spec(GibbsMethod method = GibbsMethod::rejection) const {
    return {.inverse_temperature = 0.5,
            .regularizer = 1.0,
            .lipschitz = problem.facts.constants[constant::lipschitz],
            .domain = problem.facts.domain,
            .method = method,
            .step = 0.01,
            .rounds = 5,
            .sampling_error = method == GibbsMethod::rejection ? 0.0 : 1e-9};
  }

  Problem problem;
  ClipLog log;
  Curator curator;
};

TEST(GibbsSampler, ChargesBoundedRangeAndSamplingError) {
  const FilterRule rule = filter_rule({1.0, 1e-6}, Calibrator::cks, {}, 0.5, 1e-7);
  Lab lab(rule, "multi-well", 20000);
  const Batch all = lab.curator.draw(BatchPolicy::all());
  GibbsSampler exact(lab.curator, all, lab.spec());
  const double D = lab.problem.facts.domain.diameter(2);
  EXPECT_DOUBLE_EQ(exact.epsilon(), 2 * 0.5 * lab.spec().lipschitz * D / 20000);
  Vector x(2);
  exact.sample(x);
  EXPECT_TRUE(lab.problem.facts.domain.contains(x));
  const LedgerEntry entry = lab.curator.ledger().entries().back();
  EXPECT_EQ(entry.event, Event{ExponentialEvent{exact.epsilon()}});
  EXPECT_TRUE(entry.pure);
  EXPECT_EQ(entry.delta_extra, 0.0);
  EXPECT_EQ(lab.curator.label(), PrivacyLabel::enforced);

  GibbsSampler stochastic(lab.curator, all, lab.spec(GibbsMethod::stochastic));
  stochastic.sample(x);
  EXPECT_EQ(lab.curator.ledger().entries().back().delta_extra, 1e-9);
  EXPECT_EQ(lab.curator.label(), PrivacyLabel::conditional);
  EXPECT_GT(lab.log.estimates, 0);
  // the reserved part of delta is 1e-7: failures of 1e-9 fit it 26 times at epsilon = 1
  int granted = 1;
  const Vector before = x;
  try {
    for (; granted < 100; ++granted) stochastic.sample(x);
  } catch (const BudgetExhausted&) {
  }
  EXPECT_EQ(granted, static_cast<int>(1e-7 / ((1 + std::exp(1.0)) * 1e-9)));
  EXPECT_LE(lab.curator.ledger().spent(1e-6).epsilon, 1.0);
}

TEST(GibbsSampler, RefusalLeavesNoTrace) {
  Lab lab({Calibrator::cks, {}, 0.0, 1e-9});
  GibbsSampler sampler(lab.curator, lab.curator.draw(BatchPolicy::all()), lab.spec());
  Vector x = Vector::Constant(2, 42.0);
  EXPECT_THROW(sampler.sample(x), BudgetExhausted);
  EXPECT_EQ(x, Vector::Constant(2, 42.0));
  EXPECT_EQ(lab.curator.ledger().queries(), 0);
  EXPECT_EQ(lab.log.contributions, 0);
}

TEST(GibbsSampler, RejectsTooFewRoundsAndUnsupportedSpecs) {
  Lab lab({Calibrator::cks, {}, 1e9});
  const Batch all = lab.curator.draw(BatchPolicy::all());
  GibbsSpec few = lab.spec(GibbsMethod::exact);
  EXPECT_THROW(GibbsSampler(lab.curator, all, few), InputError);
  few.rounds = static_cast<Index>(alternating_rounds(few.inverse_temperature, few.regularizer,
                                                     few.lipschitz * few.domain.diameter(2),
                                                     few.step, few.sampling_error));
  EXPECT_NO_THROW(GibbsSampler(lab.curator, all, few));
  few.regularizer = 0;
  EXPECT_THROW(GibbsSampler(lab.curator, all, few), InputError);
  GibbsSpec cold = lab.spec();
  cold.inverse_temperature = 100;
  EXPECT_THROW(GibbsSampler(lab.curator, all, cold), InputError);
  GibbsSpec open = lab.spec();
  open.domain = {};
  EXPECT_THROW(GibbsSampler(lab.curator, all, open), InputError);
  GibbsSpec sure = lab.spec(GibbsMethod::stochastic);
  sure.sampling_error = 0;
  EXPECT_THROW(GibbsSampler(lab.curator, all, sure), InputError);
}

TEST(GibbsSampler, DrawsFromRegulariserAloneWithoutData) {
  const Problem problem = find_problem("multi-well")->make({.records = 50, .dimension = 1});
  UnsoundCurator curator(problem.facts, *problem.records, {.seed = 4}, {.no_data = true});
  GibbsSampler sampler(
      curator, curator.draw(BatchPolicy::all()),
      {.inverse_temperature = 0.5, .regularizer = 4.0, .lipschitz = 1.0, .domain = Domain::box(2)});
  Vector x(1);
  double squares = 0;
  for (int k = 0; k < 20000; ++k) {
    sampler.sample(x);
    squares += x[0] * x[0] / 20000;
  }
  // N(0, 1/2) cut off at ±2: (1 − 2aφ(a)/(2Φ(a) − 1))/2 with a = 2√2
  const double a = 2 * std::numbers::sqrt2;
  const double density = std::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi);
  const double expected = (1 - 2 * a * density / std::erf(a / std::numbers::sqrt2)) / 2;
  EXPECT_NEAR(squares, expected, 5 * 0.65 / std::sqrt(20000));
}

}  // namespace
}  // namespace dpsosp::gibbs_sampler_test
