// SPDX-License-Identifier: Apache-2.0
// DP-SPIDER, and the algorithms that run other algorithms: warm starts and the JL method.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "digits.hpp"
#include "dpsosp/baselines/dp_spider.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/lowy_2024/rates.hpp"
#include "dpsosp/lowy_2024/warm_glm.hpp"
#include "dpsosp/lowy_2024/warm_population.hpp"
#include "dpsosp/lowy_2024/warm_start.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::lowy_2024::warm_start_test {
namespace {

using baselines::DpSpider;
using test::Ran;

constexpr double budget_delta = 1e-6;

double field_of(Algorithm& algorithm, const std::string& name) {
  return std::stod(values_of(algorithm.fields()).at(name));
}

double spent(const Ledger& ledger, const FilterRule& rule) {
  double total = 0;
  for (const LedgerEntry& e : ledger.entries())
    total += static_cast<double>(e.count) * rule.charge(*e.event);
  return total;
}

Problem ripple(Index n, Index d = 4) {
  return find_problem("radial-ripple")->make({.records = n, .dimension = d});
}

/// What the second stage did not spend: an increment at a point that did not move is free.
double still_increments(Algorithm& algorithm, const Ran& ran) {
  const auto steps = static_cast<std::size_t>(field_of(algorithm, "second.steps"));
  const auto period = static_cast<std::size_t>(field_of(algorithm, "second.period"));
  const double ratio = field_of(algorithm, "second.increment_noise");
  double still = 0;
  for (std::size_t t = 1; t < steps; ++t) {
    const std::size_t at = ran.iterates.size() - steps + t;
    if (t % period != 0 && ran.iterates[at] == ran.iterates[at - 1]) ++still;
  }
  return still / (2 * ratio * ratio);
}

template <class Type>
class EveryWarmStart : public testing::Test {};
using WarmStarts = testing::Types<WarmQuasar, WarmKl>;
TYPED_TEST_SUITE(EveryWarmStart, WarmStarts);

TYPED_TEST(EveryWarmStart, SpendsBudgetInTwoSlices) {
  const Problem p = ripple(600);
  for (const Calibrator calibrator :
       {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian}) {
    TypeParam algorithm;
    test::set(algorithm, {{"fallback", "false"}});
    const PrivacyBudget budget{4, budget_delta};
    const Scheduled s = algorithm.schedule(Schedule::practical, p.facts, budget, calibrator);
    algorithm.check(p.facts);
    const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    EXPECT_LE(ran.ledger.spent(budget_delta).epsilon, 4 * (1 + 1e-9));
    double first = 0, second = 0;
    for (const LedgerEntry& e : ran.ledger.entries()) {
      const double cost = static_cast<double>(e.count) * s.rule.charge(*e.event);
      (e.scope == "/first/" ? first : second) += cost;
    }
    second += still_increments(algorithm, ran);
    const double first_slice = field_of(algorithm, "first_slice");
    EXPECT_NEAR(second / s.rule.capacity, field_of(algorithm, "second_slice"), 1e-9);
    EXPECT_LE(first / s.rule.capacity, first_slice);
    // KL-SPIDER spends less where a stage ends early
    EXPECT_GE(first / s.rule.capacity,
              first_slice * (std::is_same_v<TypeParam, WarmQuasar> ? 1 - 1e-9 : 0.01));
  }
}

TYPED_TEST(EveryWarmStart, RunsSecondStageAfterFirst) {
  const Problem p = ripple(500);
  TypeParam algorithm;
  test::set(algorithm, {{"fallback", "false"}});
  algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  test::set(algorithm, {{"first.steps", "30"}, {"second.steps", "40"}, {"second.period", "10"}});
  const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, {});
  // the first stage's iterates are not shown: the output is one of the second's
  EXPECT_GE(std::ssize(ran.iterates), 40);
  EXPECT_LE(std::ssize(ran.iterates), 41);
  bool second = false;
  for (const LedgerEntry& e : ran.ledger.entries()) {
    EXPECT_TRUE(e.scope == "/first/" || e.scope == "/second/");
    EXPECT_FALSE(second && e.scope == "/first/");
    second |= e.scope == "/second/";
  }
  EXPECT_TRUE(second);
  EXPECT_NE(std::ranges::find(ran.iterates, ran.outcome.point), ran.iterates.end());
}

