// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Location with a ripple: f(x; z) = (1/d) Σ_j φ(√d x_j − z_j), z ∈ {−1, 0, 1}^d,
/// φ(t) = √(1 + t²) − 1 + A (1 − cos ωt), on the box |√d x_j| ≤ s₀.
///
/// The coordinates of a record are independent, with P(z_j = 1) ∈ [0.2, 0.5] and
/// P(z_j = −1) ∈ [0.1, 0.3] that are public and drawn once from `law_seed`, so that no public fact
/// depends on the records. Both objectives are sums over coordinates with three weights each; their
/// global minima are found by branch and bound. \source lowy-2024 notes, 6 (Z1).
class RippleLocation final : public ProblemFamily {
 public:
  std::string_view name() const override { return "ripple-location"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;

  double amplitude = 0.1;
  double frequency = 6.283185307179586;  ///< ω > 0; 2π is the period of the data
  double half_width = 2;  ///< s₀ ≥ 1 + 2π/ω, so that the box holds every minimiser
  Index law_seed = 0;
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  Index default_dimension() const override { return 16; }
  void check_settings(Index dimension) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

}  // namespace dpsosp
