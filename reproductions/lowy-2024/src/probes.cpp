// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/lowy_2024/exponential_warm_start.hpp"
#include "dpsosp/lowy_2024/published_experiment.hpp"
#include "dpsosp/lowy_2024/warm_population.hpp"
#include "dpsosp/privacy/net.hpp"
#include "dpsosp/privacy/projection.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "parts.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace {

using namespace lowy_2024_probe;
using Settings = std::map<std::string, std::string>;

// ------------------------------------------------------------------- the published experiment

constexpr Index published_records = 100, published_dimension = 100, test_records = 25;
constexpr std::uint64_t test_data = 1'000'000, tuning_instances = 2'000'000;  // added to the seed

RunSpec published_run(const PublishedExperiment& parameters, const Settings& settings,
                      std::uint64_t seed) {
  RunSpec spec;
  spec.algorithm = "lowy-2024/published-experiment";
  spec.problem = "trig-radial";
  spec.problem_settings = {{"law", "ball"}};
  spec.records = published_records;
  spec.dimension = published_dimension;
  spec.epsilon = parameters.epsilon;
  spec.delta = std::pow(static_cast<double>(published_records), -1.5);
  spec.calibrator = Calibrator::rdp;
  spec.variant = parameters.variant;
  spec.schedule = spec.variant == Variant::printed ? Schedule::paper : Schedule::practical;
  spec.settings = settings;
  spec.settings["stage"] = parameters.stage;
  if (parameters.door) spec.door = *parameters.door;
  spec.seed = spec.data_seed = seed;
  spec.observations = 0;
  return spec;
}

/// The settings that a grid of step sizes, periods and warm steps offers to a method.
std::vector<Settings> tuning_grid(const std::string& stage) {
  const std::vector<std::string> etas{"0.05", "0.025", "0.005", "0.0025", "0.001", "0.0005"};
  const std::vector<std::string> periods{"5", "25", "100"};
  const std::vector<std::string> warm_etas{"0.05", "0.005", "0.0005"};
  std::vector<Settings> grid;
  for (const std::string& eta : etas) {
    if (stage == "dp_sgd") {
      grid.push_back({{"step_size", eta}});
      continue;
    }
    for (const std::string& period : periods) {
      const Settings spider{{"step_size", eta}, {"period", period}};
      if (stage == "dp_spider") {
        grid.push_back(spider);
        continue;
      }
      for (const std::string& warm_eta : warm_etas) {
        grid.push_back(spider);
        grid.back()["warm_step_size"] = warm_eta;
      }
    }
  }
  return grid;
}

/// One method at one ε: gradient norms at the last iterate over train and test records, a value a
/// seed. With tuning = k the settings are those of the least mean train gradient over k instances
/// that no seed uses, whose cost in privacy is nothing, as they are public.
PublishedExperiment::Result published_experiment(const PublishedExperiment& parameters,
                                                 std::uint64_t) {
  PublishedExperiment::Result result{};
  if (const int instances = parameters.tuning.value_or(0); instances > 0) {
    double least = std::numeric_limits<double>::infinity();
    for (const Settings& candidate : tuning_grid(parameters.stage)) {
      double sum = 0;
      for (int k = 0; k < instances; ++k) {
        const std::uint64_t instance = tuning_instances + static_cast<std::uint64_t>(k);
        sum += compute_run(describe(published_run(parameters, candidate, instance)))
                   .output.gradient_norm;
      }
      if (sum < least) {
        least = sum;
        result.settings = candidate;
      }
    }
  }
  for (int k = 0; k < parameters.seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    RunSpec spec = published_run(parameters, result.settings, seed);
    const RunResult run = compute_run(describe(spec));
    result.train.push_back(run.output.gradient_norm);
    spec.records = test_records;
    spec.data_seed = seed + test_data;
    result.test.push_back(
        certify_point(spec, nlohmann::json(run.point.value()).dump()).gradient_norm);
    result.start += run.start.gradient_norm / parameters.seeds;
    result.spent = std::max(result.spent, run.privacy.spent);
  }
  return result;
}

// ------------------------------------------------------------------- DP-SPIDER from an excess ψ

/// Mean of ‖∇F‖ over the iterates whose estimate is used, one of which is the output, or over every
/// `stride`-th of them.
class MeanGradient final : public Observer {
 public:
  explicit MeanGradient(const Objective& objective, Index stride = 1)
      : objective_(objective), stride_(stride), gradient_(objective.dimension()) {}
  void iterate(Index t, ConstVectorRef x) override {
    if (t % stride_ != 0) return;
    objective_.gradient(x, gradient_);
    sum_ += gradient_.norm();
    ++seen_;
  }
  double value() const { return sum_ / static_cast<double>(seen_); }

 private:
  const Objective& objective_;
  Index stride_;
  Vector gradient_;
  double sum_ = 0;
  Index seen_ = 0;
};

