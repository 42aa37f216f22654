// SPDX-License-Identifier: Apache-2.0
// Runs of DP-SGD and noisy SGD (avdiukhin-2024): the loop, its releases, the monitor, the private
// selection.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::avdiukhin_2024::avdiukhin_test {
namespace {

using test::Ran;
using test::run_enforced;
using test::run_unsound;
using test::ScriptedRecords;

Problem double_well(Index n, std::map<std::string, std::string> settings = {}, Index d = 10) {
  const auto family = find_problem("double-well");
  Fields fields = family->fields();
  for (const auto& [name, text] : settings) set_field(fields, "double-well", name, text);
  return family->make({.records = n, .dimension = d, .seed = 1, .data_seed = 1});
}

PublicFacts facts_of(Index n, Vector start) {
  PublicFacts facts;
  facts.name = "scripted";
  facts.dimension = start.size();
  facts.records = n;
  facts.initial_point = std::move(start);
  return facts;
}

const UnsoundCurator::Departures unclipped{.no_clipping = true};

// avdiukhin-2024 notes, 8
TEST(MinibatchSgd, StepsAlongMeanGradientPlusNoise) {
  const Vector gradient{{0.5, -1.0}};
  const PublicFacts facts = facts_of(8, Vector{{1.0, 1.0}});
  const ScriptedRecords records(8, [&](std::size_t, const Point&, Block) { return gradient; });
  DpSgd algorithm;
  algorithm.parameters = {.steps = 1, .step_size = 0.1, .clip = 2.5, .noise = 3.0};
  const Vector exact = run_unsound(algorithm, facts, records, test::no_noise).outcome.point;
  EXPECT_LT((exact - Vector{{0.95, 1.1}}).norm(), 1e-15);
  const Vector noise = run_unsound(algorithm, facts, records, test::no_data).outcome.point;
  const Vector both =
      run_enforced(algorithm, facts, records, {Calibrator::cks, {}, 10}).outcome.point;
  EXPECT_LT((both - (noise - 0.1 * gradient)).norm(), 1e-15);
  EXPECT_GT((noise - facts.initial_point).norm(), 0.01);
}

TEST(MinibatchSgd, EqualsGradientDescentOnFullBatchesWithoutNoise) {
  const Problem p = double_well(50, {{"start", "random"}});
  NoisySgd algorithm;
  algorithm.parameters = {.steps = 30, .step_size = 0.3, .clip = 1.0};
  const Ran ran = run_unsound(algorithm, p.facts, *p.records, test::exact);
  Vector x = p.facts.initial_point, g(x.size());
  for (const Vector& iterate : ran.iterates) {
    EXPECT_LT((iterate - x).norm(), 1e-13);
    p.objective().gradient(x, g);
    x -= 0.3 * g;
  }
  EXPECT_LT((ran.outcome.point - x).norm(), 1e-13);
}

// avdiukhin-2024 notes, 8
TEST(MinibatchSgd, ClippedAndUnclippedRunsAgreeUntilFirstLongGradient) {
  const Problem p = double_well(200, {{"start", "near_saddle"}, {"tilt", "0.5"}});
  for (const Sampling sampling : {Sampling::all, Sampling::sample, Sampling::poisson}) {
    DpSgd clips;
    clips.parameters = {.steps = 60,
                        .step_size = 0.2,
                        .clip = 0.7,
                        .sampling = sampling,
                        .batch = 40,
                        .noise = 0.5};
    NoisySgd leaves;
    leaves.parameters = clips.parameters;
    const Ran one = run_unsound(clips, p.facts, *p.records, {});
    ClipLog log;
    UnsoundCurator curator(p.facts, *p.records, {.seed = 1}, unclipped, &log);
    test::Iterates other;
    leaves.run(curator, Stream({.seed = 1, .purpose = Purpose::algorithm}), other);
    ASSERT_GT(log.violations, 0);
    ASSERT_GT(log.first_violation, 1);
    EXPECT_GT(log.largest_over_nominal, 1.0);
    const auto same = static_cast<std::size_t>(log.first_violation);
    for (std::size_t t = 0; t <= same; ++t) EXPECT_EQ(one.iterates[t], other.points[t]);
    EXPECT_NE(one.iterates[same + 1], other.points[same + 1]);
  }
}

/// One unclipped query over records with x-gradients at given norms.
ClipLog monitored(const std::vector<double>& norms, double nominal, bool noise = true) {
  const auto n = static_cast<Index>(norms.size());
  class OfNorms final : public test::WrittenRecords {
   public:
    explicit OfNorms(const std::vector<double>& norms)
        : WrittenRecords(std::ssize(norms)), norms_(norms) {}

   private:
    Vector of(Index i, const Summand&) const override {
      return Vector::Constant(1, norms_[static_cast<std::size_t>(i)]);
    }
    const std::vector<double>& norms_;
  };
  const OfNorms records(norms);
  const PublicFacts facts = facts_of(n, Vector::Zero(1));
  ClipLog log;
  UnsoundCurator curator(facts, records, {.seed = 1}, {.no_noise = !noise, .no_clipping = true},
                         &log);
  Vector out(1);
  for (int k = 0; k < 2; ++k)
    curator.gradient(Point(facts.initial_point), curator.draw(BatchPolicy::all()),
                     {nominal, Noise::sensitivity_ratio(1.0)}, out);
  return log;
}

TEST(GradientMonitor, CountsGradientsLongerThanNominalBound) {
  const ClipLog log = monitored({0.5, 3.0, 1.0, 2.0}, 1.0);
  EXPECT_EQ(log.violations, 4);  // two records, two queries
  EXPECT_EQ(log.first_violation, 0);
  EXPECT_EQ(log.largest_over_nominal, 3.0);
  EXPECT_EQ(log.clipped, 0);
  EXPECT_EQ(log.queries, 2);
  EXPECT_EQ(log.unseen, 0);
  const ClipLog quiet = monitored({0.5, 3.0, 1.0, 2.0}, 3.0);
  EXPECT_EQ(quiet.violations, 0);
  EXPECT_EQ(quiet.first_violation, -1);
  EXPECT_EQ(quiet.largest_over_nominal, 1.0);
  // a reference line has no nominal bound
  EXPECT_EQ(monitored({0.5, 3.0, 1.0, 2.0}, 1.0, false).violations, 0);
}

TEST(GradientMonitor, CountsUnseenSimulatedContributions) {
  const Problem p = double_well(1000000, {{"sampling", "whole"}});
  const auto log_of = [&](double nominal) {
    ClipLog log;
    UnsoundCurator curator(p.facts, *p.simulated, {.seed = 1}, unclipped, &log);
    Vector out(10);
    curator.gradient(Point(p.facts.initial_point), curator.draw(BatchPolicy::all()),
                     {nominal, Noise::sensitivity_ratio(1.0)}, out);
    return log;
  };
  EXPECT_EQ(log_of(0.5).unseen, 1000000);  // every record's gradient has length 1
  EXPECT_EQ(log_of(2.0).unseen, 0);
  EXPECT_EQ(log_of(2.0).violations, 0);
}

// A16: the divisor of a Poisson batch stays B, and an empty batch is a legal one.
TEST(MinibatchSgd, DividesPoissonSumsByExpectedSize) {
  constexpr Index n = 30, B = 2, T = 1000;
  const PublicFacts facts = facts_of(n, Vector::Zero(1));
  const ScriptedRecords records(n,
                                [&](std::size_t, const Point&, Block) { return Vector::Ones(1); });
  DpSgd algorithm;
  algorithm.parameters = {
      .steps = T, .step_size = 1.0, .clip = 1.0, .sampling = Sampling::poisson, .batch = B};
  const Ran ran = run_unsound(algorithm, facts, records, test::no_noise);
  Index empty = 0;
  double total = 0;
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    const double size = B * (ran.iterates[t] - ran.iterates[t + 1])[0];
    EXPECT_NEAR(size, std::round(size), 1e-9);
    if (std::abs(size) < 0.5) ++empty;
    total += size;
  }
  EXPECT_GT(empty, 0);
  EXPECT_NEAR(total / (T - 1), B, 5 * std::sqrt(B / 1000.0));
}

