// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

/// Parameters and results of the probes of ganesh-2023; probes.cpp says what each does.
namespace dpsosp::ganesh_2023_probe {

struct EscapeTrial {
  static constexpr ProbeName probe{"ganesh-2023/escape"};
  Index dimension;
  double gamma, curvature;
  bool adversarial;
  struct Result {
    bool left;
    Index steps;
  };
};
DPSOSP_MEMBERS(EscapeTrial, dimension, gamma, curvature, adversarial);
DPSOSP_MEMBERS(EscapeTrial::Result, left, steps);

struct SelectionSession {
  static constexpr ProbeName probe{"ganesh-2023/selection"};
  double records, epsilon, spread, alpha, lipschitz, smoothness;
  Index candidates;
  double failure;
  struct Result {
    bool accepted;
    double excess;
  };
};
DPSOSP_MEMBERS(SelectionSession, records, epsilon, spread, alpha, lipschitz, smoothness, candidates,
               failure);
DPSOSP_MEMBERS(SelectionSession::Result, accepted, excess);

struct PopulationSelection {
  static constexpr ProbeName probe{"ganesh-2023/population-selection"};
  Index records, dimension;
  double epsilon, alpha, spread, lipschitz;
  Index candidates;
  double failure;
  std::size_t sessions;
  struct Result {
    double accepted, mean, quantile;
  };
};
DPSOSP_MEMBERS(PopulationSelection, records, dimension, epsilon, alpha, spread, lipschitz,
               candidates, failure, sessions);
DPSOSP_MEMBERS(PopulationSelection::Result, accepted, mean, quantile);

struct OracleTail {
  static constexpr ProbeName probe{"ganesh-2023/oracle-tail"};
  Index dimension, batch;
  double noise;
  bool one_coordinate;
  std::size_t draws;
  struct Result {
    double needed;
  };
};
DPSOSP_MEMBERS(OracleTail, dimension, batch, noise, one_coordinate, draws);
DPSOSP_MEMBERS(OracleTail::Result, needed);

struct Concentration {
  static constexpr ProbeName probe{"ganesh-2023/concentration"};
  Index dimension, records;
  std::size_t draws;
  struct Result {
    double gradient, hessian;
  };
};
DPSOSP_MEMBERS(Concentration, dimension, records, draws);
DPSOSP_MEMBERS(Concentration::Result, gradient, hessian);

struct Sampler {
  static constexpr ProbeName probe{"ganesh-2023/sampler"};
  double scaled_step;
  int chains, rounds;
  struct Result {
    double acceptance, differences, out_of_range, mean_errors, second_errors, mean, target_mean;
  };
};
DPSOSP_MEMBERS(Sampler, scaled_step, chains, rounds);
DPSOSP_MEMBERS(Sampler::Result, acceptance, differences, out_of_range, mean_errors, second_errors,
               mean, target_mean);

struct Divergence {
  static constexpr ProbeName probe{"ganesh-2023/divergence"};
  Index cells;
  int rounds;
  double exponent;
  struct Result {
    double largest_ratio, claimed_ratio;
    int rounds;
    double first, last;
  };
};
DPSOSP_MEMBERS(Divergence, cells, rounds, exponent);
DPSOSP_MEMBERS(Divergence::Result, largest_ratio, claimed_ratio, rounds, first, last);

struct GaussianDivergence {
  static constexpr ProbeName probe{"ganesh-2023/gaussian-divergence"};
  Index cells;
  int rounds;
  double shift, step;
  struct Result {
    double least_ratio, largest_ratio, claimed_ratio, last;
  };
};
DPSOSP_MEMBERS(GaussianDivergence, cells, rounds, shift, step);
DPSOSP_MEMBERS(GaussianDivergence::Result, least_ratio, largest_ratio, claimed_ratio, last);

struct CoinSelection {
  static constexpr ProbeName probe{"ganesh-2023/coins"};
  Index records, coins;
  int draws;
  double bias;
  struct Result {
    double wrong, excess;
  };
};
DPSOSP_MEMBERS(CoinSelection, records, coins, draws, bias);
DPSOSP_MEMBERS(CoinSelection::Result, wrong, excess);

struct CornerMechanism {
  static constexpr ProbeName probe{"ganesh-2023/corner-mechanism"};
  Index records, dimension;
  int draws;
  double epsilon, bias;
  struct Result {
    double wrong, risk;
  };
};
DPSOSP_MEMBERS(CornerMechanism, records, dimension, draws, epsilon, bias);
DPSOSP_MEMBERS(CornerMechanism::Result, wrong, risk);

}  // namespace dpsosp::ganesh_2023_probe
