// SPDX-License-Identifier: Apache-2.0
// Per-record sums of matrix sensing (p = q = 20, r = 3) on one thread, beside one dense
// matrix-vector product with the same records and beside reading them once from memory.
// Items are records; bytes are those of the measurements, 8 p q a record.
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {
namespace {

constexpr Index entries = 400;  // p q
constexpr double limit = 0.5;   // clips some records and not others

/// n records in memory, and two points near each other.
struct Instance {
  explicit Instance(Index n) : data(std::make_shared<MatrixSensingData>()) {
    const MatrixSensing family;
    data->rows = family.rows;
    data->cols = family.cols;
    data->rank = family.rank;
    data->features.resize(entries, n);
    data->labels.resize(n);
    Stream stream({.seed = 1});
    stream.fill_normal(0.05, data->features.reshaped());
    stream.fill_normal(1.0, data->labels);
    x.resize((family.rows + family.cols) * family.rank);
    stream.fill_normal(0.5, x);
    previous = x;
    stream.add_normal(0.01, previous);
    records = matrix_sensing_records(data);
  }

  std::shared_ptr<MatrixSensingData> data;
  std::unique_ptr<const AnyRecords> records;
  Vector x, previous;
};

/// A fourth of the records, as a Poisson batch holds them.
std::vector<Index> poisson_members(Index n) {
  Stream stream({.seed = 2});
  std::vector<Index> members;
  for (Index i = 0; i < n; ++i)
    if (stream.bernoulli(0.25)) members.push_back(i);
  return members;
}

void count(benchmark::State& state, Index records) {
  state.SetItemsProcessed(state.iterations() * records);
  state.SetBytesProcessed(state.iterations() * records * entries * 8);
}

void sum(benchmark::State& state, bool difference, bool listed) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Instance instance(state.range(0));
  const std::vector<Index> members = poisson_members(state.range(0));
  const BatchView batch = listed ? BatchView(members) : BatchView(0, state.range(0));
  const Point to(instance.x), from(instance.previous);
  Vector out = Vector::Zero(instance.x.size());
  for (auto _ : state) {
    if (difference)
      instance.records->add_gradient_differences(to, from, Block::x, batch, limit, out);
    else
      instance.records->add_gradients(to, Block::x, batch, limit, out);
    benchmark::DoNotOptimize(out.data());
  }
  count(state, batch.size());
}

void gradient(benchmark::State& state) { sum(state, false, false); }
void gradient_poisson(benchmark::State& state) { sum(state, false, true); }
void difference(benchmark::State& state) { sum(state, true, false); }
void difference_poisson(benchmark::State& state) { sum(state, true, true); }

void dense_matrix_vector(benchmark::State& state) {
  const Instance instance(state.range(0));
  const Vector m = Vector::Ones(entries);
  Vector out(state.range(0));
  for (auto _ : state) {
    out.noalias() = instance.data->features.transpose() * m;
    benchmark::DoNotOptimize(out.data());
  }
  count(state, state.range(0));
}

void read_once(benchmark::State& state) {
  const Instance instance(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(instance.data->features.sum());
  count(state, state.range(0));
}

// 256 records stay in the second-level cache; 25600 (82 MB) come from memory.
BENCHMARK(gradient)->Arg(256)->Arg(25600);
BENCHMARK(gradient_poisson)->Arg(25600);
BENCHMARK(difference)->Arg(256)->Arg(25600);
BENCHMARK(difference_poisson)->Arg(25600);
BENCHMARK(dense_matrix_vector)->Arg(256)->Arg(25600);
BENCHMARK(read_once)->Arg(256)->Arg(25600);

void hessian_product(benchmark::State& state) {
  const Instance instance(1000);
  const auto value = matrix_sensing_value(instance.data);
  Vector out(instance.x.size());
  for (auto _ : state) {
    value->hessian_product(instance.x, instance.previous, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(hessian_product);

void hessian(benchmark::State& state) {
  const Instance instance(1000);
  const auto value = matrix_sensing_value(instance.data);
  Matrix out(instance.x.size(), instance.x.size());
  for (auto _ : state) {
    value->hessian(instance.x, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(hessian);

/// The two 400 x 400 matrix-vector products that a Hessian product needs at least.
void two_dense_products(benchmark::State& state) {
  const Matrix S = Matrix::Constant(entries, entries, 0.5);
  Vector a = Vector::Ones(entries), b(entries);
  for (auto _ : state) {
    b.noalias() = S * a;
    benchmark::DoNotOptimize(b.data());
    a.noalias() = S * b;
    a /= a.norm();
    benchmark::DoNotOptimize(a.data());
  }
}
BENCHMARK(two_dense_products);

}  // namespace
}  // namespace dpsosp
