// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp::baselines {

/// Simultaneous gradient descent in x and ascent in y, projected onto Y.
struct DescentAscent {
  Index steps;
  double step_size;
  double ascent_step;
  bool local_dual;
  BatchPolicy policy;
  GradientQuery query;
  bool average = false;  ///< return the mean of x_1, x_2, … in place of the last one
};
Outcome descent_ascent(Curator& curator, Observer& observer, const DescentAscent& p);

/// \throws InputError
void check_descent_ascent(std::string_view owner, const PublicFacts& facts, bool local_dual);

}  // namespace dpsosp::baselines
