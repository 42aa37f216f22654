// SPDX-License-Identifier: Apache-2.0
// One thread, the work that peers.py does too, under the same names; compare.py runs both. And
// probes of what the machine can do at most.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "dpsosp/core/memory.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"

namespace dpsosp {
namespace {

const bool memory_kept = (keep_freed_memory(), true);  // as the program does
const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);

// Noise and batches.

void normals(benchmark::State& state) {
  Stream stream({.seed = 1});
  Vector out(state.range(0));
  for (auto _ : state) {
    stream.fill_normal(1.5, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(normals)->Arg(1000000)->Arg(100);

void poisson_batch(benchmark::State& state) {
  Stream stream({.seed = 2});
  std::vector<Index> members;
  for (auto _ : state) {
    stream.bernoulli_subset(100000, 0.0026, members);
    benchmark::DoNotOptimize(members.data());
  }
}
BENCHMARK(poisson_batch);

void fixed_batch(benchmark::State& state) {
  Stream stream({.seed = 3});
  std::vector<Index> members;
  for (auto _ : state) {
    stream.subset(100000, 256, members);
    benchmark::DoNotOptimize(members.data());
  }
}
BENCHMARK(fixed_batch);

// A clipped step of a generalised linear model: batch, clipped sum, noise. Arguments d, B, n.

struct Glm {
  Glm(Index d, Index n) : data(std::make_shared<GlmData>()), w(d) {
    Stream stream({.seed = 4});
    data->features.resize(d, n);
    stream.fill_normal(1.0, data->features.reshaped());
    data->features.colwise().normalize();
    data->labels.resize(n);
    for (double& y : data->labels) y = stream.bernoulli(0.5) ? 1.0 : 0.0;
    stream.fill_normal(1.0, w);
    records = glm_records({"benchmark", sigmoid_square_loss()}, data);
    facts.name = "benchmark";
    facts.dimension = d;
    facts.records = n;
  }
  std::shared_ptr<GlmData> data;
  std::unique_ptr<const AnyRecords> records;
  PublicFacts facts;
  Vector w;
};

/// The last instance: one of 1.6 GB is enough.
const Glm& glm(Index d, Index n) {
  static std::unique_ptr<Glm> last;
  if (!last || last->w.size() != d || last->facts.records != n) {
    last.reset();
    last = std::make_unique<Glm>(d, n);
  }
  return *last;
}

void glm_step(benchmark::State& state) {
  const Glm& problem = glm(state.range(0), state.range(2));
  const FilterRule rule = filter_rule({.epsilon = 1.0, .delta = 1e-6}, Calibrator::cks);
  Curator curator(problem.facts, *problem.records, rule, {.seed = 5});
  const GradientQuery query{.limit = 0.05, .noise = Noise::sensitivity_ratio(1e6)};
  const Point w(problem.w);
  Vector out(state.range(0));
  for (auto _ : state) {
    curator.gradient(w, curator.draw(BatchPolicy::sample(state.range(1))), query, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(glm_step)->Args({100, 64, 100000})->Args({1000, 256, 100000})->Args({10000, 4096, 20000});

/// Reading as many random rows once, by the kernel that the step reads them with first.
void random_rows(benchmark::State& state) {
  const Glm& problem = glm(state.range(0), state.range(2));
  Stream stream({.seed = 6});
  std::vector<Index> members;
  std::vector<const double*> rows;
  Vector out(state.range(1));
  for (auto _ : state) {
    stream.subset(state.range(2), state.range(1), members);
    rows.clear();
    for (const Index i : members) rows.push_back(problem.data->features.col(i).data());
    dot_rows(rows, problem.w, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(random_rows)
    ->Args({100, 64, 100000})
    ->Args({1000, 256, 100000})
    ->Args({10000, 4096, 20000});

// Matrix sensing. Arguments p = q, r, n.

struct Sensing {
  Sensing(Index p, Index r, Index n) : data(std::make_shared<MatrixSensingData>()) {
    Stream stream({.seed = 7});
    data->rows = data->cols = p;
    data->rank = r;
    data->features.resize(p * p, n);
    stream.fill_normal(1.0, data->features.reshaped());
    minimiser.resize(2 * p * r);
    stream.fill_normal(1.0, minimiser);
    minimiser /= std::sqrt(static_cast<double>(p));
    const Matrix planted =
        minimiser.head(p * r).reshaped(p, r) * minimiser.tail(p * r).reshaped(p, r).transpose();
    data->labels = data->features.transpose() * planted.reshaped();
    records = matrix_sensing_records(data);
    value = matrix_sensing_value(data);
    saddle.resize(minimiser.size());
    stream.fill_normal(0.01, saddle);
    Vector away(minimiser.size());
    stream.fill_normal(0.001, away);
    near_minimiser = minimiser + away;
  }
  std::shared_ptr<MatrixSensingData> data;
  std::unique_ptr<const AnyRecords> records;
  std::unique_ptr<const Objective> value;
  Vector minimiser, saddle, near_minimiser;
};

const Sensing& sensing(const benchmark::State& state) {
  static std::map<Index, Sensing> known;
  return known.try_emplace(state.range(0), state.range(0), state.range(1), state.range(2))
      .first->second;
}

void sensing_gradient(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  const Point x(problem.near_minimiser);
  Vector out = Vector::Zero(x.x.size());
  for (auto _ : state) {
    problem.records->add_gradients(x, Block::x, BatchView(0, state.range(2)), 0.5, out);
    benchmark::DoNotOptimize(out.data());
  }
}
void sensing_product(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  Vector v = problem.saddle.normalized(), out(v.size());
  for (auto _ : state) {
    problem.value->hessian_product(problem.near_minimiser, v, out);
    v = out.normalized();
  }
}
void certificate_at(benchmark::State& state, const Objective& value, const Vector& x) {
  for (auto _ : state)
    benchmark::DoNotOptimize(certify(value, x, {.hessian_lipschitz = 1.0}).lambda_min_lower);
}
void estimate_saddle(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  for (auto _ : state)
    benchmark::DoNotOptimize(estimate_lambda_min(*problem.value, problem.saddle).lambda_min);
}
void estimate_minimiser(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        estimate_lambda_min(*problem.value, problem.near_minimiser).lambda_min);
}
void certificate_saddle(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  certificate_at(state, *problem.value, problem.saddle);
}
void certificate_minimiser(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  certificate_at(state, *problem.value, problem.near_minimiser);
}
/// Twenty points from the saddle to the minimiser, each estimate from the direction before.
void estimate_trace(benchmark::State& state) {
  const Sensing& problem = sensing(state);
  for (auto _ : state) {
    Vector direction;
    for (int k = 0; k < 20; ++k) {
      const Vector x = problem.saddle + (k / 19.0) * (problem.near_minimiser - problem.saddle);
      direction = estimate_lambda_min(*problem.value, x, {}, direction).direction;
    }
    benchmark::DoNotOptimize(direction.data());
  }
}
void small_sensing(benchmark::internal::Benchmark* b) { b->Args({20, 3, 400}); }
void sensing_sizes(benchmark::internal::Benchmark* b) {
  b->Args({20, 3, 400})->Args({100, 5, 20000});
}
BENCHMARK(sensing_gradient)->Apply(sensing_sizes);
BENCHMARK(sensing_product)->Apply(sensing_sizes);
BENCHMARK(estimate_saddle)->Apply(sensing_sizes);
BENCHMARK(estimate_minimiser)->Apply(sensing_sizes);
BENCHMARK(certificate_saddle)->Apply(small_sensing);
BENCHMARK(certificate_minimiser)->Apply(small_sensing);
BENCHMARK(estimate_trace)->Apply(small_sensing);

/// A cell of a sweep, data and all: 1000 steps on batches of 256, a trace of 20 points.
void sweep_cell(benchmark::State& state) {
  const RunDescription d = describe(
      {.algorithm = "avdiukhin-2024/dp-sgd",
       .problem = "glm-sigmoid",
       .settings = {{"steps", "1000"}, {"batch", "256"}, {"sampling", "poisson"}, {"noise", "50"}},
       .records = 100000,
       .dimension = 100,
       .calibrator = Calibrator::rdp,
       .observations = 20});
  for (auto _ : state) {
    const RunResult result = compute_run(d);
    benchmark::DoNotOptimize(&result);
  }
}
BENCHMARK(sweep_cell);

/// The experiment of Xu et al. 2026, Table 2: four methods, 400 iterations, a certificate at each.
void xu_experiment(benchmark::State& state) {
  using Settings = std::map<std::string, std::string>;
  const std::map<std::string, Settings> methods{
      {"xu-2026/dp-rgda",
       {{"alpha", "0.1"},
        {"descent_step", "0.2"},
        {"ascent_step", "0.8"},
        {"period", "10"},
        {"inner_steps", "5"},
        {"refresh_batch", "200"},
        {"increment_batch", "50"}}},
      {"ganesh-2023/stochastic-spider",
       {{"step_size", "0.005"},
        {"refresh", "drift"},
        {"drift_threshold", "0.7"},
        {"refresh_batch", "200"},
        {"increment_batch", "50"}}},
      {"tao-2025/ada-dp-spider",
       {{"step_size", "0.02"},
        {"drift_threshold", "0.01"},
        {"chi", "0"},
        {"refresh_batch", "200"},
        {"increment_batch", "50"}}},
      {"zhang-2025/private-diff",
       {{"step_size", "0.0125"}, {"period", "1"}, {"ascent", "local"}, {"batch", "200"}}}};
  std::vector<RunDescription> runs;
  for (const auto& [algorithm, settings] : methods) {
    RunSpec spec{.algorithm = algorithm, .problem = "matrix-sensing", .settings = settings};
    spec.settings["steps"] = "400";
    spec.settings["sampling"] = "sample";
    spec.records = 400;
    spec.epsilon = 2.0;
    spec.schedule = Schedule::none;
    spec.noise = NoiseRule::advanced;
    spec.observations = 400;
    if (algorithm == "xu-2026/dp-rgda") {
      spec.variant = Variant::printed;
      spec.noise_queries = 4080;
    }
    runs.push_back(describe(spec));
  }
  for (auto _ : state)
    for (const RunDescription& run : runs) {
      const RunResult result = compute_run(run);
      benchmark::DoNotOptimize(&result);
    }
}
BENCHMARK(xu_experiment);

// The machine.

void multiply_add(benchmark::State& state) {  // what the compiler makes of it for this machine
  constexpr Index chains = 64;
  Vector a = Vector::Constant(chains, 0.5), b = Vector::Constant(chains, 0.25);
  for (auto _ : state) {
    for (int k = 0; k < 1000; ++k) a.array() = a.array() * 0.5 + b.array();
    benchmark::DoNotOptimize(a.data());
  }
  state.counters["flops"] =
      benchmark::Counter(2000.0 * chains, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(multiply_add);

// Cost against size, one decade and more; the argument is the size.

void scale_n(benchmark::State& state) {  // clipped gradients of n records, d = 32
  const Glm& problem = glm(32, state.range(0));
  const Point w(problem.w);
  Vector out = Vector::Zero(problem.w.size());
  for (auto _ : state) {
    problem.records->add_gradients(w, Block::x, BatchView(0, state.range(0)), 0.05, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(scale_n)->RangeMultiplier(4)->Range(1024, 1 << 20);

void scale_d(benchmark::State& state) {  // clipped gradients of 4096 records
  const Glm& problem = glm(state.range(0), 4096);
  const Point w(problem.w);
  Vector out = Vector::Zero(problem.w.size());
  for (auto _ : state) {
    problem.records->add_gradients(w, Block::x, BatchView(0, 4096), 0.05, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(scale_d)->RangeMultiplier(4)->Range(16, 16384);

void scale_T(benchmark::State& state) {  // steps of noisy SGD, no certificate but two
  const RunDescription d = describe({.algorithm = "avdiukhin-2024/dp-sgd",
                                     .problem = "double-well",
                                     .settings = {{"steps", std::to_string(state.range(0))},
                                                  {"batch", "64"},
                                                  {"sampling", "sample"},
                                                  {"noise", "100000"}},
                                     .records = 10000,
                                     .dimension = 16,
                                     .observations = 0});
  for (auto _ : state) {
    const RunResult result = compute_run(d);
    benchmark::DoNotOptimize(&result);
  }
}
BENCHMARK(scale_T)->RangeMultiplier(4)->Range(1024, 1 << 18);

void triad(benchmark::State& state) {
  Vector a(20000000), b = Vector::Ones(a.size()), c = Vector::Ones(a.size());
  for (auto _ : state) {
    a = b + 3.0 * c;
    benchmark::DoNotOptimize(a.data());
  }
  state.SetBytesProcessed(state.iterations() * a.size() * 24);
}
BENCHMARK(triad);

}  // namespace
}  // namespace dpsosp
