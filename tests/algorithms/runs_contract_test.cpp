// SPDX-License-Identifier: Apache-2.0
// What every run of every algorithm owes on every problem that it runs on: a finite output, the
// same bits for the same key, a budget that is kept, a plan that covers the queries made.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <variant>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "runs.hpp"

namespace dpsosp::runs_contract_test {
namespace {

using test::Ran;

struct Case {
  std::string algorithm, problem;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.algorithm << " on " << c.problem; }

/// Every pair of the registries that a practical schedule accepts.
std::vector<Case> cases(bool private_alone) {
  std::vector<Case> all;
  for (const auto& a : algorithm_registry())
    for (const std::string& p : test::problems_of_every_kind) {
      const auto algorithm = a.create();
      if (private_alone && !algorithm->card().is_private()) continue;
      try {
        algorithm->schedule(Schedule::practical, test::small_problem(p).facts, {1, 1e-6},
                            Calibrator::cks);
        all.push_back({a.key, p});
      } catch (const InputError&) {
      }
    }
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& c) {
  std::string name = c.param.algorithm + "_on_" + c.param.problem;
  std::ranges::replace_if(
      name, [](char x) { return std::isalnum(x) == 0; }, '_');
  return name;
}

class EveryRun : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Algorithm> make() const { return find_algorithm(GetParam().algorithm); }
  Problem problem(Index n, std::uint64_t data_seed = 1) const {
    return test::small_problem(GetParam().problem, n, data_seed);
  }
  /// Runs a private algorithm with the sound curator.
  Ran run(const Algorithm& a, const Problem& p, const FilterRule& rule, std::uint64_t seed = 1) {
    return a.card().is_private() ? test::run_enforced(a, p.facts, *p.records, rule, seed)
                                 : test::run_unsound(a, p.facts, *p.records, test::exact, seed);
  }
};

/// The output is an iterate of the second stage; the first one's are not shown.
bool shows_its_second_stage_alone(const std::string& key) {
  static const std::set<std::string> keys{"lowy-2024/warm-exponential", "lowy-2024/warm-quasar",
                                          "lowy-2024/warm-kl", "lowy-2024/warm-glm",
                                          "lowy-2024/warm-glm-exponential"};
  return keys.contains(key);
}

/// No end before the first query, however small the budget.
void ask_anyway(Algorithm& algorithm) {
  if (values_of(algorithm.fields()).contains("hopeless"))
    test::set(algorithm, {{"hopeless", "1e300"}});
}

/// Shortens a run, so that one test stays quick; the horizon is the field `steps` of all, and of
/// every stage of an algorithm that runs others.
/// \return the most steps that are left of runs of `steps` ≥ 1
Index shorten(Algorithm& algorithm, Index steps) {
  ask_anyway(algorithm);
  Index stages = 0;
  for (const Field& f : algorithm.fields()) {
    if (f.name != "steps" && !f.name.ends_with(".steps")) continue;
    if (std::stoll(f.get()) > steps) f.set(std::to_string(steps));
    stages += f.name == "steps" ? 1 : 2;
  }
  return stages > 1 ? 2 * steps : steps;  // two stages, the second one of several
}

TEST_P(EveryRun, EndsWithFinitePointAndValidOutcome) {
  for (const Index n : {1, 2, 60, 500}) {
    const Problem p = problem(n);
    const auto algorithm = make();
    Scheduled s;
    try {
      s = algorithm->schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::cks);
    } catch (const InputError& e) {
      EXPECT_LE(n, 2) << e.what();  // "too few for one pass"
      continue;
    }
    algorithm->check(p.facts);
    shorten(*algorithm, 300);
    const Ran ran = run(*algorithm, p, s.rule);
    EXPECT_NE(ran.outcome.status, Status::not_finite);
    EXPECT_EQ(ran.outcome.point.size(), p.facts.dimension);
    EXPECT_TRUE(ran.outcome.point.allFinite());
    EXPECT_GE(ran.outcome.steps, 1);
    EXPECT_LE(std::ssize(ran.iterates), ran.outcome.steps + 1);
    if (!shows_its_second_stage_alone(GetParam().algorithm)) {
      EXPECT_EQ(ran.iterates.front(), p.facts.initial_point);
      EXPECT_GE(std::ssize(ran.iterates), ran.outcome.steps);
    }
    for (const auto& [name, count] : ran.outcome.counts) EXPECT_GE(count, 0) << name;
  }
}

