// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

namespace dpsosp::liu_talwar_2025_probe {

struct PathLength {
  static constexpr ProbeName probe{"liu-talwar-2025/path-length"};
  std::string problem;
  Index records, dimension;
  double epsilon;
  struct Result {
    bool solved;
    double path, bound;
    Index steps, planned_steps, records_used;
    double alpha;
  };
};
DPSOSP_MEMBERS(PathLength, problem, records, dimension, epsilon);
DPSOSP_MEMBERS(PathLength::Result, solved, path, bound, steps, planned_steps, records_used, alpha);

}  // namespace dpsosp::liu_talwar_2025_probe
