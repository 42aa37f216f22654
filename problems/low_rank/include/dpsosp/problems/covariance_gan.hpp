// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/design.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// A linear generator against a quadratic critic: matching a covariance by a low-rank one.
///
///   f(U, Y; z) = ⟨Y, zzᵀ − UUᵀ⟩ − (μ/2)‖Y‖_F²,  U ∈ R^{p×r}, Y symmetric p × p,
///   Y*(U) = (S − UUᵀ)/μ,  Φ(U) = ‖S − UUᵀ‖_F²/(2μ),  S = (1/n) Σ zzᵀ.
///
/// y ∈ R^{p(p+1)/2} holds the lower triangle of Y by columns, entries off the diagonal times √2, so
/// that ‖y‖ = ‖Y‖_F. Given Y, ∇_U f = −2YU is the same for every record: a query of the block x
/// costs no privacy. Records are z = S*^{1/2} a with a uniform on ‖a‖ = √p or N(0, I), and S* has
/// `planted_rank` eigenvalues from `planted_norm` down to `planted_norm`/`condition`, the others
/// at `floor`. \source xu-2026 notes, 8.4
class CovarianceGan final : public ProblemFamily {
 public:
  std::string_view name() const override { return "covariance-gan"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 1000; }
  Fields fields() override;

  Index rows = 6;
  Index rank = 2;
  Index planted_rank = 2;
  double planted_norm = 2.0;
  double condition = 1.5;
  double floor = 0.2;
  double strong_concavity = 1.0;
  double domain_factor = 1.5;
  double initial_spread = 0.1;
  Design design = Design::sphere;
  StartOption start;

 protected:
  Index dimension(const InstanceSpec& spec) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// The records of given samples (p × n, column i is z_i), for tests and loaders.
std::unique_ptr<const AnyRecords> covariance_gan_records(Matrix samples, Index rank,
                                                         double strong_concavity);
/// Φ for a given covariance S.
std::unique_ptr<const Objective> covariance_gan_value(Matrix covariance, Index rank,
                                                      double strong_concavity);

}  // namespace dpsosp