TEST_P(EveryRun, WorksInOneDimensionAndForOneStep) {
  const std::string& name = GetParam().problem;
  const auto family = find_problem(name);
  Fields fields = family->fields();
  InstanceSpec spec{.records = 20, .dimension = {}, .seed = 3, .data_seed = 1};
  if (name == "matrix-sensing") {
    for (const std::string size : {"rows", "cols", "rank"}) set_field(fields, name, size, "1");
  } else if (name == "cosine-minimax") {
    set_field(fields, name, "coupled", "1");
    set_field(fields, name, "free", "1");
  } else {
    spec.dimension = 1;
  }
  const Problem p = family->make(spec);
  const auto algorithm = make();
  const Scheduled s = algorithm->schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::cks);
  const Index most = shorten(*algorithm, 1);
  const Ran ran = run(*algorithm, p, s.rule);
  EXPECT_GE(ran.outcome.steps, 1);
  EXPECT_LE(ran.outcome.steps, most);
  EXPECT_LE(std::ssize(ran.iterates), ran.outcome.steps);
  if (!shows_its_second_stage_alone(GetParam().algorithm)) {
    EXPECT_EQ(std::ssize(ran.iterates), ran.outcome.steps);
  }
  EXPECT_TRUE(ran.outcome.point.allFinite());
}

TEST_P(EveryRun, IsDeterministicInItsKey) {
  const Problem p = problem(100);
  const auto algorithm = make();
  const Scheduled s = algorithm->schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::cks);
  shorten(*algorithm, 100);
  const Ran a = run(*algorithm, p, s.rule, 7);
  if (a.iterates.size() < 2) GTEST_SKIP() << "one step at this size";
  const Ran b = run(*algorithm, p, s.rule, 7);
  const Ran c = run(*algorithm, p, s.rule, 8);
  EXPECT_EQ(a.iterates, b.iterates);
  EXPECT_EQ(a.outcome.point, b.outcome.point);
  EXPECT_EQ(a.outcome.counts, b.outcome.counts);
  const bool same = a.iterates == c.iterates && a.outcome.point == c.outcome.point;
  // a reference line may draw batches or kicks, and one query may leave the start where it is
  EXPECT_FALSE(same && algorithm->card().is_private() && a.outcome.steps > 1);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryRun, testing::ValuesIn(cases(false)), case_name);

class EveryPrivateRun : public EveryRun {};

/// No limit for an algorithm whose noise only its schedule can set.
std::int64_t planned(const Algorithm& algorithm, const PublicFacts& facts) {
  if (algorithm.plan(facts).empty()) return std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  for (const PlannedQuery& q : algorithm.plan(facts)) total += q.count;
  return total;
}

/// Queries that a plan counts: threshold sessions are none of them.
std::int64_t gaussian_queries(const Ledger& ledger) {
  std::int64_t total = 0;
  for (const LedgerEntry& e : ledger.entries()) {
    const bool gaussian = e.event && (std::holds_alternative<GaussianEvent>(*e.event) ||
                                      std::holds_alternative<PoissonGaussianEvent>(*e.event) ||
                                      std::holds_alternative<FixedSizeGaussianEvent>(*e.event));
    total += gaussian ? e.queries() : 0;
  }
  return total;
}

/// A common noise is planned for Gaussian queries alone; a selection can be asked by those.
void ask_gaussian_queries_alone(Algorithm& algorithm) {
  for (const Field& f : algorithm.fields())
    if (f.name == "selection" && std::ranges::count(f.choices, "noisy") > 0) f.set("noisy");
}

