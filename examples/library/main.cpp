// SPDX-License-Identifier: Apache-2.0
// Noisy gradient descent on a problem of the zoo, written against the library: the curator answers
// until the budget is spent, the ledger says what it cost, the evaluator says what was found.
#include <iostream>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

int main() {
  using namespace dpsosp;
  const Problem problem = find_problem("double-well")->make({.records = 20000, .dimension = 4});
  const PrivacyBudget budget{.epsilon = 1.0, .delta = 1e-6};
  Curator curator(
      problem.facts, *problem.records, filter_rule(budget, Calibrator::cks), {.seed = 1});

  Vector x = problem.facts.initial_point;
  Vector gradient(x.size());
  // A gradient per record is clipped at `limit`; the noise is that many times the sum's
  // sensitivity.
  const GradientQuery query{.limit = 2.0, .noise = Noise::sensitivity_ratio(20.0)};
  Index steps = 0;
  try {
    for (;; ++steps) {
      curator.gradient(Point(x), curator.draw(BatchPolicy::all()), query, gradient);
      x -= 0.2 * gradient;
    }
  } catch (const BudgetExhausted&) {
    // The filter refused the query that would have cost more than the budget.
  }

  const Certificate found = certify(
      problem.objective(), x, {.hessian_lipschitz = problem.facts.constants["hessian_lipschitz"]});
  std::cout << steps << " steps, epsilon spent " << curator.ledger().spent(budget.delta).epsilon
            << ", gradient norm " << found.gradient_norm << ", least eigenvalue "
            << found.lambda_min << ", sosp_level " << found.sosp_level.value() << '\n';
}
