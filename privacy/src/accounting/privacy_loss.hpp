// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dpsosp/privacy/accounting/composition.hpp"

namespace dpsosp {

/// The privacy loss L = ln dP/dQ of a pair (P, Q), distributed as under P. Losses are in nats.
struct PrivacyLoss {
  struct Atom {
    double mass, loss;
  };
  /// For x in [low, high]: at(x) is the mass dx and the loss, which increases in x.
  struct Continuous {
    double low, high;
    double scale;  ///< mass and loss are smooth over it, and the loss moves by at most 8
    std::function<Atom(double)> at;
    std::function<double(double)> inverse;  ///< x of a loss; infinite outside its range
  };
  std::vector<Atom> atoms;
  std::optional<Continuous> continuous;
  double above = 0;  ///< bound on the mass of losses beyond that of high
  double below = 0;  ///< bound on the mass of losses before that of low
};

/// Mass that may be cut off at either end of a loss, in (0, 1/2).
struct LossTails {
  double above, below;
};

/// Which data set of two neighbours P belongs to; the pairs of Poisson sampling under add/remove
/// and zero-out differ in it.
enum class Direction {
  remove,  ///< P has the record
  add      ///< Q has the record
};

/// Loss of N(mu, 1) against N(0, 1); mu > 0.
PrivacyLoss gaussian_loss(double mu, const LossTails& tails);

/// Loss of a pair that dominates the event between any two neighbours. Not for unsampled Gaussians,
/// which compose to one gaussian_loss, and not for events that cost nothing (rate 0 or 1,
/// epsilon 0). \throws UnsupportedError where no pair is proved to dominate.
PrivacyLoss dominating_loss(const Event& event, Adjacency adjacency, Direction direction,
                            const LossTails& tails);
/// \param event  of a rate in (0, 1)
PrivacyLoss dominating_loss(const SampledLaplaceEvent& event, Adjacency adjacency,
                            Direction direction);

/// Epsilon of one release, which is pure DP.
double largest_loss(const SampledLaplaceEvent& event, Adjacency adjacency);

}  // namespace dpsosp