TEST_P(EveryPrivateRun, KeepsScheduledBudgetWithoutRefusal) {
  for (const Index n : {60, 1000})
    for (const double epsilon : {0.1, 8.0})
      for (const double delta : {1e-9, 1e-5})
        for (const Calibrator calibrator :
             {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian}) {
          const Problem p = problem(n);
          const auto algorithm = make();
          Scheduled s;
          try {
            s = algorithm->schedule(Schedule::practical, p.facts, {epsilon, delta}, calibrator);
          } catch (const InputError& e) {
            EXPECT_LT(n, 1000) << e.what();  // "too few for one pass"
            continue;
          }
          shorten(*algorithm, 300);
          const Ran ran = run(*algorithm, p, s.rule);
          EXPECT_NE(ran.outcome.status, Status::budget);
          EXPECT_LE(gaussian_queries(ran.ledger), planned(*algorithm, p.facts));
          EXPECT_LE(ran.ledger.spent(delta).epsilon, epsilon * (1 + 1e-9))
              << "n = " << n << ", " << to_string(calibrator);
        }
}

TEST_P(EveryPrivateRun, CompletesPlannedLengthWithoutRefusal) {
  // The schedule's own horizon, with every switch that a schedule plans for.
  using Settings = std::vector<std::pair<std::string, std::string>>;
  const std::vector<Settings> switches =
      GetParam().algorithm == "xu-2026/dp-rgda"
          ? std::vector<
                std::vector<std::pair<std::string, std::string>>>{{},
                                                                  {{"selection",
                                                                    "argmin_from_start"},
                                                                   {"dual_release", "released"}},
                                                                  {{"selection",
                                                                    "argmin_after_start"},
                                                                   {"dual_release", "released"}},
                                                                  {{"selection", "argmin_of_proof"},
                                                                   {"dual_release", "released"}},
                                                                  {{"selection", "last"},
                                                                   {"dual_release", "released"},
                                                                   {"streams", "separate"}},
                                                                  {{"refresh_rule", "printed"},
                                                                   {"dual_release", "released"}},
                                                                  {{"refresh_rule", "printed"},
                                                                   {"streams", "separate"}}}
      : GetParam().algorithm == "zhang-2025/private-diff"
          ? std::vector<Settings>{{}, {{"ascent", "queried"}}}
      : GetParam().algorithm == "wang-chen-xu-2019/dp-gd"
          ? std::vector<Settings>{{}, {{"selection", "noisy"}}}
      : GetParam().algorithm == "gao-wright-2023/short-steps"
          ? std::vector<Settings>{{},
                                  {{"two_phase", "true"}},
                                  {{"step_rule", "line_search"}},
                                  {{"curvature", "products"}},
                                  {{"step_rule", "line_search"},
                                   {"curvature", "products"},
                                   {"two_phase", "true"}}}
          : std::vector<Settings>{{}};
  for (const auto& settings : switches)
    for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
      const Problem p = problem(100);
      const auto algorithm = make();
      test::set(*algorithm, settings);
      Scheduled s;
      try {
        s = algorithm->schedule(kind, p.facts, {2, 1e-6}, Calibrator::bun_steinke);
      } catch (const InputError&) {
        continue;  // over 1e15 steps
      }
      const auto names = values_of(algorithm->fields());
      if (names.contains("steps") && std::stoll(names.at("steps")) > 20000) continue;
      // No end but the horizon, so that the plan is used up.
      ask_anyway(*algorithm);
      if (names.contains("alpha")) test::set(*algorithm, {{"alpha", "1e-300"}});
      const Ran ran = run(*algorithm, p, s.rule);
      EXPECT_NE(ran.outcome.status, Status::budget)
          << testing::PrintToString(settings) << (kind == Schedule::paper ? " paper" : "");
      EXPECT_LE(gaussian_queries(ran.ledger), planned(*algorithm, p.facts));
      EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 2 * (1 + 1e-9));
    }
}

