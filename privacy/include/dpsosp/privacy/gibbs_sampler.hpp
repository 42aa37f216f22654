// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/privacy/alternate_sampler.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {
namespace door {
class GibbsSampler;
}

/// Law and promised accuracy of a Gibbs draw. Numbers from 1e-100 to 1e100.
struct GibbsSpec {
  double inverse_temperature = 0;  ///< β
  double regularizer = 0;          ///< μ ≥ 0
  double lipschitz = 0;            ///< G: losses are clamped to f(c; z) ± GD/2, c = 0, D = diam K
  Domain domain;                   ///< K, a box or ball around 0
  GibbsMethod method = GibbsMethod::rejection;
  double step = 0;            ///< h, of alternating methods
  Index rounds = 0;           ///< T, of alternating methods
  double sampling_error = 0;  ///< δ_s: total variation between the draw's law and π, on any
                              ///< records; 0 for rejection
};

/// Rounds after which the exact alternating chain is within δ_s of π in total variation:
/// ⌈ln(8βGD/δ_s²)/(2 ln(1 + h/C))⌉ with C = e^{βGD}/(βμ), a log-Sobolev constant of π whatever the
/// records are (Bakry-Émery and Holley-Stroock; clamped losses vary by GD at most), and KL(π_0‖π) ≤
/// βGD. Infinite where μ = 0.
/// \param range  GD
/// \source ganesh-2023, Theorem D.1; ganesh-2023 notes, 3.2
double alternating_rounds(double inverse_temperature, double regularizer, double range, double step,
                          double error);

/// One draw from π(x) ∝ exp(−βF(x) − (βμ/2)‖x‖²) on K, F the mean over the batch of losses clamped
/// to f(c; z) ± GD/2.
///
/// Exchanging a record moves the log-density within an interval of length 2βGD/n, so an exact draw
/// is 2βGD/n-DP with that bounded range; one that is exact but for δ_s pays (1 + e^ε)δ_s of δ. A
/// draw by the stochastic method is inexact by an amount that no proof here bounds; its curator's
/// label is `conditional`. The log-Sobolev charge (2C(βG/n)² of zCDP) needs losses that are
/// Lipschitz, which clamping does not enforce: it is not used.
/// \source ganesh-2023 notes, 2.4 and 4
class GibbsSampler {
 public:
  /// \param batch  public membership; \param curator  outlives the sampler
  /// \throws InputError, also of fewer rounds than `sampling_error` needs; of simulated records
  /// with the stochastic method too, which looks at single records
  GibbsSampler(Curator& curator, const Batch& batch, const GibbsSpec& spec);
  ~GibbsSampler();
  GibbsSampler(GibbsSampler&&) noexcept;
  GibbsSampler& operator=(GibbsSampler&&) noexcept;

  /// 2βGD/n.
  double epsilon() const;
  /// \throws BudgetExhausted (nothing drawn, out untouched)
  void sample(VectorRef out);

 private:
  std::unique_ptr<door::GibbsSampler> session_;
};

}  // namespace dpsosp
