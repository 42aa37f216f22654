// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/trace.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"
#include "test_objectives.hpp"

namespace dpsosp::trace_test {
namespace {

using testing::Quadratic;
using testing::Wells;

Vector at(Index t) { return Vector::Constant(1, static_cast<double>(t)); }

std::vector<Index> times(const TraceRecorder& recorder) {
  std::vector<Index> result;
  for (const auto* p : recorder.stored()) result.push_back(p->t);
  return result;
}

TEST(ThinnedPoints, KeepMultiplesOfPowerOfTwoWithinCapacity) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_length, std::uint8_t raw_capacity) {
    const Index length = 1 + raw_length % 5000;
    const Index capacity = 2 + raw_capacity;
    ThinnedPoints points(capacity, 1);
    for (Index t = 0; t < length; ++t) points.see(t, at(t));
    const auto size = static_cast<Index>(points.points().size());
    RC_ASSERT(size <= capacity);
    RC_ASSERT(size == (length - 1) / points.stride() + 1);
    RC_ASSERT(2 * size >= std::min(length, capacity));
    RC_ASSERT((points.stride() & (points.stride() - 1)) == 0);
    for (Index k = 0; k < size; ++k) {
      const auto& p = points.points()[static_cast<std::size_t>(k)];
      RC_ASSERT(p.t == k * points.stride());
      RC_ASSERT(p.x[0] == static_cast<double>(p.t));  // copied and moved, never mixed up
    }
  }));
}

TEST(TraceRecorder, KeepsFirstLastAndLogarithmicTimes) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_length, std::uint8_t raw_capacity) {
    const Index length = 1 + raw_length % 20000;
    const Index capacity = 2 + raw_capacity;
    TraceRecorder recorder({.uniform = capacity, .per_decade = 4});
    for (Index t = 0; t < length; ++t) recorder.see(t, at(t));
    const std::vector<Index> seen = times(recorder);
    RC_ASSERT(seen.front() == 0);
    RC_ASSERT(seen.back() == length - 1);
    RC_ASSERT(std::ranges::adjacent_find(seen, std::greater_equal<>{}) == seen.end());
    for (const Index t : {1, 2, 3, 6, 10, 18, 32, 56, 100, 178, 316, 562, 1000, 10000}) {
      const bool kept = t >= length ? true : std::ranges::binary_search(seen, t);
      RC_ASSERT(kept);
    }
    RC_ASSERT(static_cast<Index>(seen.size()) <= capacity + 20);
  }));
}

TEST(TraceRecorder, FixesStrideForKnownLength) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_steps, std::uint8_t raw_capacity) {
    const Index steps = raw_steps % 5000;
    const Index capacity = 2 + raw_capacity;
    TraceRecorder recorder({.uniform = capacity, .per_decade = 0, .steps = steps});
    for (Index t = 0; t <= steps; ++t) recorder.see(t, at(t));
    const Index stride = steps / capacity + 1;
    std::set<Index> expected{steps};
    for (Index t = 0; t <= steps; t += stride) expected.insert(t);
    const std::vector<Index> seen = times(recorder);
    RC_ASSERT(std::ranges::equal(seen, expected));
    RC_ASSERT(static_cast<Index>(seen.size()) <= capacity + 1);
  }));
}

TEST(TraceRecorder, ReturnsEmptyTraceIfNothingWasSeen) {
  const TraceRecorder recorder(ObservationPlan{});
  EXPECT_TRUE(recorder.evaluate(Quadratic(Vector::Ones(1)), 1.0).empty());
  EXPECT_FALSE(best({}));
}

/// Gradient descent on the wells from near the saddle at 0.
TraceRecorder descent(const Objective& f, Index steps) {
  TraceRecorder recorder({.uniform = 20, .steps = steps});
  Vector x = 1e-3 * testing::random_vector(f.dimension(), 12), g(f.dimension());
  for (Index t = 0; t <= steps; ++t) {
    recorder.see(t, x);
    f.gradient(x, g);
    x -= 0.1 * g;
  }
  return recorder;
}

