// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {

using avdiukhin_2024::DpSgd;
using namespace avdiukhin_2024_probe;

IndependentTests::Result avdiukhin_2024_probe::independent_tests(const IndependentTests& parameters,
                                                                 std::uint64_t seed) {
  const Problem problem =
      find_problem("double-well")->make({.records = 1000, .seed = seed, .data_seed = seed});
  const PublicFacts& facts = problem.facts;
  UnsoundCurator curator(facts, *problem.records, {.seed = seed}, {});
  StationarityTest test(curator, curator.draw(BatchPolicy::all()),
                        {.epsilon = parameters.epsilon,
                         .gradient_scale = 0.1,
                         .curvature_scale = 0.1,
                         .gradient_limit = 1.0,
                         .hessian_limit = facts.constants[constant::smoothness],
                         .form = SelectionForm::independent,
                         .scales = SelectionScales::zero_out});
  const int candidates = parameters.candidates;
  for (int k = 0; k < candidates; ++k) test.accepts(facts.initial_point);
  double added = 0;
  for (const LedgerEntry& e : curator.ledger().entries())
    added += std::get<LaplaceEvent>(*e.event).epsilon * static_cast<double>(e.count);
  return {.added = added, .spent = curator.ledger().spent(1e-6).epsilon};
}

PowerErrors::Result avdiukhin_2024_probe::power_errors(const PowerErrors& parameters,
                                                       std::uint64_t seed) {
  const Index d = parameters.dimension, points = parameters.points;
  const Problem problem =
      find_problem("double-well")
          ->make({.records = parameters.records, .dimension = d, .seed = seed, .data_seed = seed});
  DpSgd planned;
  planned.parameters.eigenvalue = avdiukhin_2024::EigenvalueRule::power;
  planned.parameters.power_gain = parameters.gain;
  planned.parameters.selection.share = 0.5;
  const Scheduled scheduled = planned.schedule(Schedule::practical, problem.facts,
                                               {.epsilon = 1.0, .delta = 1e-5}, Calibrator::cks);
  const auto& p = planned.parameters;
  const double scale =
      std::sqrt(problem.facts.constants[constant::hessian_lipschitz] * scheduled.alpha);
  Stream stream({.seed = seed, .purpose = Purpose::algorithm});
  UnsoundCurator curator(problem.facts, *problem.records, {.seed = seed}, {});
  double largest = 0;
  int far = 0;
  for (Index k = 0; k < points; ++k) {
    Vector x = Vector::Zero(d);
    x[0] = 2.0 * static_cast<double>(k) / static_cast<double>(points);
    const double least = std::min(1.0, 1.0 - 2.0 / std::pow(std::cosh(x[0]), 2));
    const double found =
        noisy_power_method(curator, BatchPolicy::all(), x,
                           {p.power_products, p.power_gain, p.hessian_limit, p.power_noise}, stream)
            .value;
    const double error = std::abs(found - least) / scale;
    largest = std::max(largest, error);
    far += error > 0.5;
  }
  return {.products = p.power_products,
          .largest = largest,
          .far = static_cast<double>(far) / static_cast<double>(points)};
}

}  // namespace dpsosp
