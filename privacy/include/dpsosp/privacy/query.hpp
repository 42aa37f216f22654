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

/// Everything the curator does with a Gaussian query, computed in one place so that the noise drawn
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
GaussianPlan plan_gaussian(
    const BatchPolicy& policy, BatchUse use, Index records, double limit, const Noise& noise);

/// The event of the same query with its coins made public: sampled Gaussian queries cost what they
/// cost a record that is in the batch. Always a valid, larger charge under replace-one.
Event without_amplification(const Event& event);

}  // namespace dpsosp