// Δ of a start next to the minimum does not bound the gap at the first stage's output; ψ does
// (lowy-2024, Theorem 3.2).
TYPED_TEST(EveryWarmStart, PassesItsExcessToSecondStage) {
  TypeParam algorithm;
  test::set(algorithm, {{"fallback", "false"}});
  PublicFacts facts = ripple(200).facts;
  const Scheduled far =
      algorithm.schedule(Schedule::practical, facts, {1, budget_delta}, Calibrator::cks);
  const double psi = field_of(algorithm, "warm_excess");
  facts.constants.set(constant::suboptimality, {1e-9 * psi});
  const Scheduled near =
      algorithm.schedule(Schedule::practical, facts, {1, budget_delta}, Calibrator::cks);
  if (std::is_same_v<TypeParam, WarmQuasar>) {  // KL-SPIDER's ψ depends on Δ through F₀
    EXPECT_EQ(field_of(algorithm, "warm_excess"), psi);
    EXPECT_EQ(near.alpha, far.alpha);
  } else {
    EXPECT_GE(field_of(algorithm, "warm_excess"), 1e-9 * psi);
  }
}

// ψ, the choice between the stages, and every parameter are functions of public facts.
TYPED_TEST(EveryWarmStart, PromisesAtLeastColdStartAccuracy) {
  for (const Index n : {100, 100000}) {
    TypeParam algorithm;
    const Problem p = ripple(200);
    PublicFacts facts = p.facts;
    facts.records = n;
    const Scheduled s =
        algorithm.schedule(Schedule::practical, facts, {1, budget_delta}, Calibrator::cks);
    EXPECT_GT(s.alpha, 0);
    DpSpider cold;
    EXPECT_LE(s.alpha,
              cold.schedule(Schedule::practical, facts, {1, budget_delta}, Calibrator::cks).alpha *
                  (1 + 1e-12))
        << "the fallback never promises less than the second stage alone";
  }
}

TEST(WarmStart, FallsBackWhenWarmStartPromisesLess) {
  WarmQuasar algorithm;
  PublicFacts facts = ripple(200).facts;
  facts.records = 100;
  Scheduled s =
      algorithm.schedule(Schedule::practical, facts, {0.1, budget_delta}, Calibrator::cks);
  EXPECT_EQ(values_of(algorithm.fields()).at("warm"), "false");
  EXPECT_NE(s.note.find("no warm start"), std::string::npos);
  facts.records = 10000000;
  s = algorithm.schedule(Schedule::practical, facts, {4, budget_delta}, Calibrator::cks);
  EXPECT_EQ(values_of(algorithm.fields()).at("warm"), "true");

  // without the first stage the run is the second stage's, on the whole budget
  const Problem p = ripple(300);
  const Scheduled cold =
      algorithm.schedule(Schedule::practical, p.facts, {0.1, budget_delta}, Calibrator::cks);
  ASSERT_EQ(values_of(algorithm.fields()).at("warm"), "false");
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, cold.rule);
  for (const LedgerEntry& e : ran.ledger.entries()) EXPECT_EQ(e.scope, "/");
  EXPECT_NEAR(spent(ran.ledger, cold.rule) / cold.rule.capacity, 1, 0.1);
}

// ε/2 and δ/2 to each stage, the paper's basic composition; together they fit the whole budget.
TEST(WarmStart, PaperScheduleHalvesBudget) {
  WarmQuasar algorithm;
  const Problem p = ripple(2000);
  test::set(algorithm, {{"fallback", "false"}});
  const Scheduled s =
      algorithm.schedule(Schedule::paper, p.facts, {1, budget_delta}, Calibrator::bun_steinke);
  test::expect_digits(s.rule.capacity, 0.0174689048, 1e-8);
  test::expect_digits(field_of(algorithm, "second_slice") * s.rule.capacity, 0.0042351063, 1e-7);
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_LT(spent(ran.ledger, s.rule), s.rule.capacity);
}