/// radial-ripple from the nearest point to the minimum whose excess is "excess", which the schedule
/// is told, as Theorem 3.2 has it. Records as those of lowy-2024-warm-quasar.toml.
StartAtExcess::Result start_at_excess(const StartAtExcess& parameters, std::uint64_t seed) {
  const double psi = parameters.excess;
  Problem problem =
      find_problem("radial-ripple", {{"sampling", "stream"}, {"tilt", "0"}})
          ->make({.records = parameters.records, .dimension = 16, .seed = seed, .data_seed = seed});
  PublicFacts& facts = problem.facts;
  const Vector direction = facts.initial_point.normalized();
  double low = 0, high = 1;  // G rises with r
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (problem.population->value(middle * direction) < psi ? low : high) = middle;
  }
  facts.initial_point = high * direction;
  facts.constants.set(constant::suboptimality, {psi, Origin::proved, "initial point", "by choice"});
  const auto algorithm = find_algorithm("arora-2023/dp-spider");
  const PrivacyBudget budget{1.0, 1e-6};
  const Scheduled scheduled =
      algorithm->schedule(Schedule::practical, facts, budget, Calibrator::cks);
  algorithm->check(facts);
  StreamKey key{.seed = seed, .purpose = Purpose::algorithm};
  SimulatedCurator curator(facts, *problem.simulated, scheduled.rule, key);
  MeanGradient observer(*problem.population);
  const Outcome outcome = algorithm->run(curator, Stream(key), observer);
  if (outcome.status != Status::steps_done)
    throw RunFailed(fmt::format("{} after {} steps", to_string(outcome.status), outcome.steps));
  return {.excess = psi,
          .promise = scheduled.alpha,
          .mean_gradient = observer.value(),
          .steps = outcome.steps};
}

// ------------------------------------------------------------------- the exponential mechanism

/// Runs of the mechanism at the paper's λ and net against equation (2): how many exceed ψ.
MechanismTail::Result exponential_mechanism_tail(const MechanismTail& parameters, std::uint64_t) {
  constexpr double half_width = 2;
  RunSpec spec;
  spec.algorithm = "lowy-2024/exponential-mechanism";
  spec.problem = "ripple-location";
  spec.problem_settings = {{"sampling", "whole"}};
  spec.records = parameters.records;
  spec.dimension = parameters.dimension;
  spec.schedule = Schedule::paper;
  spec.observations = 0;
  const int seeds = parameters.seeds;
  const auto n = static_cast<double>(spec.records), d = static_cast<double>(*spec.dimension);
  // The stage has all of ε here, which is half of that of the whole run in the paper's ψ.
  const double epsilon = 2 * spec.epsilon;
  int above = 0;
  double largest = 0;
  for (int k = 0; k < seeds; ++k) {
    spec.seed = spec.data_seed = static_cast<std::uint64_t>(k);
    const RunResult result = compute_run(describe(spec));
    const double psi = lowy_2024::paper_excess_risk(
        epsilon, n, d, metric_of(result, "parameters.lipschitz").value(), 2 * half_width);
    const double share = metric_of(result, "output.excess_risk").value() / psi;
    above += share > 1;
    largest = std::max(largest, share);
  }
  return {
      .above = above, .seeds = seeds, .largest = largest, .failure = std::sqrt(d) / (epsilon * n)};
}

/// Mean gradient of DP-SPIDER over records of rank "rank" projected to "projected" dimensions, at
/// the schedule for that many, and the promise; the features are those of "support" atoms.
ProjectionSize::Result projection_size(const ProjectionSize& parameters, std::uint64_t seed) {
  const Problem problem =
      find_problem("glm-welsch", {{"rank", std::to_string(parameters.rank)},
                                  {"support", std::to_string(parameters.support)},
                                  {"features", "low_rank"},
                                  {"sampling", "whole"}})
          ->make({.records = parameters.records,
                  .dimension = parameters.dimension,
                  .seed = seed,
                  .data_seed = seed});
  const auto projected = find_algorithm("arora-2023/jl-dp-spider");
  Fields fields = projected->fields();
  set_field(fields, "jl-dp-spider", "projected_dimension", std::to_string(parameters.projected));
  const double cap = std::stod(values_of(fields).at("cap"));
  const auto base = find_algorithm("arora-2023/dp-spider");
  const Scheduled scheduled =
      base->schedule(Schedule::practical, projected_facts(problem.facts, parameters.projected, cap),
                     {parameters.epsilon, 1e-6}, Calibrator::cks);
  for (const auto& [name, text] : values_of(base->fields()))
    set_field(fields, "jl-dp-spider", name, text);
  projected->check(problem.facts);
  StreamKey key{.seed = seed, .purpose = Purpose::algorithm};
  SimulatedCurator curator(problem.facts, *problem.simulated, scheduled.rule, key);
  const Index steps = std::stoll(values_of(fields).at("steps"));
  MeanGradient observer(*problem.empirical, std::max<Index>(1, steps / 100));
  const Outcome outcome = projected->run(curator, Stream(key), observer);
  if (outcome.status != Status::steps_done)
    throw RunFailed(fmt::format("{} after {} steps", to_string(outcome.status), outcome.steps));
  Vector gradient(problem.facts.dimension);
  problem.empirical->gradient(Vector::Zero(problem.facts.dimension), gradient);
  return {.mean_gradient = observer.value(),
          .start = gradient.norm(),
          .promise = scheduled.alpha,
          .steps = outcome.steps};
}

}  // namespace

std::vector<ProbeEntry> lowy_2024_probes() {
  return {probe_entry<published_experiment>(), probe_entry<start_at_excess>(),
          probe_entry<exponential_mechanism_tail>(), probe_entry<projection_size>()};
}

}  // namespace dpsosp
