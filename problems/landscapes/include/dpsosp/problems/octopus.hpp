// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// The octopus: d strict saddles in a row, each of which costs gradient descent 1 + L/γ times the
/// steps of all before it. On |x_j| ≤ 6τ, with w(x_0) = 1 and even functions m, w, q,
///
///   F(x) = Σ_i L m(x_i) − (L + γ) w(x_{i−1}) q(x_i),   t = (|u| − τ)/τ,
///   |u| ≤ τ:        m = q = u²,                                             w = 0;
///   τ ≤ |u| ≤ 2τ:   q′ = 2τ(1 − t)²(1 + 3t), m′ = τ(2 + 2t − 24t² + 16t³),  w = 10t³ − 15t⁴ + 6t⁵;
///   |u| ≥ 2τ:       q = 13τ²/6, m = (|u| − 4τ)² − 4τ²,                      w = 1.
///
/// On the tube of the source (all before x_i beyond 2τ, all after it within τ) this is the
/// published function; off the tube the source only says that an extension exists.
class Octopus final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "octopus"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  double contraction = 1.0;  ///< L ≥ γ: coordinates that wait have curvature 2L
  double gamma = 0.5;
  double tube = 2.718281828459045;

 protected:
  Fields landscape_fields() override;
  Index default_dimension() const override { return 5; }
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
