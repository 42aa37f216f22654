// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/query.hpp"

#include <cmath>
#include <numbers>
#include <variant>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

GaussianPlan plan_gaussian(const BatchPolicy& policy, BatchUse use, Index records, double limit,
                           const Noise& noise) {
  // Where squares underflow, below about 1e-154, a norm reads 0 and clips nothing.
  if (!(limit == 0 || (limit >= 1e-150 && limit <= 1e150)))
    reject("query", "limit", limit, "0 or in [1e-150, 1e150]");
  if (!(noise.value >= 0 && std::isfinite(noise.value)))
    reject("query", "noise", noise.value, "finite and >= 0");
  GaussianPlan plan{};
  plan.divisor = policy.divisor(records);
  plan.sensitivity = 2.0 * limit / plan.divisor;
  plan.standard_deviation =
      noise.unit == Noise::Unit::sensitivity_ratio ? noise.value * plan.sensitivity : noise.value;
  if (plan.sensitivity == 0 || plan.standard_deviation == 0) return plan;
  const double ratio =
      noise.unit == Noise::Unit::sensitivity_ratio ? noise.value : noise.value / plan.sensitivity;
  const bool amplified = use == BatchUse::one_query;
  if (amplified && policy.kind == BatchPolicy::Kind::poisson)
    plan.event = PoissonGaussianEvent{policy.rate, 2.0 * ratio};  // std of the sum over C, not 2C
  else if (amplified && policy.kind == BatchPolicy::Kind::sample)
    plan.event = FixedSizeGaussianEvent{plan.divisor / static_cast<double>(records), ratio};
  else
    plan.event = GaussianEvent{ratio};
  return plan;
}

GaussianPlan plan_goe(const BatchPolicy& policy, Index records, double limit, Index rank,
                      const Noise& noise) {
  const double root = std::sqrt(static_cast<double>(rank));
  GaussianPlan plan = plan_gaussian(policy, BatchUse::several_queries, records, limit,
                                    Noise::sensitivity_ratio(0.0));
  plan.sensitivity *= root;
  // ‖A‖_F² counts an entry off the diagonal twice, so GOE(s) is √2 s in every direction.
  const double isotropic = noise.unit == Noise::Unit::sensitivity_ratio
                               ? noise.value * plan.sensitivity
                               : noise.value * std::numbers::sqrt2;
  if (!(noise.value >= 0 && std::isfinite(noise.value)))
    reject("query", "noise", noise.value, "finite and >= 0");
  plan.standard_deviation = isotropic / std::numbers::sqrt2;
  if (plan.sensitivity > 0 && isotropic > 0)
    plan.event = GaussianEvent{
        noise.unit == Noise::Unit::sensitivity_ratio ? noise.value : isotropic / plan.sensitivity};
  return plan;
}

Event without_amplification(const Event& event) {
  if (const auto* poisson = std::get_if<PoissonGaussianEvent>(&event))
    return GaussianEvent{0.5 * poisson->noise_multiplier};  // of the clip, not of twice the clip
  if (const auto* fixed = std::get_if<FixedSizeGaussianEvent>(&event))
    return GaussianEvent{fixed->noise_multiplier};
  return event;
}

}  // namespace dpsosp