TEST(MinibatchSgd, RejectsShuffling) {
  DpSgd algorithm;
  EXPECT_THROW(test::set(algorithm, {{"sampling", "shuffle"}}), InputError);
}

DpSgd selecting(const Problem& p, double epsilon, FilterRule& rule) {
  DpSgd algorithm;
  auto& q = algorithm.parameters;
  q.bound = BoundRule::given;
  q.clip = 2.616227428;
  q.selection.share = 0.25;
  rule = algorithm.schedule(Schedule::practical, p.facts, {epsilon, 1e-6}, Calibrator::cks).rule;
  return algorithm;
}

TEST(PrivateSelection, ReturnsAcceptedIterateWithinBudget) {
  const Problem p = double_well(20000);
  FilterRule rule;
  const DpSgd algorithm = selecting(p, 2, rule);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Ran ran = run_enforced(algorithm, p.facts, *p.records, rule, seed);
    EXPECT_EQ(ran.outcome.status, Status::certified);
    EXPECT_EQ(ran.outcome.steps, algorithm.parameters.steps);
    EXPECT_EQ(ran.outcome.counts.at("selected"), 1);
    EXPECT_EQ(ran.ledger.entries().back().query, "stationarity_test");
    EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 2 * (1 + 1e-9));
    // the same steps as without a selection; the output is one of them or the last iterate
    DpSgd plain = algorithm;
    plain.parameters.selection.epsilon = 0;
    const Ran alone = run_enforced(plain, p.facts, *p.records, rule, seed);
    EXPECT_EQ(ran.iterates, alone.iterates);
    EXPECT_TRUE(ran.outcome.point == alone.outcome.point ||
                std::ranges::count(ran.iterates, ran.outcome.point) > 0);
  }
}

