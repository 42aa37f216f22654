// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "loss_distribution.hpp"

namespace dpsosp {

/// The periodic lattice on which a sum of losses is computed, and the orders of the moments that
/// bound what it leaves out. With K(t) = ln E[e^{tL}], W the width of the window and ε a loss in
/// it:
struct LossWindow {
  double step;         ///< h
  std::int64_t first;  ///< lowest loss, in steps
  std::size_t points;  ///< a power of 2
  double tilt;    ///< λ > 0; the law e^{λL − K(λ)}dP has its bulk where epsilon is decided
  double beyond;  ///< t > 0: losses above the window have P-mass <= e^{K(t) − t·edge}
  double above;  ///< t > λ: what wraps from above adds <= e^{K(t) − tε − (t−λ)W} to δ(ε)
  double below;  ///< t in [0, λ): the same from below, e^{K(t) − tε − (λ−t)W}
};

/// Distribution of a sum of independent lattice losses: the product of their tilted characteristic
/// functions, each to the power of its count. The wrap-around is bounded as said above: a sum S
/// that comes down to l = S − mW >= ε weighs e^{K(λ)−λl} <= e^{K(λ)−tε}·e^{(t−λ)(S−W)} there, of
/// which Chernoff's inequality takes the mean; from below it is the same with t < λ. A computed
/// coefficient of the sum is within `rounding` of the true one: a transform of m points errs by at
/// most c·log₂(m) units in the last place of the input's sum in each coefficient, and
/// Π(|φ|+η)^n − Π|φ|^n bounds what that does to a product of powers.
class LossComposition {
 public:
  explicit LossComposition(const LossWindow& window);

  /// \param count  >= 1; at most 1e12 in all
  void add(const LossDistribution& loss, std::int64_t count);

  /// Least epsilon >= 0 for which E[(1 − e^{ε−L})₊], with every error added to it, is at most
  /// delta; infinite if the errors alone exceed delta.
  double epsilon_above(double delta) const;
  /// Largest real epsilon for which the same, with every error taken off, exceeds delta; −∞ if
  /// there is none within the window.
  double epsilon_below(double delta) const;
  /// E[(1 − e^{ε−L})₊] with every error added to it, or taken off.
  /// \param epsilon  above: at the window's lowest loss or more
  double delta_above(double epsilon) const;
  double delta_below(double epsilon) const;

 private:
  struct Sum {
    std::vector<double> mass;  // tilted; by lattice point of the window
    double rounding;           // of each
  };
  Sum transformed() const;
  Sum in_window(std::span<const double> cyclic, double factor, double rounding) const;
  double slack() const;
  double log_weight(double point) const;
  double tail() const;
  std::pair<double, double> wrapped() const;

  double delta(const Sum& sum, double rounding, double epsilon) const;
  template <class Target>
  double crossing(const Sum& sum, double rounding, const Target& target) const;

  LossWindow window_;
  std::vector<double> log_modulus_, log_modulus_bound_, phase_;  // by frequency
  std::vector<double> single_;  // the cyclic tilted masses while there is one loss: no transform
  std::int64_t shift_ = 0;      // of the sum, in steps, taken out of the phases
  double count_ = 0;
  struct {
    double tilt = 0, beyond = 0, above = 0, below = 0;
  } moment_;               // K at the orders of the window, finite losses
  double log_finite_ = 0;  // ln P(L finite)
};

}  // namespace dpsosp
