// SPDX-License-Identifier: Apache-2.0
// Random numbers: our streams beside the standard library's generator and normals.
#include <cstdint>
#include <random>

#include <benchmark/benchmark.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

void words_philox(benchmark::State& state) {
  Stream stream({.seed = 1});
  for (auto _ : state) benchmark::DoNotOptimize(stream.bits());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(words_philox);

void words_mt19937_64(benchmark::State& state) {
  std::mt19937_64 generator(1);
  for (auto _ : state) benchmark::DoNotOptimize(generator());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(words_mt19937_64);

constexpr Index normals = 1 << 14;

void normals_stream(benchmark::State& state) {
  Stream stream({.seed = 1});
  Vector out(normals);
  for (auto _ : state) {
    stream.fill_normal(1.0, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * normals);
}
BENCHMARK(normals_stream);

/// A step's noise in few dimensions.
void normals_stream_short(benchmark::State& state) {
  Stream stream({.seed = 1, .purpose = Purpose::noise});
  Vector out(state.range(0));
  for (auto _ : state) {
    stream.fill_normal(1.0, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(normals_stream_short)->Arg(4)->Arg(16)->Arg(64);

void normals_std_mt19937_64(benchmark::State& state) {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  Vector out(normals);
  for (auto _ : state) {
    for (double& x : out) x = normal(generator);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * normals);
}
BENCHMARK(normals_std_mt19937_64);

}  // namespace
}  // namespace dpsosp