// x^{−k/6} (1 − x)^{−1/3} is least at k/(k + 2); k = 1 for DP-SGD (lowy-2024 notes, 2.2).
TEST(WarmStart, DividesBudgetToMinimiseBound) {
  for (const double k : {1.0, 4.0 / 3, 2.0}) {
    double best = 1e9, at = 0;
    for (double x = 0.001; x < 1; x += 0.001) {
      const double value = std::pow(x, -k / 6) * std::pow(1 - x, -1.0 / 3);
      if (value < best) best = value, at = x;
    }
    EXPECT_NEAR(at, k / (k + 2), 1e-3);
  }
  WarmKl kl;
  const Problem p = ripple(1000);
  test::set(kl, {{"fallback", "false"}});
  kl.schedule(Schedule::practical, p.facts, {1, budget_delta}, Calibrator::cks);
  EXPECT_DOUBLE_EQ(field_of(kl, "first_slice"), 0.5);  // k = 2
  WarmQuasar quasar;
  test::set(quasar, {{"fallback", "false"}});
  quasar.schedule(Schedule::practical, p.facts, {1, budget_delta}, Calibrator::cks);
  EXPECT_DOUBLE_EQ(field_of(quasar, "first_slice"), 1.0 / 3);
}

TEST(WarmStart, NamesStageFieldInErrors) {
  WarmQuasar algorithm;
  const PublicFacts facts = ripple(100).facts;
  test::set(algorithm, {{"second.period", "0"}});
  try {
    algorithm.check(facts);
    FAIL();
  } catch (const InputError& refusal) {
    EXPECT_STREQ(refusal.what(), "lowy-2024/warm-quasar: second.period = 0, expected > 0");
  }
}

TEST(WarmStart, RunsStochasticSpiderAsSecondOrderFinder) {
  WarmQuasar algorithm;
  Problem p = test::small_problem("double-well", 200);
  p.facts.constants.set(constant::quasar_convexity, {0.5, Origin::estimated});
  p.facts.domain = Domain::ball(3);
  test::set(algorithm, {{"finder", "stochastic_spider"}, {"fallback", "false"}});
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {4, budget_delta}, Calibrator::cks);
  test::set(algorithm, {{"first.steps", "20"}, {"sosp.steps", "30"}});
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_TRUE(ran.outcome.counts.contains("second.refreshes"));
  EXPECT_EQ(ran.ledger.entries().back().scope, "/second/");
}

// The exponential mechanism has ε_A and no δ, the finder ε_B and all of δ; printed: δ/2 each.
TEST(WarmExponential, LeavesDeltaToSecondStage) {
  const Problem p = find_problem("ripple-location")->make({.records = 3000, .dimension = 3});
  WarmExponential algorithm;
  test::set(algorithm, {{"fallback", "false"}});
  const PrivacyBudget budget{2, budget_delta};
  Scheduled s = algorithm.schedule(Schedule::practical, p.facts, budget, Calibrator::cks);
  EXPECT_DOUBLE_EQ(s.rule.pure_capacity, 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.rule.capacity, zcdp_budget({2 - 2.0 / 3, budget_delta}, Calibrator::cks));
  EXPECT_EQ(field_of(algorithm, "second_slice"), 1);
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_LE(ran.ledger.spent(budget_delta).epsilon, 2 * (1 + 1e-9));
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    if (e.scope == "/second/") rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  rho += still_increments(algorithm, ran);
  EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
  const LedgerEntry& first = ran.ledger.entries().front();
  EXPECT_EQ(first.scope, "/first/");
  EXPECT_TRUE(first.pure);
  EXPECT_NEAR(*pure_epsilon(*first.event), 2.0 / 3, 1e-9);

  // under `paper` the second stage has δ/2, and less capacity
  const double practical = s.rule.capacity;
  s = algorithm.schedule(Schedule::paper, p.facts, {2, budget_delta}, Calibrator::cks);
  EXPECT_NEAR(field_of(algorithm, "second_slice") * s.rule.capacity,
              zcdp_budget({1, 0.5 * budget_delta}, Calibrator::cks), 1e-12);
  EXPECT_LT(field_of(algorithm, "second_slice"), 1);
  EXPECT_GT(practical, s.rule.capacity);
}