TEST_P(EveryPrivateRun, IsNeverRefusedWhenCalibratedToItsPlan) {
  const Problem p = problem(60);
  if (make()->plan(p.facts).empty()) GTEST_SKIP() << "noise by its schedule alone";
  for (const std::string sampling : {"all", "fresh", "sample", "poisson"})
    for (const Calibrator calibrator :
         {Calibrator::cks, Calibrator::exact_gaussian, Calibrator::rdp}) {
      // One amplified calibration a problem: they are slow, and unsampled ones are the others'.
      const std::string amplified = GetParam().problem == "matrix-sensing" ? "sample" : "poisson";
      if (calibrator == Calibrator::rdp && sampling != amplified) continue;
      const auto algorithm = make();
      algorithm->schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
      ask_gaussian_queries_alone(*algorithm);
      ask_anyway(*algorithm);
      const auto names = values_of(algorithm->fields());
      if (names.contains("selection_form")) test::set(*algorithm, {{"selection_epsilon", "0"}});
      test::set(*algorithm, {{"steps", "25"}});
      if (names.contains("sampling")) test::set(*algorithm, {{"sampling", sampling}});
      if (names.contains("batch")) test::set(*algorithm, {{"batch", "12"}});
      if (names.contains("refresh_batch"))
        test::set(*algorithm, {{"refresh_batch", "30"}, {"increment_batch", "6"}});
      algorithm->check(p.facts);
      const PrivacyBudget budget{2, 1e-6};
      const auto plan = algorithm->plan(p.facts);
      const CalibratedNoise noise =
          calibrate_common_noise(plan, p.facts.records, budget, calibrator);
      algorithm->set_common_noise(noise.sensitivity_ratio);
      const Ran ran = run(*algorithm, p, noise.rule);
      const std::string where = sampling + ", " + std::string(to_string(calibrator));
      EXPECT_NE(ran.outcome.status, Status::budget) << where;
      EXPECT_TRUE(ran.outcome.status != Status::data || sampling == "fresh") << where;
      EXPECT_LE(ran.ledger.spent(budget.delta).epsilon, budget.epsilon * (1 + 1e-9)) << where;
    }
}

