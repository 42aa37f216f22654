// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/scheduling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

Index checked_count(std::string_view owner, std::string_view what, double value) {
  if (!(value <= 1e15))
    throw InputError(fmt::format("{}: the schedule needs over 1e15 {}", owner, what));
  return std::max<Index>(1, static_cast<Index>(value));
}

}  // namespace

ProblemNumbers numbers_of(const PublicFacts& facts, bool hessian_lipschitz_needed) {
  const Constants& c = facts.constants;
  const bool stated = hessian_lipschitz_needed || c.contains(constant::hessian_lipschitz);
  return {.n = static_cast<double>(facts.records),
          .d = static_cast<double>(facts.dimension),
          .G = c[constant::lipschitz],
          .M = c[constant::smoothness],
          .rho = stated ? c[constant::hessian_lipschitz] : std::numeric_limits<double>::quiet_NaN(),
          .B = c[constant::suboptimality]};
}

Index count_of(std::string_view owner, std::string_view what, double value) {
  return checked_count(owner, what, std::ceil(value * (1.0 - 1e-12) - 1e-9));
}

Index floor_of(std::string_view owner, std::string_view what, double value) {
  return checked_count(owner, what, std::floor(value));
}

void mark_vacuous(Scheduled& scheduled, double trivial_bound, std::string_view bound_name) {
  if (scheduled.alpha < trivial_bound) return;
  scheduled.utility = Utility::vacuous;
  scheduled.note = fmt::format("vacuous here: alpha = {:.4g} is no smaller than the {} {:.4g}{}{}",
                               scheduled.alpha, bound_name, trivial_bound,
                               scheduled.note.empty() ? "" : "; ", scheduled.note);
}

Field output_field(OutputRule& value) {
  return field("output", value,
               "which visited point is returned; min_estimate: the shortest released estimate");
}

OutputKeeper::OutputKeeper(OutputRule rule, Index steps, Stream& stream) : rule_(rule) {
  if (rule == OutputRule::uniform) chosen_ = stream.below(steps);
}

void OutputKeeper::visit(Index t, ConstVectorRef x, ConstVectorRef estimate) {
  if (rule_ == OutputRule::uniform && t == chosen_) {
    point_ = x;
    kept_ = true;
  } else if (rule_ == OutputRule::min_estimate) {
    const double length = estimate.norm();
    if (kept_ && !(length < least_)) return;
    least_ = length;
    point_ = x;
    kept_ = true;
  }
}

const Vector& OutputKeeper::point(const Vector& last) const { return kept_ ? point_ : last; }

}  // namespace dpsosp