TEST(WarmExponential, StartsFinderFromItsChoice) {
  const Problem p = find_problem("ripple-location")->make({.records = 100000, .dimension = 2});
  WarmExponential algorithm;
  test::set(algorithm, {{"fallback", "false"}});
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {1, budget_delta}, Calibrator::cks);
  test::set(algorithm, {{"second.steps", "3"}});
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  ASSERT_GE(ran.iterates.size(), 2U);
  EXPECT_LT(p.empirical->value(ran.iterates.front()),
            p.empirical->value(p.facts.initial_point) - 0.1);
}

PublicFacts facts_of(Index n) {
  PublicFacts f = find_problem("ripple-location")->make({.records = 10, .dimension = 2}).facts;
  f.records = n;
  return f;
}

// The halves are disjoint and each stage has the whole budget: pure ε for the exponential
// mechanism, zCDP for the finder. As printed both stages read all records, with half of ε each.
TEST(WarmPopulation, StagesReadDisjointHalves) {
  const Problem p = find_problem("ripple-location")->make({.records = 20001, .dimension = 2});
  for (const bool reuse : {false, true}) {
    WarmPopulation algorithm;
    algorithm.set_variant(reuse ? Variant::printed : Variant::repaired);
    const Scheduled s =
        algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
    algorithm.check(p.facts);
    const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
    EXPECT_NE(ran.outcome.status, Status::budget);
    EXPECT_LE(ran.ledger.spent(budget_delta).epsilon, 2 * (1 + 1e-9));
    bool overlap = false;
    for (const LedgerEntry& e : ran.ledger.entries()) {
      if (e.scope == "/first/") {
        EXPECT_EQ(e.charged, (RecordRange{0, reuse ? 20001 : 10000}));
        EXPECT_NEAR(*pure_epsilon(*e.event), reuse ? 1 : 2, 1e-9);
      } else {
        EXPECT_EQ(e.scope, "/second/");
        overlap |= e.charged.begin < 10000;
      }
    }
    EXPECT_EQ(overlap, reuse);
    EXPECT_TRUE(!reuse || s.utility >= Utility::disputed);
    EXPECT_EQ(s.note.find("same records") != std::string::npos, reuse);
  }
}

/// The mean gradient, or gradient difference, of the records [begin, begin + batch).
Vector mean_gradient(const AnyRecords& records, Index begin, Index batch, const Vector& x) {
  Vector sum = Vector::Zero(x.size());
  records.add_gradients(Point(x), Block::x, BatchView(begin, begin + batch), HUGE_VAL, sum);
  return sum / static_cast<double>(batch);
}

