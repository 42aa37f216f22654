// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <iostream>

#include "algorithm.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"

// Exit code 0: the out-of-tree algorithm ran until the filter refused, and the ledger holds within
// the budget; the paper's algorithm is there too.
int main() {
  const dpsosp::PrivacyBudget budget{.epsilon = 1.0, .delta = 1e-6};
  const dpsosp::Problem problem = dpsosp::find_problem("cosine-saddle")->make({.records = 200});
  dpsosp::Curator curator(problem.facts, *problem.records,
                          dpsosp::filter_rule(budget, dpsosp::Calibrator::cks), {.seed = 1});
  dpsosp::Vector x;
  const dpsosp::Index steps = descend(curator, x);
  const double spent = curator.ledger().spent(budget.delta).epsilon;
  std::cout << steps << " queries, epsilon spent " << spent << ", "
            << dpsosp::xu_2026::DpRgda().card().key << '\n';
  const bool good = steps >= 1 && x.allFinite() && spent > 0 && spent <= budget.epsilon;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
