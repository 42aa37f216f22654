// SPDX-License-Identifier: Apache-2.0
// What privacy costs beside the sums themselves: queries, accountants, ledger, filter.
#include <array>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/ledger.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace {

const PrivacyBudget budget{.epsilon = 1.0, .delta = 1e-6};

void bare_sum(benchmark::State& state) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Problem problem = find_problem("matrix-sensing")->make({.records = state.range(0)});
  const Point x(problem.facts.initial_point);
  Vector out = Vector::Zero(problem.facts.dimension);
  for (auto _ : state) {
    problem.records->add_gradients(x, Block::x, BatchView(0, state.range(0)), 1.0, out);
    benchmark::DoNotOptimize(out.data());
  }
}

void curator_query(benchmark::State& state) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Problem problem = find_problem("matrix-sensing")->make({.records = state.range(0)});
  Curator curator(problem.facts, *problem.records, filter_rule(budget, Calibrator::cks),
                  {.seed = 1});
  const Point x(problem.facts.initial_point);
  const GradientQuery query{.limit = 1.0, .noise = Noise::sensitivity_ratio(1e6)};
  Vector out(problem.facts.dimension);
  for (auto _ : state) {
    curator.gradient(x, curator.draw(BatchPolicy::all()), query, out);
    benchmark::DoNotOptimize(out.data());
  }
}

// One record: what a query costs apart from the sum; 3200: a batch of the exhibits.
BENCHMARK(bare_sum)->Arg(1)->Arg(3200);
BENCHMARK(curator_query)->Arg(1)->Arg(3200);

void epsilon_of_1e4_poisson_steps(benchmark::State& state) {
  const std::array events{
      CountedEvent{PoissonGaussianEvent{.rate = 0.01, .noise_multiplier = 1.0}, 10000}};
  for (auto _ : state)
    benchmark::DoNotOptimize(epsilon_of(events, Adjacency::replace_one, 1e-5).epsilon);
}
BENCHMARK(epsilon_of_1e4_poisson_steps)->Unit(benchmark::kMillisecond);

/// One record each, so that no two entries can be merged.
void ledger_spent_of_fresh_entries(benchmark::State& state) {
  Ledger ledger;
  for (Index i = 0; i < state.range(0); ++i)
    ledger.append({.scope = "/",
                   .query = "gradient",
                   .policy = BatchPolicy::fresh(1),
                   .event = GaussianEvent{2.0 + static_cast<double>(i % 7)},
                   .charged = {i, i + 1}});
  for (auto _ : state) benchmark::DoNotOptimize(ledger.spent(budget.delta).epsilon);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ledger_spent_of_fresh_entries)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

/// A single pass: every charge falls on records that have none yet.
void range_filter_single_pass(benchmark::State& state) {
  for (auto _ : state) {
    RangeFilter filter({0, state.range(0)}, 1.0);
    for (Index i = 0; i < state.range(0); ++i)
      benchmark::DoNotOptimize(filter.try_charge({{{i, i + 1}, 0.5}}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(range_filter_single_pass)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);

/// Every record is charged again and again: one segment.
void range_filter_full_batches(benchmark::State& state) {
  RangeFilter filter({0, 100000}, 1e300);
  for (auto _ : state) benchmark::DoNotOptimize(filter.try_charge({{{0, 100000}, 1.0}}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(range_filter_full_batches);

}  // namespace
}  // namespace dpsosp