TEST(Trace, MatchesDenseCertificateAtEveryPoint) {
  const Index d = 80;
  const Wells f(Vector::LinSpaced(d, 0.5, 1.5), 0.5);
  const TraceRecorder recorder = descent(f, 300);
  const std::vector<TracePoint> trace = recorder.evaluate(f, 9.0);
  const auto stored = recorder.stored();
  ASSERT_EQ(trace.size(), stored.size());
  for (std::size_t k = 0; k < trace.size(); ++k) {
    const Certificate c = certify(f, stored[k]->x, {.hessian_lipschitz = 9.0});
    EXPECT_EQ(trace[k].t, stored[k]->t);
    EXPECT_TRUE(trace[k].converged);
    EXPECT_EQ(trace[k].value, c.value);
    EXPECT_EQ(trace[k].gradient_norm, c.gradient_norm);
    EXPECT_NEAR(trace[k].lambda_min, c.lambda_min, 1e-8);
    EXPECT_NEAR(*trace[k].sosp_level, *c.sosp_level, 1e-8);
  }
  EXPECT_LT(trace.front().lambda_min, -1.0);
  EXPECT_GT(trace.back().lambda_min, 0.5);
  EXPECT_EQ(*best(trace), trace.size() - 1);
}

TEST(Trace, BestIsEarliestSmallestLevel) {
  std::vector<TracePoint> trace(4);
  EXPECT_FALSE(best(trace));
  trace[0].sosp_level = 3;
  trace[2].sosp_level = 1;
  trace[3].sosp_level = 1;
  EXPECT_EQ(best(trace), 2U);
}

TEST(Trace, SaddleWithZeroGradientIsNotBest) {  // a saddle with zero gradient against a good point
  const Wells f(Vector::Ones(60), 0.0);
  TraceRecorder recorder(ObservationPlan{});
  recorder.see(0, Vector::Zero(60));             // λ_min = −1, gradient 0
  recorder.see(1, Vector::Constant(60, 1.001));  // near a minimum
  const auto trace = recorder.evaluate(f, 6.0);
  EXPECT_EQ(trace[0].gradient_norm, 0.0);
  EXPECT_NEAR(*trace[0].sosp_level, 1.0 / 6.0, 1e-9);
  EXPECT_EQ(best(trace), 1U);
}

TEST(Trace, ReportsNonFinitePointAndContinues) {
  const Wells f(Vector::Ones(60), 0.0);
  TraceRecorder recorder(ObservationPlan{});
  recorder.see(0, Vector::Zero(60));
  recorder.see(1, Vector::Constant(60, NAN));
  recorder.see(2, Vector::Constant(60, 1e200));  // finite, but its value is not
  recorder.see(3, Vector::Ones(60));
  const auto trace = recorder.evaluate(f, std::nullopt);
  ASSERT_EQ(trace.size(), 4U);
  EXPECT_EQ(trace[0].status, EvaluationStatus::ok);
  EXPECT_EQ(trace[1].status, EvaluationStatus::non_finite_point);
  EXPECT_NE(trace[2].status, EvaluationStatus::ok);
  EXPECT_NEAR(trace[3].lambda_min, 2.0, 1e-9);
  EXPECT_FALSE(trace[3].sosp_level);
}

TEST(Trace, RepeatsBitsForSameRun) {
  const Wells f(Vector::LinSpaced(80, 0.5, 1.5), 0.5);
  const auto a = descent(f, 100).evaluate(f, 9.0), b = descent(f, 100).evaluate(f, 9.0);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].lambda_min, b[k].lambda_min);
}

TEST(TraceRecorder, RejectsBadPlans) {
  EXPECT_THROW(TraceRecorder({.uniform = 1}), InputError);
  EXPECT_THROW(TraceRecorder({.per_decade = -1}), InputError);
  EXPECT_THROW(TraceRecorder({.steps = -1}), InputError);
}

}  // namespace
}  // namespace dpsosp::trace_test
