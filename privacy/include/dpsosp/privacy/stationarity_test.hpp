// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// What a point must be to be accepted, and what the answer may cost. Numbers from 1e-150 to 1e150.
struct StationaritySpec {
  double epsilon = 0;          ///< of the whole session, whatever the number of questions
  double gradient_scale = 0;   ///< α
  double curvature_scale = 0;  ///< sqrt(ρα)
  double gradient_limit = 0;   ///< G, per record
  double hessian_limit = 0;    ///< M, per record, operator norm
  double slack = 1.5;          ///< accept where the scaled scalar is at most about this
};

/// AboveThreshold on one scalar: is x nearly stationary to second order?
///
///   q(x) = max(‖∇F(x)‖/α, −λ_min(∇²F(x))/sqrt(ρα)),   accept if q(x) + Lap(4s/ε) ≤ slack +
///   Lap(2s/ε),
///
/// F the mean over the batch of per-record clipped gradients and weighed Hessians, so that
/// exchanging a record moves q by at most s = max(2G/(bα), 2M/(b sqrt(ρα))) (λ_min is 1-Lipschitz
/// in operator norm). ε-DP in all, charged when the session opens; it ends with the first yes.
/// λ_min is a dense solve, so the dimension is at most 512.
/// \source privacy-accounting, section 11 (one scalar test); avdiukhin-2024, section 2.3.
class StationarityTest {
 public:
  static constexpr Index largest_dimension = 512;

  /// Opens the session and charges it. \param batch  public membership; \param curator outlives it
  /// \throws BudgetExhausted, InputError
  StationarityTest(Curator& curator, const Batch& batch, const StationaritySpec& spec);

  /// One session, one yes: of a copy, each would answer its own with the noise of one threshold.
  StationarityTest(const StationarityTest&) = delete;
  StationarityTest& operator=(const StationarityTest&) = delete;

  /// Whether x is accepted; never where it is not finite. \throws InputError after the first yes
  bool accepts(ConstVectorRef x);

  double sensitivity() const { return sensitivity_; }
  std::int64_t questions() const { return questions_; }

 private:
  double scalar(ConstVectorRef x);

  Curator* curator_;
  Batch batch_;
  StationaritySpec spec_;
  double sensitivity_ = 0;
  double threshold_ = 0;  // with its noise
  std::int64_t questions_ = 0;
  bool open_ = true;
};

}  // namespace dpsosp
