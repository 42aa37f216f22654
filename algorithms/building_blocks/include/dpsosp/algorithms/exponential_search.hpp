// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"

namespace dpsosp {

/// Which finite set an exponential mechanism searches.
enum class CandidateSet {
  net,      ///< every point of a net of the set, enumerated
  product,  ///< the product grid of a box, for losses that are sums over coordinates: any dimension
};

constexpr auto words_of(CandidateSet) {
  using enum CandidateSet;
  return word_list<CandidateSet>("candidate set", {{net, "net"}, {product, "product"}});
}

/// A choice among the points of a net of the search set by the exponential mechanism on the loss.
/// The search set is the problem's domain; where that is R^d, |x_j| ≤ domain_radius for separable
/// losses and ‖x‖ ≤ domain_radius for others.
struct ExponentialSearch {
  CandidateSet candidates = CandidateSet::net;
  double net_radius = 0.5;
  double inverse_temperature = 1.0;
  double lipschitz = 1.0;  ///< L: losses are clamped to f(c; z) ± L‖w − c‖
  double domain_radius = 1.0;
  Index largest_net = 20000;  ///< points that may be enumerated; schedules coarsen the net

  void add_fields(Fields& fields);
  void check(std::string_view owner, const PublicFacts& facts) const;

  Domain set(const PublicFacts& facts) const;
  /// D.
  double diameter(const PublicFacts& facts) const { return set(facts).diameter(facts.dimension); }
  Net net(const PublicFacts& facts) const;
  ProductGrid grid(const PublicFacts& facts) const;
  /// ln N.
  double log_size(const PublicFacts& facts) const;
  /// λR = 2λLD/n.
  double epsilon(const PublicFacts& facts) const;

  /// `product` where the problem allows it, else `net`.
  void choose_candidates(const PublicFacts& facts);
  /// Sets rad, enlarged until a net that is enumerated has at most largest_net points.
  /// \return whether it was enlarged
  bool set_radius(double radius, const PublicFacts& facts);

  /// The whole method: shows the start, chooses.
  Outcome run(Curator& curator, Observer& observer) const;
};

/// Refuses problems whose records answer no losses: those with a dual.
void refuse_any_dual(const AlgorithmCard& card, const PublicFacts& facts);

}  // namespace dpsosp
