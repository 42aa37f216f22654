// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "privacy_loss.hpp"

namespace dpsosp {

/// A loss on the lattice step·ℤ: mass[i] at (first + i)·step, `infinite` at infinity; the sum is at
/// most 1.
struct LossDistribution {
  double step = 0;
  std::int64_t first = 0;
  std::vector<double> mass;
  double infinite = 0;
};

/// The true loss less the lattice loss of the same outcome.
struct RoundingError {
  double mean = 0;
  double variance = 0;
  double drop = 0;  ///< largest mean − error
};

/// A loss on a lattice, from both sides.
struct DiscreteLoss {
  /// Pessimistic: the mass at a loss between two lattice points is split between them so that both
  /// P and Q keep theirs, hence H_α becomes its chord between the lattice points e^{k·step} and
  /// nowhere smaller. Losses beyond the upper cut become infinite, those before the lower one are
  /// moved up to it. \source Doroshenko et al. (2022), arXiv:2207.04380.
  LossDistribution split;
  /// Optimistic: outcomes with the same nearest lattice point are merged to one, which is
  /// post-processing; what is left between its loss and the lattice point is the error. What was
  /// cut off is dropped.
  LossDistribution merged;
  RoundingError error;  ///< of merged
};

DiscreteLoss discretise(const PrivacyLoss& loss, double step);

/// The loss as about `nodes` point masses, for planning; tails that are cut off are left out.
std::vector<PrivacyLoss::Atom> sketch(const PrivacyLoss& loss, int nodes);

/// The largest loss below the upper cut.
double largest_loss(const PrivacyLoss& loss);

/// Integration pieces that `loss` needs at any step.
double pieces(const PrivacyLoss& loss);

}  // namespace dpsosp
