// SPDX-License-Identifier: Apache-2.0
// DP-RGDA's inner updater (xu-2026, Algorithm 3), seen through whole runs.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/altered_records.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "runs.hpp"

namespace dpsosp::xu_2026::dp_rgda_inner_test {
namespace {

using test::Ran;

Vector vector(std::initializer_list<double> entries) {
  Vector v(std::ssize(entries));
  std::ranges::copy(entries, v.begin());
  return v;
}

/// xu-2026 notes, 9: p = q = 2, r = 1, n = 3; matrices are stored by columns.
struct SmallData {
  SmallData() {
    auto data = std::make_shared<MatrixSensingData>();
    data->rows = data->cols = 2;
    data->rank = 1;
    data->features.resize(4, 3);
    data->features << 1, 0, 1, 0, 1, 0, 0, 1, 2, 1, 0, -1;
    data->labels = vector({1, 0.5, -1});
    records = matrix_sensing_records(data);
    facts.name = "small";
    facts.dimension = 4;
    facts.records = facts.dual_dimension = 3;
    facts.dual_kind = DualKind::per_record;
    facts.initial_point = x_before;
    facts.initial_dual = y;
  }

  Vector gradient(const Vector& at, const Vector& dual, Block block) const {
    Vector sum = Vector::Zero(block == Block::x ? 4 : 3);
    records->add_gradients(Point(at, dual), block, BatchView(0, 3),
                           std::numeric_limits<double>::infinity(), sum);
    return sum / 3;
  }