TEST_P(EveryPrivateRun, StopsAtBudgetWithFinitePoint) {
  const Problem p = problem(60);
  if (make()->plan(p.facts).empty()) GTEST_SKIP() << "noise by its schedule alone";
  const auto algorithm = make();
  const Scheduled s = algorithm->schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  // No end before the budget's.
  ask_anyway(*algorithm);
  const auto names = values_of(algorithm->fields());
  test::set(*algorithm, {{"steps", "40"}});
  if (names.contains("sampling")) test::set(*algorithm, {{"sampling", "all"}});
  if (names.contains("alpha")) test::set(*algorithm, {{"alpha", "1e-300"}});
  if (names.contains("refresh_cap")) test::set(*algorithm, {{"refresh_cap", "0"}});
  if (names.contains("selection_form")) test::set(*algorithm, {{"selection_epsilon", "0"}});
  algorithm->set_common_noise(3.0);
  const double one = s.rule.charge(GaussianEvent{3.0});
  std::vector<Vector> longer;
  for (const int affordable : {12, 5, 1, 0}) {
    FilterRule rule = s.rule;
    rule.capacity = (affordable + 0.5) * one;
    const Ran ran = run(*algorithm, p, rule);
    EXPECT_EQ(ran.outcome.status, Status::budget);
    EXPECT_EQ(ran.ledger.queries(), affordable);
    EXPECT_TRUE(ran.outcome.point.allFinite());
    if (affordable == 0) {
      EXPECT_EQ(ran.outcome.steps, 0);
      EXPECT_EQ(ran.outcome.point, p.facts.initial_point);
    }
    // What was released before the refusal is the beginning of the longer run, bit for bit.
    if (!longer.empty()) {
      ASSERT_LE(ran.iterates.size(), longer.size());
      EXPECT_TRUE(std::equal(ran.iterates.begin(), ran.iterates.end(), longer.begin()));
    }
    longer = ran.iterates;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPrivateRun, testing::ValuesIn(cases(true)), case_name);

TEST(Curator, LeavesOutputUntouchedOnRefusal) {
  const Problem p = test::small_problem("cosine-minimax");
  const FilterRule rule{Calibrator::cks, {}, 0.25};
  Curator curator(p.facts, *p.records, rule, {.seed = 1});
  Vector out = Vector::Constant(9, 42.0);
  const Point at(p.facts.initial_point, p.facts.initial_dual);
  const GradientQuery query{1.0, Noise::sensitivity_ratio(1.0), Block::joint};
  EXPECT_THROW(curator.gradient(at, curator.draw(BatchPolicy::all()), query, out), BudgetExhausted);
  EXPECT_EQ(out, Vector::Constant(9, 42.0));
}

/// DP-RGDA with any switches: queries made against queries planned, escapes forced or barred.
RC_GTEST_PROP(DpRgdaPlan, BoundsQueriesOfEveryRun, (const std::array<std::uint8_t, 12>& raw)) {
  using namespace xu_2026;
  const auto pick = [&](std::size_t k, int count) { return raw[k] % count; };
  const Problem p = test::small_problem(pick(0, 2) == 0 ? "matrix-sensing" : "cosine-minimax", 12);
  DpRgda algorithm;
  DpRgdaParameters& q = algorithm.parameters;
  q.steps = 1 + pick(1, 20);
  q.period = 1 + pick(2, 7);
  q.inner_steps = 1 + pick(3, 5);
  q.selection = static_cast<Selection>(pick(4, 5));
  if (q.selection == Selection::argmin_after_start) q.inner_steps = 2 + pick(3, 4);
  q.refresh_rule = static_cast<RefreshRule>(pick(5, 2));
  q.streams = static_cast<Streams>(pick(6, 2));
  q.dual_release = pick(0, 2) == 0 ? static_cast<DualRelease>(pick(7, 2)) : DualRelease::released;
  q.alpha = pick(8, 2) == 0 ? 1e-300 : 1e6;
  q.escape_mean_sq_move = pick(9, 2) == 0 ? 1e-12 : 1e12;
  q.escape_steps = 1 + pick(10, 6);
  q.oracle.sampling = static_cast<Sampling>(pick(11, 4));
  q.oracle.refresh_batch = 6;
  q.oracle.increment_batch = 2;
  algorithm.check(p.facts);
  algorithm.set_common_noise(1.0);
  const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, {});
  std::int64_t refreshes = 0, increments = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    (e.query == "gradient" ? refreshes : increments) += e.queries();
  const auto plan = algorithm.plan(p.facts);
  RC_ASSERT(plan.size() == 2U);
  RC_ASSERT(refreshes <= plan[0].count);
  RC_ASSERT(increments <= plan[1].count);
  // and it is no looser than the still first increment of the printed refresh at t = 0
  const bool whole = ran.outcome.status == Status::steps_done;
  const std::int64_t slack =
      q.refresh_rule == RefreshRule::printed ? (q.streams == Streams::separate ? 2 : 1) : 0;
  if (whole) RC_ASSERT(refreshes == plan[0].count);
  if (whole) RC_ASSERT(increments >= plan[1].count - slack);
}

// A plan that may not know which of two batches a query uses charges the larger one.
TEST(SampledQueries, CostMoreForLargerBatchesAtEveryOrder) {
  for (const double ratio : {0.5, 2.0, 10.0})
    for (const double order : {2.0, 5.0, 32.0}) {
      const FilterRule rule{Calibrator::rdp, order, 1.0};
      double previous_fixed = 0, previous_poisson = 0;
      for (const double rate : {0.01, 0.05, 0.125, 0.3, 0.5, 0.9, 1.0}) {
        const double fixed = rule.charge(FixedSizeGaussianEvent{rate, ratio});
        const double poisson = rule.charge(PoissonGaussianEvent{rate, 2 * ratio});
        EXPECT_GE(fixed, previous_fixed * (1 - 1e-9)) << ratio << ' ' << order << ' ' << rate;
        EXPECT_GE(poisson, previous_poisson * (1 - 1e-9)) << ratio << ' ' << order << ' ' << rate;
        previous_fixed = fixed;
        previous_poisson = poisson;
      }
    }
}

}  // namespace
}  // namespace dpsosp::runs_contract_test