// liu-talwar-2025, Footnote 1, without noise: the best candidate of the first half, and from it the
// steps of Algorithm 3 on fresh batches of the second, written down once more.
TEST(WarmPopulation, AdaptiveFinderDescendsFromChoiceWithoutNoise) {
  const Problem p = find_problem("ripple-location")->make({.records = 40000, .dimension = 1});
  WarmPopulation algorithm;
  test::set(algorithm, {{"finder", "adaptive_spider"}});
  algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  EXPECT_EQ(algorithm.promised(), Metric::sosp_level);
  test::set(algorithm, {{"first.candidates", "net"},
                        {"first.net_radius", "0.013"},
                        {"adaptive.steps", "6"},
                        {"adaptive.step_size", "0.01"},
                        {"adaptive.drift_threshold", "1e9"},
                        {"adaptive.escape_threshold", "1e-9"},
                        {"adaptive.refresh_batch", "500"},
                        {"adaptive.hessian_batch", "300"},
                        {"adaptive.batch_rate", "4000"},
                        {"adaptive.hessian_batch_rate", "1000"},
                        {"adaptive.selection_share", "0"},
                        {"adaptive.selection_epsilon", "0"}});
  algorithm.check(p.facts);
  const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, test::exact);

  const Net net = Net::of(p.facts.domain, 1, 0.013);
  Vector w(1), best(1), x(1), centre = Vector::Zero(1);
  double least = HUGE_VAL;
  for (Index k = 0; k < net.indices(); ++k) {
    net.point(k, w);
    double loss = 0;
    p.records->add_loss_differences(Point(w), Point(centre), BatchView(0, 20000), HUGE_VAL, loss);
    if (loss < least) {
      least = loss;
      best = w;
    }
  }
  Index cursor = 20000;
  x = best;
  Vector x_prev = x, g(1);
  for (int t = 0; t < 6; ++t) {
    if (t == 0) {
      g = mean_gradient(*p.records, cursor, 500, x);
      cursor += 500 + 300;
    } else {
      const double move = (x - x_prev).norm();
      const auto batch = static_cast<Index>(std::ceil(4000 * move));
      g += mean_gradient(*p.records, cursor, batch, x) -
           mean_gradient(*p.records, cursor, batch, x_prev);
      cursor += batch + static_cast<Index>(std::ceil(1000 * move));
    }
    x_prev = x;
    x -= 0.01 * g;
  }
  EXPECT_NEAR(ran.outcome.point[0], x[0], 1e-12);
  EXPECT_GT((x - best).norm(), 1e-4);
}

// A union bound over the N points of the net needs ln N where lowy-2024, Lemma E.3 has d.
TEST(WarmPopulation, ExcessBoundCoversWholeNet) {
  const double log_net = 10 * std::log(1e4), n1 = 5e5, failure = 0.05;
  const double psi = population_excess(log_net, 1e9, 0, 1, 2, n1, failure);
  const double least = 2 * 2 * std::sqrt(2 * log_net / n1);  // 2p without the failure's share
  EXPECT_GT(psi, least);
  const double printed = 2 * 2 * std::sqrt((std::log(8 / failure) + 10) / n1);
  EXPECT_LT(printed, 0.4 * least);
  EXPECT_LT(population_excess(log_net, 1e9, 0, 1, 2, 4 * n1, failure), 0.51 * psi);
  WarmPopulation algorithm;
  algorithm.schedule(Schedule::practical, facts_of(100000000), {2, 1e-6}, Calibrator::cks);
  const double wide = field_of(algorithm, "warm_excess");
  algorithm.schedule(Schedule::practical, facts_of(10000000000), {2, 1e-6}, Calibrator::cks);
  EXPECT_LT(field_of(algorithm, "warm_excess"), wide);
}

Problem glm(Index n, Index d, Index rank = 0) {
  const auto family = find_problem("glm-sigmoid");
  Fields fields = family->fields();
  if (rank > 0) {
    set_field(fields, "glm-sigmoid", "features", "low_rank");
    set_field(fields, "glm-sigmoid", "rank", std::to_string(rank));
  }
  return family->make({.records = n, .dimension = d, .seed = 1, .data_seed = 1});
}

