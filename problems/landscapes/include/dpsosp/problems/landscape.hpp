// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// A landscape F and what is known of it beside its constants, without records.
struct Landscape {
  std::shared_ptr<const Objective> objective;  ///< F
  Domain domain;
  Starts starts;
  std::optional<double> minimum;  ///< min F
  std::vector<Landmark> landmarks;
  std::optional<Slice> slice;
};

/// Landscapes whose records tilt them: f(x; z) = F(x) + ⟨z, x⟩ with z ∈ {−X, X}^d/√d, so ‖z‖ = X.
///
/// The gradient depends on the records through their sum alone, which for independent signs is a
/// binomial per coordinate: `whole` and `stream` sampling are exact at O(d) a query. Gradient
/// differences do not depend on the records at all. E z = 0, so the population objective is F; with
/// `balanced` records (z_{2i+1} = −z_{2i}, a last odd one is 0) so is the empirical one.
class LandscapeFamily : public ProblemFamily {
 public:
  Index default_records() const override { return 10000; }
  Fields fields() final;

  double tilt = 1.0;
  RecordSampling sampling = RecordSampling::balanced;
  StartOption start;

 protected:
  void settle(const Stream& random, PublicFacts& facts) const final;
  Constants constants(const PublicFacts& facts) const final;
  void draw(const InstanceSpec& spec, Problem& problem) const final;

  /// Settings of the landscape itself.
  virtual Fields landscape_fields() = 0;
  /// F on R^d. \throws InputError on settings that make no landscape
  virtual Landscape landscape(Index dimension) const = 0;
  /// Constants of F: `lipschitz` is sup ‖∇F‖ on the domain, to which the family adds the records'
  /// own gradient; `suboptimality` is left out and follows from the minimum.
  virtual Constants landscape_constants(Index dimension) const = 0;
};

/// F(x) + ⟨z̄, x⟩.
std::unique_ptr<const Objective> tilted(std::shared_ptr<const Objective> landscape,
                                        Vector mean_tilt);

}  // namespace dpsosp
