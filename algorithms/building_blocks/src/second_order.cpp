// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/second_order.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void require_second_order(const AlgorithmCard& card,
                          const PublicFacts& facts,
                          Index largest_dimension) {
  if (facts.dual_kind != DualKind::none)
    throw InputError(
        fmt::format("{}: no record of {} has a Hessian of the value function; choose "
                    "a minimisation problem such as cosine-saddle",
                    card.key,
                    facts.name));
  if (facts.dimension > largest_dimension)
    reject(card.key,
           "dimension",
           static_cast<double>(facts.dimension),
           fmt::format("<= {}: Hessians are dense", largest_dimension));
}

double gradient_noise_norm(double deviation, double d) { return deviation * std::sqrt(d); }
double hessian_noise_norm(double deviation, double d) { return 2.0 * deviation * std::sqrt(d); }
double hessian_noise_tail(double deviation, double failure) {
  return 2.0 * deviation * std::sqrt(std::log(1.0 / failure));
}

double gradient_deviation(double G, double n, double rho, double count) {
  return 2.0 * G / n * noise_ratio_for(rho, count);
}

double goe_deviation(double M, double n, double rank, double rho, double count) {
  return 2.0 * M * std::sqrt(rank) / n * noise_ratio_for(rho, count) / std::numbers::sqrt2;
}

double targeted_alpha(double target, double smallest, Scheduled& scheduled) {
  if (!(target > 0)) return smallest;
  if (target < smallest) {
    scheduled.utility = Utility::outside_theory;
    scheduled.note = fmt::format(
        "alpha = {:.4g} is below {:.4g}, where the noise tolerances hold", target, smallest);
  }
  return target;
}

}  // namespace dpsosp
