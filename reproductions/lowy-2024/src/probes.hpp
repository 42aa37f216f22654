// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/run.hpp"

/// Parameters and results of the probes of lowy-2024; probes.cpp says what each does.
namespace dpsosp::lowy_2024_probe {

struct PublishedExperiment {
  static constexpr ProbeName probe{"lowy-2024/published-experiment"};
  std::string stage;
  Variant variant;
  double epsilon;
  int seeds;
  std::optional<int> tuning;
  std::optional<Door> door;
  struct Result {
    std::map<std::string, std::string> settings;  ///< that tuning found; empty: the script's
    std::vector<double> train, test;              ///< gradient norms, a value a seed
    double start;                                 ///< mean over seeds
    double spent;                                 ///< ε that the ledger adds up to, replace-one
  };
};
DPSOSP_MEMBERS(PublishedExperiment, stage, variant, epsilon, seeds, tuning, door);
DPSOSP_MEMBERS(PublishedExperiment::Result, settings, train, test, start, spent);

struct StartAtExcess {
  static constexpr ProbeName probe{"lowy-2024/start-at-excess"};
  double excess;
  Index records;
  struct Result {
    double excess, promise, mean_gradient;
    Index steps;
  };
};
DPSOSP_MEMBERS(StartAtExcess, excess, records);
DPSOSP_MEMBERS(StartAtExcess::Result, excess, promise, mean_gradient, steps);

struct MechanismTail {
  static constexpr ProbeName probe{"lowy-2024/exponential-mechanism-tail"};
  Index dimension, records;
  int seeds;
  struct Result {
    int above, seeds;
    double largest, failure;
  };
};
DPSOSP_MEMBERS(MechanismTail, dimension, records, seeds);
DPSOSP_MEMBERS(MechanismTail::Result, above, seeds, largest, failure);

struct ProjectionSize {
  static constexpr ProbeName probe{"lowy-2024/projection-size"};
  Index rank, support, records, dimension, projected;
  double epsilon;
  struct Result {
    double mean_gradient, start, promise;
    Index steps;
  };
};
DPSOSP_MEMBERS(ProjectionSize, rank, support, records, dimension, projected, epsilon);
DPSOSP_MEMBERS(ProjectionSize::Result, mean_gradient, start, promise, steps);

}  // namespace dpsosp::lowy_2024_probe
