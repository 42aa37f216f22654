// SPDX-License-Identifier: Apache-2.0
// instruction_kernels NAME: prepares a kernel and runs it once within measured_work, which
// callgrind counts. Without a name it lists the kernels.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include "dpsosp/core/cholesky.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"

extern "C" [[gnu::noinline]] void measured_work(const std::function<void()>& work) {
  work();
  std::fflush(stdout);  // keeps this call from becoming a jump
}

namespace dpsosp {
namespace {

using Kernel = std::function<std::function<void()>()>;  // prepares, and returns the work

template <class Work>
std::function<void()> times(int count, Work work) {
  return [=]() mutable {
    for (int k = 0; k < count; ++k) work();
  };
}

std::function<void()> normals() {
  return [out = Vector(100000), stream = Stream({.seed = 1})]() mutable {
    stream.fill_normal(1.5, out);
  };
}

std::function<void()> poisson_batch() {
  return times(100, [members = std::vector<Index>(), stream = Stream({.seed = 2})]() mutable {
    stream.bernoulli_subset(100000, 0.0026, members);
  });
}

std::function<void()> fixed_batch() {
  return times(100, [members = std::vector<Index>(), stream = Stream({.seed = 3})]() mutable {
    stream.subset(100000, 256, members);
  });
}

struct Glm {
  Glm() : data(std::make_shared<GlmData>()), w(d) {
    Stream stream({.seed = 4});
    data->features.resize(d, n);
    stream.fill_normal(1.0, data->features.reshaped());
    data->features.colwise().normalize();
    data->labels.resize(n);
    for (double& y : data->labels) y = stream.bernoulli(0.5) ? 1.0 : 0.0;
    stream.fill_normal(1.0, w);
    records = glm_records({"kernel", sigmoid_square_loss()}, data);
    facts.name = "kernel";
    facts.dimension = d;
    facts.records = n;
  }
  static constexpr Index d = 100, n = 10000;
  std::shared_ptr<GlmData> data;
  std::unique_ptr<const AnyRecords> records;
  PublicFacts facts;
  Vector w;
};

std::function<void()> glm_step() {
  const auto problem = std::make_shared<const Glm>();
  const FilterRule rule = filter_rule({.epsilon = 1.0, .delta = 1e-6}, Calibrator::cks);
  const auto curator =
      std::make_shared<Curator>(problem->facts, *problem->records, rule, StreamKey{.seed = 5});
  const GradientQuery query{.limit = 0.05, .noise = Noise::sensitivity_ratio(1e6)};
  return times(100, [=, out = Vector(Glm::d)]() mutable {
    curator->gradient(Point(problem->w), curator->draw(BatchPolicy::sample(64)), query, out);
  });
}

std::function<void()> glm_hessian_products() {
  const auto problem = std::make_shared<const Glm>();
  const Vector v = Vector::Constant(Glm::d, 0.1);
  return [=, out = Vector(Vector::Zero(Glm::d))]() mutable {
    problem->records->add_hessian_products(Point(problem->w), v, BatchView(0, Glm::n), 1.0, out);
  };
}

struct Sensing {
  Sensing() : data(std::make_shared<MatrixSensingData>()) {
    constexpr Index p = 20, r = 3, n = 400;
    Stream stream({.seed = 7});
    data->rows = data->cols = p;
    data->rank = r;
    data->features.resize(p * p, n);
    stream.fill_normal(1.0, data->features.reshaped());
    Vector minimiser(2 * p * r), away(2 * p * r);
    stream.fill_normal(0.25, minimiser);
    const Matrix planted =
        minimiser.head(p * r).reshaped(p, r) * minimiser.tail(p * r).reshaped(p, r).transpose();
    data->labels = data->features.transpose() * planted.reshaped();
    records = matrix_sensing_records(data);
    value = matrix_sensing_value(data);
    saddle.resize(minimiser.size());
    stream.fill_normal(0.01, saddle);
    stream.fill_normal(0.001, away);
    near_minimiser = minimiser + away;
  }
  std::shared_ptr<MatrixSensingData> data;
  std::unique_ptr<const AnyRecords> records;
  std::unique_ptr<const Objective> value;
  Vector saddle, near_minimiser;
};

std::function<void()> sensing_gradient() {
  const auto problem = std::make_shared<const Sensing>();
  return [=, out = Vector(Vector::Zero(problem->saddle.size()))]() mutable {
    problem->records->add_gradients(Point(problem->near_minimiser), Block::x, BatchView(0, 400),
                                    0.5, out);
  };
}

std::function<void()> sensing_product() {
  const auto problem = std::make_shared<const Sensing>();
  return [=, out = Vector(problem->saddle.size())]() mutable {
    problem->value->hessian_product(problem->near_minimiser, problem->saddle, out);
  };
}

std::function<void()> certificate_at_saddle() {
  const auto problem = std::make_shared<const Sensing>();
  return [=] { certify(*problem->value, problem->saddle, {.hessian_lipschitz = 1.0}); };
}

std::function<void()> certificate_near_minimiser() {
  const auto problem = std::make_shared<const Sensing>();
  return [=] { certify(*problem->value, problem->near_minimiser, {.hessian_lipschitz = 1.0}); };
}

std::function<void()> cholesky() {
  const Index d = 200;
  const Matrix a = Matrix::Identity(d, d) + Matrix::Constant(d, d, 0.5);
  const auto factor = std::make_shared<Cholesky>(d);
  return [=, b = Vector(Vector::Ones(d))]() mutable {
    factor->factor(a, 0.25);
    factor->solve(b);
  };
}

std::function<void()> spider_run() {
  const RunDescription d = describe({.algorithm = "ganesh-2023/stochastic-spider",
                                     .problem = "quartic-saddle",
                                     .problem_settings = {{"sampling", "whole"}},
                                     .records = 1000000,
                                     .dimension = 16,
                                     .observations = 0});
  return [=] { compute_run(d); };
}

std::function<void()> renyi_calibration() {
  return [] {
    smallest_noise_multiplier(
        [](double z) {
          return std::vector<CountedEvent>{{PoissonGaussianEvent{0.0026, z}, 1000}};
        },
        Adjacency::replace_one, 1.0, 1e-6, {.accountant = Accountant::rdp});
  };
}

const std::map<std::string, Kernel> kernels{
    {"normals", normals},
    {"poisson_batch", poisson_batch},
    {"fixed_batch", fixed_batch},
    {"glm_step", glm_step},
    {"glm_hessian_products", glm_hessian_products},
    {"sensing_gradient", sensing_gradient},
    {"sensing_product", sensing_product},
    {"certificate_at_saddle", certificate_at_saddle},
    {"certificate_near_minimiser", certificate_near_minimiser},
    {"cholesky", cholesky},
    {"spider_run", spider_run},
    {"renyi_calibration", renyi_calibration}};

}  // namespace
}  // namespace dpsosp

int main(int argc, char** argv) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  if (argc < 2) {
    for (const auto& [name, kernel] : dpsosp::kernels) std::puts(name.c_str());
    return 0;
  }
  const auto found = dpsosp::kernels.find(argv[1]);
  if (found == dpsosp::kernels.end()) {
    std::fprintf(stderr, "instruction_kernels: there is no kernel %s\n", argv[1]);
    return 1;
  }
  const std::function<void()> work = found->second();
  work();  // what is done once in a process is not counted
  measured_work(work);
}
