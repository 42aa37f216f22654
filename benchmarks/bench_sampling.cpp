// SPDX-License-Identifier: Apache-2.0
// Simulated records beside records in memory (one thread, d as the families set it), per-record
// clipped sums beside reading the same records once, and binomial counts beside the standard
// library's. Items are records; for simulated ones queries; for binomials counts.
#include <memory>
#include <random>
#include <string>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace {

Problem make(const std::string& name, const std::string& sampling, Index n) {
  const auto family = find_problem(name);
  Fields fields = family->fields();
  set_field(fields, name, "sampling", sampling);
  return family->make({.records = n, .dimension = 16});
}

void query(benchmark::State& state, const std::string& name, const std::string& sampling) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Index n = state.range(0);
  const Problem p = make(name, sampling, n);
  const double limit = p.facts.constants[constant::lipschitz] * (1 + 1e-9);
  Vector sum = Vector::Zero(p.facts.dimension);
  for (auto _ : state) {
    p.sums().add_gradients(Point(p.facts.initial_point), Block::x, BatchView(0, n), limit, sum);
    benchmark::DoNotOptimize(sum.data());
  }
  state.SetItemsProcessed(state.iterations() * (p.simulated ? 1 : n));
}

// A tenth of the Lipschitz constant clips every record.
void clipped_query(benchmark::State& state, const std::string& name) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Index n = state.range(0);
  const Problem p = make(name, "independent", n);
  const double limit = 0.1 * p.facts.constants[constant::lipschitz];
  Vector sum = Vector::Zero(p.facts.dimension);
  for (auto _ : state) {
    p.records->add_gradients(Point(p.facts.initial_point), Block::x, BatchView(0, n), limit, sum);
    benchmark::DoNotOptimize(sum.data());
  }
  state.SetItemsProcessed(state.iterations() * n);
}

void read_once(benchmark::State& state) {
  const Matrix tilts = Matrix::Constant(16, state.range(0), 0.5);
  Vector sum(16);
  for (auto _ : state) {
    sum.noalias() = tilts.rowwise().sum();
    benchmark::DoNotOptimize(sum.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(query, double_well_in_memory, "double-well", "independent")->Arg(100000);
BENCHMARK_CAPTURE(query, double_well_simulated, "double-well", "whole")->Arg(100000);
BENCHMARK_CAPTURE(query, double_well_simulated, "double-well", "whole")
    ->Arg(10'000'000'000'000'000);
BENCHMARK_CAPTURE(query, ripple_location_in_memory, "ripple-location", "independent")->Arg(100000);
BENCHMARK_CAPTURE(query, ripple_location_simulated, "ripple-location", "whole")->Arg(100000);
BENCHMARK_CAPTURE(query, ripple_location_simulated, "ripple-location", "whole")
    ->Arg(10'000'000'000'000'000);
BENCHMARK_CAPTURE(clipped_query, double_well, "double-well")->Arg(256)->Arg(100000);
BENCHMARK_CAPTURE(clipped_query, ripple_location, "ripple-location")->Arg(256)->Arg(100000);
BENCHMARK(read_once)->Arg(256)->Arg(100000);

void binomial_stream(benchmark::State& state, double p) {
  Stream stream({.seed = 1});
  for (auto _ : state) benchmark::DoNotOptimize(stream.binomial(state.range(0), p));
  state.SetItemsProcessed(state.iterations());
}

// Its distribution object is set up once, which favours it: a stream takes any n at any call.
void binomial_std(benchmark::State& state, double p) {
  std::mt19937_64 generator(1);
  std::binomial_distribution<Index> binomial(state.range(0), p);
  for (auto _ : state) benchmark::DoNotOptimize(binomial(generator));
  state.SetItemsProcessed(state.iterations());
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const Index n : {1'000, 1'000'000, 1'000'000'000}) b->Arg(n);
  b->Arg(1'000'000'000'000)->Arg(1'000'000'000'000'000);
}
BENCHMARK_CAPTURE(binomial_stream, half, 0.5)->Apply(sizes);
BENCHMARK_CAPTURE(binomial_std, half, 0.5)->Apply(sizes);
BENCHMARK_CAPTURE(binomial_stream, third, 1.0 / 3)->Apply(sizes);
BENCHMARK_CAPTURE(binomial_stream, few, 0.005)->Arg(1000);  // by gaps
BENCHMARK_CAPTURE(binomial_std, few, 0.005)->Arg(1000);

}  // namespace
}  // namespace dpsosp
