// SPDX-License-Identifier: Apache-2.0
// Noisy gradient descent on a problem of the zoo, written against the library: the accountant finds
// the noise with which all steps fit the budget, the curator answers, the ledger says what it cost,
// the evaluator says what was found.
#include <iostream>
#include <vector>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

int main() {
  using namespace dpsosp;
  const Problem problem = find_problem("double-well")->make({.records = 20000, .dimension = 4});
  const PrivacyBudget budget{.epsilon = 1.0, .delta = 1e-6};
  const Index steps = 100;
  // The least noise, over the sensitivity, with which so many Gaussian queries are within the
  // budget; a hair more, since the filter rounds in its own way.
  const double noise =
      (1 + 1e-9) *
      smallest_noise_multiplier(
          [&](double z) {
            return std::vector<CountedEvent>{{GaussianEvent{.noise_multiplier = z}, steps}};
          },
          Adjacency::replace_one, budget.epsilon, budget.delta,
          {.accountant = Accountant::analytic});
  Curator curator(problem.facts, *problem.records, filter_rule(budget, Calibrator::exact_gaussian),
                  {.seed = 1});

  Vector x = problem.facts.initial_point;
  Vector gradient(x.size());
  // A gradient per record is clipped at `limit`.
  const GradientQuery query{.limit = 2.0, .noise = Noise::sensitivity_ratio(noise)};
  for (Index t = 0; t < steps; ++t) {
    curator.gradient(Point(x), curator.draw(BatchPolicy::all()), query, gradient);
    x -= 0.2 * gradient;
  }

  const auto look = [&](ConstVectorRef point) {
    return certify(problem.objective(), point,
                   {.hessian_lipschitz = problem.facts.constants["hessian_lipschitz"]});
  };
  const Certificate start = look(problem.facts.initial_point), end = look(x);
  std::cout << steps << " steps, noise " << noise << " times the sensitivity, epsilon spent "
            << curator.ledger().spent(budget.delta).epsilon << "\nsosp_level "
            << start.sosp_level.value() << " at the start, " << end.sosp_level.value()
            << " at the end, where the gradient norm is " << end.gradient_norm
            << " and the least eigenvalue " << end.lambda_min << '\n';
}
