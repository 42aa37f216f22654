// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// Two costs of a record: of the gradient's tree and of the Hessian products, or of a refresh and
/// an increment.
struct Costs {
  double first, second;
};
/// zCDP of a record of a refresh and of one of an increment of length w/M, at the noise that
/// Theorem 3.17 prints; replace-one, unit constants.
Costs printed_costs(double alpha, double dimension, double epsilon, double leaves, double w);
/// Share of φ that a record of leaf 1 of a full tree pays, and one of a Hessian batch that answers
/// every product at radius Ξ, by the practical schedule; unit constants, d = 16, δ = 1e-6.
Costs planned_costs(double alpha, double epsilon);

}  // namespace dpsosp::liu_talwar_2025_probe
