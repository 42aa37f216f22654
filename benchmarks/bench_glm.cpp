// SPDX-License-Identifier: Apache-2.0
// Generalised linear models (sigmoid-square loss) on one thread: clipped per-record gradient sums,
// differences and Hessian products, beside the two dense products with the same features that they
// need at least, and beside reading the features once. The losses of the zoo beside their formulas.
// Items are records; bytes are those of the features, 8 d a record. Arguments: n, d.
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm.hpp"

namespace dpsosp {
namespace {

constexpr double limit = 0.05;  // clips some records and not others

struct Instance {
  Instance(Index n, Index d, const std::string& loss) : data(std::make_shared<GlmData>()) {
    Stream stream({.seed = 1});
    data->features.resize(d, n);
    data->labels.resize(n);
    stream.fill_normal(1.0, data->features.reshaped());
    data->features.colwise().normalize();
    for (double& y : data->labels) y = stream.bernoulli(0.5) ? 1.0 : 0.0;
    w.resize(d);
    stream.fill_normal(1.0, w);
    previous = w;
    stream.add_normal(0.01, previous);
    const GlmModel model{"benchmark", LossOption{.text = loss}.make(10)};
    records = glm_records(model, data);
    objective = glm_objective(model, data);
    out = Vector::Zero(d);
  }

  std::shared_ptr<GlmData> data;
  std::unique_ptr<const AnyRecords> records;
  std::unique_ptr<const Objective> objective;
  Vector w, previous, out;
};

template <class Work>
void measure(benchmark::State& state, const Work& work,
             const std::string& loss = "sigmoid_square") {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  Instance instance(state.range(0), state.range(1), loss);
  for (auto _ : state) {
    work(instance);
    benchmark::DoNotOptimize(instance.out.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1) * 8);
}

void add_gradients(Instance& i) {
  i.records->add_gradients(Point(i.w), Block::x, BatchView(0, i.records->size()), limit, i.out);
}
void clipped_gradient(benchmark::State& state) { measure(state, add_gradients); }
void gradient_of(benchmark::State& state, const std::string& loss) {
  measure(state, add_gradients, loss);
}
void clipped_difference(benchmark::State& state) {
  measure(state, [](Instance& i) {
    i.records->add_gradient_differences(Point(i.w), Point(i.previous), Block::x,
                                        BatchView(0, i.records->size()), limit, i.out);
  });
}
void weighed_product(benchmark::State& state) {
  measure(state, [](Instance& i) {
    i.records->add_hessian_products(Point(i.w), i.previous, BatchView(0, i.records->size()), limit,
                                    i.out);
  });
}
void objective_gradient(benchmark::State& state) {
  measure(state, [](Instance& i) { i.objective->gradient(i.w, i.out); });
}
void objective_product(benchmark::State& state) {
  measure(state, [](Instance& i) { i.objective->hessian_product(i.w, i.previous, i.out); });
}
void two_dense_products(benchmark::State& state) {
  measure(state, [](Instance& i) {
    const Vector scores = i.data->features.transpose() * i.w;
    i.out.noalias() = i.data->features * scores;
  });
}
void read_once(benchmark::State& state) {
  measure(state, [](Instance& i) { i.out[0] = i.data->features.sum(); });
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Args({100000, 100})->Args({60000, 785})->Unit(benchmark::kMillisecond);
}
BENCHMARK(clipped_gradient)->Apply(sizes);
BENCHMARK(clipped_difference)->Apply(sizes);
BENCHMARK(weighed_product)->Apply(sizes);
BENCHMARK(objective_gradient)->Apply(sizes);
BENCHMARK(objective_product)->Apply(sizes);
BENCHMARK(two_dense_products)->Apply(sizes);
BENCHMARK(read_once)->Apply(sizes);

void few(benchmark::internal::Benchmark* b) {
  b->Args({100000, 10})->Args({100000, 100})->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(gradient_of, logistic, "logistic")->Apply(few);
BENCHMARK_CAPTURE(gradient_of, logistic_as_formula, "max(t, 0) + log1p(exp(-abs(t))) - y*t")
    ->Apply(few);
BENCHMARK_CAPTURE(gradient_of, sigmoid_square, "sigmoid_square")->Apply(few);
BENCHMARK_CAPTURE(gradient_of, sigmoid_square_as_formula, "0.5*(sigmoid(t) - y)^2")->Apply(few);
BENCHMARK_CAPTURE(gradient_of, welsch, "welsch")->Apply(few);
BENCHMARK_CAPTURE(gradient_of, welsch_as_formula, "-0.5*expm1(-(t - y)^2)")->Apply(few);
BENCHMARK_CAPTURE(gradient_of, tukey, "tukey")->Apply(few);
BENCHMARK_CAPTURE(gradient_of, tukey_as_formula, "(1 - max(1 - (t - y)^2, 0)^3)/6")->Apply(few);

}  // namespace
}  // namespace dpsosp
