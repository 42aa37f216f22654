// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/diagonal_objective.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Strict-saddle minimax with a shared dual: x ∈ R^{m+k}, y ∈ R^m,
///
///   f(x, y; e, s) = yᵀ(c ∘ x_{1..m} + e) − (μ/2)‖y‖² + γ Σ_j cos x_j + sᵀx,   ‖e‖, ‖s‖ ≤ 1.
///
/// With ē, s̄ the records' means: y*(x) = (c ∘ x_{1..m} + ē)/μ,
/// Φ(x) = ‖c ∘ x_{1..m} + ē‖²/(2μ) + γ Σ_j cos x_j + s̄ᵀx, Hessian diagonal c_j²/μ − γ cos x_j for
/// j ≤ m and −γ cos x_j beyond; E e = E s = 0. For c_j²/μ > γ the population's origin is a strict
/// saddle with λ_min = −γ and its minima are x_j = 0 (j ≤ m), ±π (j > m).
///
/// Records: under `balanced` sampling e and s are uniform in unit balls and then centred, so that Φ
/// is the population's; otherwise e ∈ {±1}^m/√m and s ∈ {±1}^{m+k}/√(m+k), whose sums are
/// binomials. Without a box ∇f is unbounded, and `lipschitz` is the clip limit: enforced, not
/// proved. \source xu-2026 notes, 8.3.
class CosineMinimax final : public ProblemFamily {
 public:
  std::string_view name() const override { return "cosine-minimax"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 100000; }
  Fields fields() override;
  int numbers_version() const override { return half_width > 0 ? 2 : 1; }

  Index coupled = 10;
  Index free = 10;
  double coupling = 2.0;
  double coupling_ratio = 1.0;
  double strong_concavity = 1.0;
  double gamma = 0.5;
  double clip = 4.0;
  double half_width = 0;  ///< ≥ π: of the box |x_j| ≤ h on which `lipschitz` is proved; 0: none
  RecordSampling sampling = RecordSampling::balanced;
  StartOption start;

 protected:
  Index dimension(const InstanceSpec& spec) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;

 private:
  Vector couplings() const;  ///< c ∈ R^m
};

/// Φ for a coupling vector c ∈ R^m and record means ē ∈ R^m, s̄ ∈ R^{m+k}.
std::unique_ptr<const DiagonalObjective> cosine_minimax_value(Vector coupling,
                                                              double strong_concavity, double gamma,
                                                              Vector mean_dual, Vector mean_primal);

}  // namespace dpsosp
