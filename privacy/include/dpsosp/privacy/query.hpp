// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dpsosp/core/point.hpp"
#include "dpsosp/privacy/accounting/event.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// The Gaussian noise of a query, per coordinate of the released mean.
struct Noise {
  enum class Unit {
    sensitivity_ratio,   ///< standard deviation = value · replace-one sensitivity
    standard_deviation,  ///< standard deviation = value, unit of the query
  };
  Unit unit = Unit::sensitivity_ratio;
  double value = 0.0;

  static Noise sensitivity_ratio(double value) { return {Unit::sensitivity_ratio, value}; }
  static Noise standard_deviation(double value) { return {Unit::standard_deviation, value}; }
};

/// A mean of per-record vectors, each clipped to norm `limit`, plus noise.
struct GradientQuery {
  double limit = 0.0;  ///< C, 0 or in [1e-150, 1e150]; unit of the gradient
  Noise noise;
  Block block = Block::x;
};

/// γ clip(∇f(x), C₁) + (1 − γ) clip(∇f(x) − ∇f(x′), C₂) of each record, averaged, plus noise.
struct CombinationQuery {
  double limit = 0.0;             ///< C₁, 0 or in [1e-150, 1e150]; unit of the gradient
  double difference_limit = 0.0;  ///< C₂, likewise
  Noise noise;
  Block block = Block::x;
};

/// A mean of per-record Hessians, each weighed to operator norm `limit`, plus GOE noise.
struct HessianQuery {
  double limit = 0.0;  ///< M, 0 or in [1e-150, 1e150]; unit of the Hessian
  /// r: a record's Hessian has no larger rank. 0 = the dimension. A claim that the records do not
  /// prove is refused.
  Index rank = 0;
  /// A standard deviation is that of an entry off the diagonal, s; on the diagonal it is √2 s. In
  /// R^{d(d+1)/2} with the Frobenius norm that is isotropic noise of deviation √2 s, so a
  /// sensitivity ratio z means s = z · (2 M √r/b)/√2, which costs 1/(2z²) as everywhere.
  Noise noise;
};

/// A mean of per-record Hessian-vector products, the Hessians weighed to `limit`, plus noise.
struct HessianProductQuery {
  double limit = 0.0;  ///< M, 0 or in [1e-150, 1e150]; unit of the Hessian
  Noise noise;
};

/// Sensitivity, noise and charge of a Gaussian query, computed in one place so that the noise drawn
/// and the charge made cannot disagree.
struct GaussianPlan {
  double divisor;             ///< the clipped sum is divided by this
  double sensitivity;         ///< 2C/divisor, replace-one (Poisson: of two data sets with one coin)
  double standard_deviation;  ///< per coordinate of the mean
  std::optional<Event> event;  ///< the charge, replace-one; none if sensitivity or noise is 0
};

/// \param policy   of the batch; with BatchUse::several_queries secret coins do not amplify
/// \param records  n, that sampling rates refer to
/// \throws InputError if the limit is out of range, or the noise is negative or not finite
GaussianPlan plan_gaussian(const BatchPolicy& policy, BatchUse use, Index records, double limit,
                           const Noise& noise);

/// The same for a Hessian of rank `rank` ≥ 1: sensitivity 2M√r/divisor in Frobenius norm, standard
/// deviation of the entries off the diagonal, and no amplification by secret coins.
/// \source privacy-accounting notes, 3
GaussianPlan plan_goe(const BatchPolicy& policy, Index records, double limit, Index rank,
                      const Noise& noise);

/// The event of the same query with its coins made public: sampled Gaussian queries cost what they
/// cost a record that is in the batch. Always a valid, larger charge under replace-one.
Event without_amplification(const Event& event);

}  // namespace dpsosp