  Vector x = vector({0.5, -0.25, 0.2, 0.4});           // x_t
  Vector x_before = vector({0.45, -0.25, 0.2, 0.35});  // x_{t−1}
  Vector y = vector({0.1, -0.2, 0.3});                 // y_t
  std::unique_ptr<const AnyRecords> records;
  PublicFacts facts;
};

/// Full batches, no escapes: alpha is never reached.
DpRgdaParameters plain_parameters() {
  DpRgdaParameters p;
  p.alpha = 1e-300;
  p.descent_rule = DescentRule::plain;
  p.dual_release = DualRelease::released;
  return p;
}

/// What step t = 1 does from (x_{t−1}, y_t) to x_t, at a refresh.
struct InnerStep {
  Vector x_at;            // where it was made
  std::vector<Vector> y;  // y_0, y_1, … as asked for
  Vector y_next, v;
};

/// The vector of xu-2026 notes, 9. Step t = 0 is scripted: its estimate moves x from x_{t−1} to
/// x_t and leaves y unchanged.
InnerStep step_at_refresh(RefreshRule rule, Selection selection, Index inner_steps) {
  const SmallData data;
  const test::ScriptedRecords records(
      3, [&](std::size_t call, const Point& at, Block block) -> Vector {
        EXPECT_EQ(block, Block::joint);
        Vector answer(7);
        if (call == 0)
          answer << data.x_before - data.x, Vector::Zero(3);
        else
          answer << data.gradient(at.x, at.y, Block::x), data.gradient(at.x, at.y, Block::y);
        return answer;
      });
  // Gradients come from the script, differences from the data.
  const AlteredRecords door(
      *data.records, [&](const AnyRecords& of, const Summand& s, const BatchView& batch,
                         double limit, VectorRef out) {
        return s.previous ? of.add(s, batch, limit, out) : records.add(s, batch, limit, out);
      });
  const test::SpyRecords spy(door);

  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters = plain_parameters();
  p.steps = 3;
  p.period = 1;
  p.inner_steps = inner_steps;
  p.ascent_step = 0.9;
  p.descent_step = 1.0;
  p.refresh_rule = rule;
  p.selection = selection;
  const Ran ran = test::run_unsound(algorithm, data.facts, spy, test::exact);

  InnerStep step{ran.iterates[1], {}, {}, ran.iterates[1] - ran.iterates[2]};
  for (const test::Asked& a : spy.asked) {
    if (a.x == ran.iterates[2]) {
      step.y_next = a.y;  // the refresh of step 2
      break;
    }
    if (a.x == ran.iterates[1] && (step.y.empty() || step.y.back() != a.y)) step.y.push_back(a.y);
  }
  return step;
}

std::vector<double> ascent_norms(const InnerStep& step) {
  std::vector<double> norms;
  for (std::size_t k = 1; k < step.y.size(); ++k)
    norms.push_back((step.y[k] - step.y[k - 1]).norm() / 0.9);
  return norms;
}

void expect_near(const Vector& actual, const Vector& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_LT((actual - expected).lpNorm<Eigen::Infinity>(), 1e-10) << actual.transpose();
}

TEST(DpRgdaInner, PrintedRefreshCountsMoveTwice) {
  const InnerStep step = step_at_refresh(RefreshRule::printed, Selection::argmin_from_start, 3);
  expect_near(step.x_at, SmallData().x);
  expect_near(step.y_next, vector({-0.462275, -0.254825, 1.017825}));
  expect_near(step.v, vector({0.2811466667, -0.2176683333, 0.12049375, 0.4268125}));
}

TEST(DpRgdaInner, RepairedRefreshIsExactUnlikePrinted) {
  const InnerStep step = step_at_refresh(RefreshRule::repaired, Selection::argmin_from_start, 3);
  expect_near(step.y_next, vector({-0.461, -0.2765, 0.963}));
  expect_near(step.v, vector({0.2534, -0.2083, 0.1067083333, 0.3935833333}));
  const SmallData data;
  expect_near(step.v, data.gradient(data.x, step.y_next, Block::x));
  const InnerStep printed = step_at_refresh(RefreshRule::printed, Selection::argmin_from_start, 3);
  EXPECT_GT((printed.v - data.gradient(data.x, printed.y_next, Block::x)).norm(), 0.01);
}

TEST(DpRgdaInner, MatchesReferenceAscentNorms) {
  // A fourth inner step asks at y_3, which shows u_2 = (y_3 − y_2)/λ.
  const auto printed =
      ascent_norms(step_at_refresh(RefreshRule::printed, Selection::argmin_from_start, 4));
  const auto repaired =
      ascent_norms(step_at_refresh(RefreshRule::repaired, Selection::argmin_from_start, 4));
  ASSERT_EQ(printed.size(), 3);
  ASSERT_EQ(repaired.size(), 3);
  const double expected[2][3] = {{0.5970407347, 0.4179285143, 0.2925499600},
                                 {0.5698440332, 0.3988908233, 0.2792235763}};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(printed[k], expected[0][k], 1e-10);
    EXPECT_NEAR(repaired[k], expected[1][k], 1e-10);
  }
}

TEST(DpRgdaInner, LastSelectionReturnsDualAfterAllAscents) {
  const InnerStep step = step_at_refresh(RefreshRule::repaired, Selection::last, 3);
  expect_near(step.y_next, vector({-0.6227, -0.29855, 1.1541}));
}

TEST(DpRgdaInner, StepBetweenRefreshesEqualsRepairedRefresh) {
  // The step before starts at x_t minus the kick that its escape draws, with the y that two exact
  // ascents (argmin_from_start with K = 3 takes s = 2) turn into y_t.
  SmallData data;
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters = plain_parameters();
  p.steps = 3;
  p.period = 1000;
  p.inner_steps = 3;
  p.ascent_step = 0.9;
  p.selection = Selection::argmin_from_start;
  p.refresh_rule = RefreshRule::printed;  // the same at t = 0, where nothing has moved yet
  p.alpha = 1e6;                          // escape at once
  p.perturb_radius = 0.1;
  p.escape_step = 1.0;
  p.escape_mean_sq_move = 1e6;
  constexpr std::uint64_t seed = 5;
  Vector kick(4);
  Stream({.seed = seed, .purpose = Purpose::algorithm}).fill_ball(p.perturb_radius, kick);
  data.facts.initial_point = data.x - kick;
  // ∇_y f = (res − y)/3, so an exact ascent maps y to res + (1 − 0.3)(y − res).
  const Vector residual = data.y + 3 * data.gradient(data.facts.initial_point, data.y, Block::y);
  data.facts.initial_dual = residual + (data.y - residual) / 0.49;
  const test::SpyRecords spy(*data.records);
  const Ran ran = test::run_unsound(algorithm, data.facts, spy, test::exact, seed);
  expect_near(ran.iterates[1], data.x);
  expect_near(ran.iterates[1] - ran.iterates[2],
              vector({0.2534, -0.2083, 0.1067083333, 0.3935833333}));
  for (const test::Asked& a : spy.asked) {
    if (a.x != ran.iterates[2]) continue;
    expect_near(a.y, vector({-0.461, -0.2765, 0.963}));
    break;
  }
}

/// xu-2026, Algorithm 3 with exact gradients for the estimates. A run without noise, clipping and
/// sampling has to equal it, wherever its refreshes are.
struct ExactRun {
  std::vector<Vector> x;
  std::vector<Vector> y;
};

ExactRun exact_run(const SmallData& data, const DpRgdaParameters& p) {
  ExactRun r{{data.x_before}, {data.y}};
  for (Index t = 0; t < p.steps; ++t) {
    const Vector& x = r.x.back();
    std::vector<Vector> y{r.y.back()};
    std::vector<double> norm;
    for (Index k = 0; k <= p.inner_steps; ++k) {
      const Vector u = data.gradient(x, y.back(), Block::y);
      norm.push_back(u.norm());
      y.push_back(y.back() + p.ascent_step * u);
    }
    const auto K = static_cast<std::ptrdiff_t>(p.inner_steps);
    const auto least = [&](std::ptrdiff_t first, std::ptrdiff_t end) {
      return std::min_element(norm.begin() + first, norm.begin() + end) - norm.begin();
    };
    std::ptrdiff_t at = K;  // the estimates are those at y_at
    if (p.selection == Selection::argmin_from_start) at = least(0, K);
    if (p.selection == Selection::argmin_after_start) at = least(1, K);
    if (p.selection == Selection::argmin_of_proof) at = least(1, K + 1);
    if (p.selection == Selection::ascended) at = K - 1;
    const auto next = static_cast<std::size_t>(p.selection == Selection::ascended ? K : at);
    const Vector v = data.gradient(x, y[static_cast<std::size_t>(at)], Block::x);
    r.x.push_back(x - p.descent_step * v);
    r.y.push_back(y[next]);
  }
  return r;
}

/// Largest distance between the run's iterates and those of exact gradients, over the size of the
/// duals.
double deviation(const DpRgda& algorithm, const SmallData& data) {
  const ExactRun expected = exact_run(data, algorithm.parameters);
  const Ran ran = test::run_unsound(algorithm, data.facts, *data.records, test::exact);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  double scale = 1, largest = 0;
  for (const Vector& y : expected.y) scale = std::max(scale, y.norm());
  for (std::size_t t = 0; t < ran.iterates.size(); ++t)
    largest = std::max(largest, (ran.iterates[t] - expected.x[t]).norm());
  EXPECT_LT(scale, 10) << "a diverging run compares nothing";
  return largest / scale;
}

class EverySelection : public testing::TestWithParam<Selection> {};

TEST_P(EverySelection, KeepsEstimatesExactWithRepairedRefresh) {
  const SmallData data;
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters = plain_parameters();
  p.steps = 12;
  p.descent_step = 0.02;
  p.selection = GetParam();
  const Index fewest = p.selection == Selection::argmin_after_start ? 2 : 1;
  for (Index inner_steps = fewest; inner_steps <= 5; ++inner_steps)
    for (const Index period : {1, 3, 100})
      for (const Streams streams : {Streams::joint, Streams::separate})
        // 0.9 contracts towards y*; 6.03 overshoots: ‖u_k‖ grows and the argmin is the first k
        for (const double ascent_step : {0.9, 6.03}) {
          p.inner_steps = inner_steps;
          p.period = period;
          p.streams = streams;
          p.ascent_step = ascent_step;
          SCOPED_TRACE(testing::Message() << "K = " << inner_steps << ", q = " << period
                                          << ", lambda = " << ascent_step);
          p.refresh_rule = RefreshRule::repaired;
          EXPECT_LT(deviation(algorithm, data), 1e-11);
          // The printed rule is wrong from the first refresh after a move on.
          p.refresh_rule = RefreshRule::printed;
          if (period < p.steps)
            EXPECT_GT(deviation(algorithm, data), 1e-6);
          else
            EXPECT_LT(deviation(algorithm, data), 1e-11);
        }
}

INSTANTIATE_TEST_SUITE_P(DpRgdaInner, EverySelection,
                         testing::Values(Selection::argmin_from_start,
                                         Selection::argmin_after_start, Selection::argmin_of_proof,
                                         Selection::last, Selection::ascended));

TEST(DpRgdaInner, SelectionFromStartFreezesDualOfOneStep) {
  for (const double noise : {0.0, 1e-3, 1.0, 100.0}) {
    for (const Selection selection : {Selection::argmin_from_start, Selection::argmin_of_proof,
                                      Selection::last, Selection::ascended}) {
      const SmallData data;
      const test::SpyRecords spy(*data.records);
      DpRgda algorithm;
      DpRgdaParameters& p = algorithm.parameters = plain_parameters();
      p.steps = 20;
      p.inner_steps = 1;
      p.descent_step = 0.01;
      p.selection = selection;
      algorithm.set_common_noise(noise);
      UnsoundCurator::Departures departures;
      departures.no_noise = noise == 0;
      test::run_unsound(algorithm, data.facts, spy, departures);
      bool moved = false;
      for (const test::Asked& a : spy.asked) moved = moved || a.y != data.y;
      EXPECT_EQ(moved, selection != Selection::argmin_from_start) << "noise " << noise;
    }
  }
}

// The range k = 1..K−1 of Algorithm 3, line 18, has no candidate at K = 1 and never keeps y_t.
TEST(DpRgdaInner, SelectionAfterStartMovesDual) {
  const SmallData data;
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters = plain_parameters();
  p.steps = 20;
  p.inner_steps = 5;
  p.descent_step = 0.01;
  algorithm.set_common_noise(100.0);  // every increment makes the estimate longer
  const auto kept = [&](Selection selection) {
    p.selection = selection;
    return test::run_unsound(algorithm, data.facts, *data.records, {})
        .outcome.counts.at("dual_kept");
  };
  EXPECT_GE(kept(Selection::argmin_from_start), 5);
  EXPECT_EQ(kept(Selection::argmin_after_start), 0);
  p.inner_steps = 1;
  EXPECT_THROW(algorithm.check(data.facts), InputError);
}

TEST(DpRgdaInner, CountsStepsThatKeepDual) {
  const SmallData data;
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters = plain_parameters();
  p.steps = 7;
  p.inner_steps = 1;
  p.descent_step = 0.01;
  const auto kept = [&](Selection selection) {
    p.selection = selection;
    return test::run_unsound(algorithm, data.facts, *data.records, test::exact)
        .outcome.counts.at("dual_kept");
  };
  EXPECT_EQ(kept(Selection::argmin_from_start), 7);
  EXPECT_EQ(kept(Selection::argmin_of_proof), 0);
  EXPECT_EQ(kept(Selection::last), 0);
  EXPECT_EQ(kept(Selection::ascended), 0);
}

// A proportional clip is L times the move of (x, y) jointly; L is the Lipschitz constant in (x, y).
TEST(DpRgdaInner, ClipsNothingWithLimitProportionalToJointSmoothness) {
  const Problem problem = test::small_problem("cosine-minimax");
  DpRgda algorithm;
  algorithm.schedule(Schedule::practical, problem.facts, {1, 1e-6}, Calibrator::cks);
  DpRgdaParameters& p = algorithm.parameters;
  p.steps = 50;
  p.period = 50;
  p.alpha = 1e-300;
  p.descent_rule = DescentRule::plain;
  p.descent_step = 0.05;
  p.oracle.clip_refresh = 100;
  const auto iterates = [&](const UnsoundCurator::Departures& departures) {
    return test::run_unsound(algorithm, problem.facts, *problem.records, departures).iterates;
  };
  EXPECT_EQ(iterates(test::no_noise), iterates(test::exact));
  p.oracle.clip_increment /= 2;  // negative control
  EXPECT_NE(iterates(test::no_noise), iterates(test::exact));
}

TEST(DpRgdaInner, LocalDualFollowsValueFunctionGradient) {
  const SmallData data;
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters = plain_parameters();
  p.steps = 40;
  p.period = 7;
  p.descent_step = 0.1;
  p.dual_release = DualRelease::local;
  const Ran ran = test::run_unsound(algorithm, data.facts, *data.records, test::exact);
  Vector x = data.x_before;
  for (const Vector& iterate : ran.iterates) {
    EXPECT_LT((iterate - x).norm(), 1e-13);
    const Vector residual = data.y + 3 * data.gradient(x, data.y, Block::y);  // y*(x)
    x -= 0.1 * data.gradient(x, residual, Block::x);
  }
}

}  // namespace
}  // namespace dpsosp::xu_2026::dp_rgda_inner_test
