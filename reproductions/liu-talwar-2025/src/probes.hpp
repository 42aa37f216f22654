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

/// Two costs of a record: of the gradient's tree and of the Hessian products.
struct Costs {
  double first, second;
};
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
/// Share of φ that a record of leaf 1 of a full tree pays, and one of a Hessian batch that answers
/// every product at radius Ξ, by the practical schedule; unit constants, d = 16, δ = 1e-6.
Costs planned_costs(double alpha, double epsilon);

}  // namespace dpsosp::liu_talwar_2025_probe