TEST(JlMethod, ProjectsDataBeforeBaseAlgorithm) {
  const Problem p = glm(300, 40);
  JlDpSpider algorithm;
  algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  test::set(algorithm, {{"projected_dimension", "5"}, {"steps", "30"}, {"period", "5"}});
  algorithm.check(p.facts);
  const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, {});
  EXPECT_EQ(ran.iterates.front(), Vector::Zero(40));
  EXPECT_EQ(ran.outcome.point.size(), 40);
  for (const LedgerEntry& e : ran.ledger.entries()) EXPECT_EQ(e.scope, "/projected/");
  // every point shown is Φᵀw̃, so the iterates span at most k dimensions
  Matrix points(40, 30);
  for (Index t = 0; t < 30; ++t) points.col(t) = ran.iterates[static_cast<std::size_t>(t)];
  const Vector sigma = singular_values(points);
  EXPECT_GT(sigma[4], 1e-12 * sigma[0]);
  EXPECT_LE(sigma[5], 1e-12 * sigma[0]);
  // the iterates of M without projection span more than k dimensions
  DpSpider unprojected;
  unprojected.parameters.steps = 30;
  unprojected.parameters.refresh_noise = unprojected.parameters.increment_noise = 1;
  const Ran whole = test::run_unsound(unprojected, p.facts, *p.records, {});
  for (Index t = 0; t < 30; ++t) points.col(t) = whole.iterates[static_cast<std::size_t>(t)];
  EXPECT_GT(singular_values(points)[20], 1e-6);
}

TEST(JlMethod, SpendsWholeBudget) {
  const Problem p = glm(500, 200, 3);
  JlDpSpider algorithm;
  test::set(algorithm, {{"rank", "1"}});
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  EXPECT_EQ(field_of(algorithm, "projected_dimension"), 21);  // max(ln(2n/δ), r ln(2n/δ))
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_NEAR(spent(ran.ledger, s.rule) / s.rule.capacity, 1, 1e-9);
}

TEST(JlMethod, SkipsUselessProjection) {
  const Problem p = glm(500, 6);
  JlDpSpider algorithm;
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  EXPECT_EQ(field_of(algorithm, "projected_dimension"), 0);
  EXPECT_NE(s.note.find("nothing is projected"), std::string::npos);
  DpSpider base;
  base.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  EXPECT_EQ(field_of(algorithm, "steps"), static_cast<double>(base.parameters.steps));
  EXPECT_THROW(algorithm.schedule(Schedule::practical, ripple(100).facts, {2, budget_delta},
                                  Calibrator::cks),
               InputError);
}

TEST(JlMethod, RunsWarmStartInProjectedDimension) {
  const Problem p = glm(400, 300, 3);
  WarmGlm algorithm;
  test::set(algorithm, {{"rank", "3"}, {"fallback", "false"}});
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {4, budget_delta}, Calibrator::cks);
  EXPECT_EQ(field_of(algorithm, "projected_dimension"),
            std::ceil(3 * std::log(800 / budget_delta)));
  test::set(algorithm, {{"first.steps", "20"}, {"second.steps", "20"}, {"second.period", "5"}});
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.ledger.entries().front().scope, "/projected/first/");
  EXPECT_EQ(ran.ledger.entries().back().scope, "/projected/second/");
  EXPECT_TRUE(ran.outcome.point.allFinite());
}

TEST(JlMethod, ProportionalRuleTakesRankWithoutLogarithm) {
  const Problem p = glm(400, 300, 2);
  WarmGlmExponential algorithm;
  test::set(algorithm, {{"rank", "2"}, {"rank_rule", "proportional"}, {"fallback", "false"}});
  const auto schedule = [&] {
    return algorithm.schedule(Schedule::practical, p.facts, {4, budget_delta}, Calibrator::cks);
  };
  schedule();
  EXPECT_EQ(field_of(algorithm, "projected_dimension"), 2);
  test::set(algorithm, {{"rank_factor", "1.5"}});
  const Scheduled s = schedule();
  EXPECT_EQ(field_of(algorithm, "projected_dimension"), 3);
  test::set(algorithm, {{"second.steps", "20"}, {"second.period", "5"}});
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.ledger.entries().front().query, "exponential_net");
  EXPECT_EQ(ran.ledger.entries().front().scope, "/projected/first/");
  EXPECT_EQ(ran.ledger.entries().back().scope, "/projected/second/");
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  test::set(algorithm, {{"rank_rule", "embedding"}, {"rank_factor", "1"}});
  schedule();
  EXPECT_EQ(field_of(algorithm, "projected_dimension"),
            std::ceil(2 * std::log(800 / budget_delta)));
}

}  // namespace
}  // namespace dpsosp::lowy_2024::warm_start_test
