// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

/// What the probes of liu-talwar-2025 share with its claims and exhibits. Includes no algorithm
/// header, because their Point conflicts with that of sweeps.
namespace dpsosp::liu_talwar_2025_probe {

/// A setting of the driver whose exponents liu-talwar-2025 notes, 5 predict.
struct Ablation {
  std::string name;
  std::string what;
  double private_exponent;      ///< of n in the private part, negative
  double statistical_exponent;  ///< of n without privacy, negative
};
const std::vector<Ablation>& ablations();

/// Blocks of NODE(t) for Σ = `most` as Algorithm 1 prints it.
std::vector<std::pair<std::int64_t, std::int64_t>> printed_nodes(std::int64_t t, std::int64_t most);

/// What Theorem 3.17's parameters at one α give a record, with unit constants and logarithms 1; the
/// noise is that of the theorem, α/√d.
struct PrintedNoise {
  double steps;      ///< T, which bounds the leaves of a tree
  double refresh;    ///< (G/b)/σ
  double increment;  ///< (M dx/b_t)/σ where a step is longest over its batch
  double product;    ///< the largest change of a product H(x − anchor), over σ
  double products;   ///< Γ, of one escape
};
PrintedNoise printed_noise(double alpha, double dimension, double epsilon);

// Parameters and results of the probes; probes.cpp and escape_probes.cpp say what each does.

struct SolvedSchedule {
  static constexpr ProbeName probe{"liu-talwar-2025/solved-schedule", 2};
  std::string variant;
  double epsilon, dimension;
  std::optional<std::vector<double>> alpha, records;  ///< one of the two
  struct Result {
    std::vector<double> alpha, records;
  };
};
DPSOSP_MEMBERS(SolvedSchedule, variant, epsilon, dimension, alpha, records);
DPSOSP_MEMBERS(SolvedSchedule::Result, alpha, records);

struct TreeNoise {
  static constexpr ProbeName probe{"liu-talwar-2025/tree-noise"};
  Index leaves, trees, dimension;
  bool covariance;
  struct Result {
    double mean_largest;
    std::optional<double> worst_standard_errors;  ///< of the covariance
  };
};
DPSOSP_MEMBERS(TreeNoise, leaves, trees, dimension, covariance);
DPSOSP_MEMBERS(TreeNoise::Result, mean_largest, worst_standard_errors);

struct OracleErrors {
  static constexpr ProbeName probe{"liu-talwar-2025/oracle-errors"};
  Index batch;
  double distance;
  Index draws;
  struct Result {
    std::array<double, 4> quantiles;  ///< of O1 to O4
  };
};
DPSOSP_MEMBERS(OracleErrors, batch, distance, draws);
DPSOSP_MEMBERS(OracleErrors::Result, quantiles);

struct HessianErrors {
  static constexpr ProbeName probe{"liu-talwar-2025/hessian-errors"};
  double alpha, epsilon;
  int epochs;
  struct Result {
    double median;
    std::int64_t within;
    int epochs;
  };
};
DPSOSP_MEMBERS(HessianErrors, alpha, epsilon, epochs);
DPSOSP_MEMBERS(HessianErrors::Result, median, within, epochs);

struct RampSteps {
  static constexpr ProbeName probe{"liu-talwar-2025/ramp-steps"};
  double gamma, drop;
  struct Result {
    Index steps;
  };
};
DPSOSP_MEMBERS(RampSteps, gamma, drop);
DPSOSP_MEMBERS(RampSteps::Result, steps);

struct UniformGap {
  static constexpr ProbeName probe{"liu-talwar-2025/uniform-gap"};
  Index records, dimension;
  struct Result {
    double gap;
  };
};
DPSOSP_MEMBERS(UniformGap, records, dimension);
DPSOSP_MEMBERS(UniformGap::Result, gap);

struct Escapes {
  static constexpr ProbeName probe{"liu-talwar-2025/escapes", 4};
  std::string problem, method, error;
  double ratio, alpha;
  Index dimension;
  double error_over_alpha;
  Index seeds;
  struct Result {
    static constexpr bool null_for_none = true;
    std::uint64_t left, lowered;
    std::optional<double> steps;  ///< of those that left, on average
    Index allowed_steps;
    double change, unit_decrease;
  };
};
DPSOSP_MEMBERS(Escapes, problem, method, error, ratio, alpha, dimension, error_over_alpha, seeds);
DPSOSP_MEMBERS(Escapes::Result, left, lowered, steps, allowed_steps, change, unit_decrease);

struct FlatEscapes {
  static constexpr ProbeName probe{"liu-talwar-2025/flat-escapes"};
  double gamma;
  bool gamma_in_log;
  Index escapes;
  struct Result {
    std::uint64_t left, lowered;
  };
};
DPSOSP_MEMBERS(FlatEscapes, gamma, gamma_in_log, escapes);
DPSOSP_MEMBERS(FlatEscapes::Result, left, lowered);

struct QuadraticPaths {
  static constexpr ProbeName probe{"liu-talwar-2025/quadratic-paths", 3};
  Index paths;
  struct Result {
    std::int64_t above, above_by_steps;  ///< of Claim 3.7, with its Γ and with t in its place
  };
};
DPSOSP_MEMBERS(QuadraticPaths, paths);
DPSOSP_MEMBERS(QuadraticPaths::Result, above, above_by_steps);

struct StuckPairs {
  static constexpr ProbeName probe{"liu-talwar-2025/stuck-pairs", 2};
  double gamma, share;
  Index pairs;
  struct Result {
    std::uint64_t free;
    Index steps;
  };
};
DPSOSP_MEMBERS(StuckPairs, gamma, share, pairs);
DPSOSP_MEMBERS(StuckPairs::Result, free, steps);

}  // namespace dpsosp::liu_talwar_2025_probe