TEST(PrivateSelection, ReturnsLastIterateWhenNoneIsAccepted) {
  const Problem p = double_well(20000);
  FilterRule rule;
  DpSgd algorithm = selecting(p, 2, rule);
  algorithm.parameters.selection.alpha = 1e-9;  // no iterate is that good
  algorithm.parameters.selection.epsilon = 1e6;
  rule.capacity = 1e30;
  const Ran ran = run_enforced(algorithm, p.facts, *p.records, rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_EQ(ran.outcome.counts.at("selected"), 0);
  EXPECT_EQ(ran.ledger.entries().back().query, "stationarity_test");  // asked all the same
  EXPECT_EQ(std::ranges::count(ran.iterates, ran.outcome.point), 0);  // x_T is after x_{T−1}
  EXPECT_TRUE(ran.outcome.point.allFinite());
}

// A11; avdiukhin-2024 notes, 8. Scales have the 2 of replace-one, the 2 and 4 of
// AboveThreshold, and M, which the smoothness of f does not bound. The paper prints Lap(C/(nε)) and
// Lap(L/(nε)) (avdiukhin-2024, Section 3.4).
TEST(PrivateSelection, UsesReplaceOneAndSparseVectorScales) {
  constexpr double rho = 1.539600718, alpha = 0.1, G = 2.616, M = 2;
  const Problem p = double_well(20000);
  Curator curator(p.facts, *p.records, {Calibrator::cks, {}, 100}, {.seed = 1});
  const StationarityTest test(curator, curator.draw(BatchPolicy::all()),
                              {.epsilon = 1,
                               .gradient_scale = alpha,
                               .curvature_scale = std::sqrt(rho * alpha),
                               .gradient_limit = G,
                               .hessian_limit = M});
  EXPECT_NEAR(test.sensitivity(), 0.002616, 1e-9);
  EXPECT_NEAR(curator.ledger().entries().front().deviation_high, 0.005232, 1e-9);
  const double printed = G / 20000 / alpha;
  EXPECT_NEAR(test.sensitivity() / printed, 2.0, 1e-9);
  // Two neighbours: one record of the double well with its sign changed moves the mean gradient by
  // 2X/n, more than the printed sensitivity at C = X.
  Vector one(10), two(10);
  const BatchView all(0, 20000), rest(1, 20000), first(0, 1);
  one.setZero();
  p.records->add_gradients(Point(Vector::Zero(10)), Block::x, all, 1.0, one);
  two.setZero();
  p.records->add_gradients(Point(Vector::Zero(10)), Block::x, rest, 1.0, two);
  Vector tilt = Vector::Zero(10);
  p.records->add_gradients(Point(Vector::Zero(10)), Block::x, first, 1.0, tilt);
  two -= tilt;
  EXPECT_GT((one - two).norm() / 20000, 1.9 * 1.0 / 20000);
}

TEST(MinibatchSgd, FollowsOutputRule) {
  const Problem p = double_well(500);
  DpSgd algorithm;
  algorithm.parameters = {.steps = 40, .step_size = 0.2, .clip = 3, .noise = 20};
  const FilterRule rule{Calibrator::cks, {}, 10};
  const Ran last = run_enforced(algorithm, p.facts, *p.records, rule);
  EXPECT_EQ(std::ranges::count(last.iterates, last.outcome.point), 0);
  algorithm.parameters.output = OutputRule::uniform;
  Stream stream({.seed = 1, .purpose = Purpose::algorithm});
  const auto J = static_cast<std::size_t>(stream.below(40));
  const Ran uniform = run_enforced(algorithm, p.facts, *p.records, rule);
  EXPECT_EQ(uniform.outcome.point, uniform.iterates[J]);
  EXPECT_EQ(uniform.iterates, last.iterates);
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024::avdiukhin_test
