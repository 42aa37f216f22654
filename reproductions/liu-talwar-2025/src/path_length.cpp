// SPDX-License-Identifier: Apache-2.0
#include "path_length.hpp"

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_probe;

/// A private run watched step by step until its first α-SOSP.
class UntilSolved final : public Observer {
 public:
  struct Solved {};

  UntilSolved(const Objective& f, double M, double rho, double alpha)
      : f_(f), M_(M), rho_(rho), alpha_(alpha), gradient_(f.dimension()) {}
  void iterate(Index t, ConstVectorRef x) override {
    if (t > 0) path_ += M_ * (x - previous_).norm();
    previous_ = x;
    steps_ = t;
    f_.gradient(x, gradient_);
    if (gradient_.norm() > alpha_) return;
    if (sosp_level(gradient_.norm(), certify(f_, x, {}).lambda_min, rho_) <= alpha_) throw Solved{};
  }
  double path() const { return path_; }
  Index steps() const { return steps_; }

 private:
  const Objective& f_;
  double M_, rho_, alpha_;
  Vector gradient_, previous_;
  double path_ = 0;
  Index steps_ = 0;
};

PathLength::Result path_length(const PathLength& p, std::uint64_t seed) {
  const double epsilon = p.epsilon;
  const auto n = p.records;
  const Problem problem =
      find_problem(p.problem, {{"sampling", "stream"}, {"start", "near_saddle"}})
          ->make({.records = n, .dimension = p.dimension, .seed = seed, .data_seed = seed});
  liu_talwar_2025::AdaptiveSpider spider;
  spider.parameters.selection.share = 0;
  const Scheduled s =
      spider.schedule(Schedule::practical, problem.facts, {epsilon, 1e-6}, Calibrator::cks);
  SimulatedCurator curator(problem.facts, *problem.simulated, s.rule, {.seed = seed, .run = 1});
  const ProblemNumbers f = numbers_of(problem.facts);
  UntilSolved watch(*problem.population, f.M, f.rho, s.alpha);
  bool solved = false;
  try {
    spider.run(curator, Stream({.seed = seed, .run = 1, .purpose = Purpose::algorithm}), watch);
  } catch (const UntilSolved::Solved&) {
    solved = true;
  }
  return {.solved = solved,
          .path = watch.path(),
          .bound = 2 * f.B * f.M / s.alpha,
          .steps = watch.steps(),
          .planned_steps = spider.parameters.spider.steps,
          .records_used = n - curator.fresh_records(),
          .alpha = s.alpha};
}

}  // namespace

std::vector<ProbeEntry> liu_talwar_2025_probes() { return {probe_entry<path_length>()}; }

}  // namespace dpsosp
