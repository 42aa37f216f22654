// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/second_order.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void require_second_order(const AlgorithmCard& card, const PublicFacts& facts,
                          Index largest_dimension) {
  if (facts.dual_kind != DualKind::none)
    throw InputError(
        fmt::format("{}: no record of {} has a Hessian of the value function; choose "
                    "a minimisation problem such as cosine-saddle",
                    card.key, facts.name));
  if (facts.dimension > largest_dimension)
    reject(card.key, "dimension", static_cast<double>(facts.dimension),
           fmt::format("<= {}: Hessians are dense", largest_dimension));
}

void SecondOrderQueries::add_fields(Fields& fields, std::string_view clipped,
                                    std::string_view hessians) {
  fields.push_back(sampling_field(sampling));
  fields.push_back(field("batch", batch, range::not_negative, "b: records of a query"));
  fields.push_back(
      field("clip", clip, range::positive, fmt::format("G: per-record clip of {}", clipped)));
  fields.push_back(
      field("hessian_limit", hessian_limit, range::positive, "M: per-record limit of Hessians"));
  fields.push_back(field("hessian_rank", hessian_rank, range::not_negative,
                         "of a record's Hessian, if the records prove it; 0 = d"));
  fields.push_back(noise_field("gradient_noise", gradient_noise, "std / sensitivity of gradients"));
  fields.push_back(noise_field("hessian_noise", hessian_noise,
                               fmt::format("std / sensitivity of {}", hessians)));
}

void SecondOrderQueries::check(std::string_view owner, const PublicFacts& facts) const {
  require_batch(owner, "batch", sampling, batch, facts.records);
  if (hessian_rank > facts.dimension)
    reject(owner, "hessian_rank", static_cast<double>(hessian_rank),
           "0 or a rank up to the dimension");
}

std::vector<PlannedQuery> SecondOrderQueries::plan(Index records, Index gradients,
                                                   Index hessians) const {
  return {{policy(records), gradients}, {policy(records), hessians, BatchUse::several_queries}};
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
    scheduled.note = fmt::format("alpha = {:.4g} is below {:.4g}, where the noise tolerances hold",
                                 target, smallest);
  }
  return target;
}

}  // namespace dpsosp
