// SPDX-License-Identifier: Apache-2.0
#include "algorithm.hpp"

dpsosp::Index descend(dpsosp::Curator& curator, dpsosp::Vector& x) {
  x = curator.facts().initial_point;
  dpsosp::Vector gradient(x.size());
  const dpsosp::GradientQuery query{.limit = 1.0, .noise = dpsosp::Noise::sensitivity_ratio(10.0)};
  for (dpsosp::Index step = 0;; ++step) {
    try {
      curator.gradient(dpsosp::Point(x), curator.draw(dpsosp::BatchPolicy::all()), query, gradient);
    } catch (const dpsosp::BudgetExhausted&) {
      return step;
    }
    x -= 0.1 * gradient;
  }
}
