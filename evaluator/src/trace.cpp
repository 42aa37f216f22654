// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/trace.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

const ObservationPlan& checked(const ObservationPlan& plan) {
  const auto at_least = [](const char* name, Index value, Index bound) {
    if (value < bound)
      reject("ObservationPlan", name, static_cast<double>(value), ">= " + std::to_string(bound));
  };
  at_least("uniform", plan.uniform, 2);
  at_least("per_decade", plan.per_decade, 0);
  if (plan.steps) at_least("steps", *plan.steps, 0);
  return plan;
}

}  // namespace

ThinnedPoints::ThinnedPoints(Index capacity, Index stride) : capacity_(capacity), stride_(stride) {}

void ThinnedPoints::see(Index t, ConstVectorRef x) {
  const Index ordinal = seen_++;
  if (ordinal % stride_ != 0) return;
  if (static_cast<Index>(points_.size()) == capacity_) {
    const std::size_t kept = (points_.size() + 1) / 2;
    for (std::size_t k = 1; k < kept; ++k) points_[k] = std::move(points_[2 * k]);
    points_.resize(kept);
    stride_ *= 2;
    if (ordinal % stride_ != 0) return;
  }
  points_.push_back({t, x});
}

TraceRecorder::TraceRecorder(const ObservationPlan& plan)
    : plan_(checked(plan)),
      uniform_(plan.uniform, plan.steps ? *plan.steps / plan.uniform + 1 : 1) {}

void TraceRecorder::see(Index t, ConstVectorRef x) {
  const Index ordinal = seen_++;
  uniform_.see(t, x);
  last_.t = t;
  last_.x = x;
  if (plan_.per_decade == 0) return;
  const auto next = [&] {
    return std::llround(
        std::pow(10.0, static_cast<double>(exponent_) / static_cast<double>(plan_.per_decade)));
  };
  if (ordinal == next()) logarithmic_.push_back({t, x});
  while (next() <= ordinal) ++exponent_;
}

std::vector<const ThinnedPoints::Point*> TraceRecorder::stored() const {
  std::vector<const ThinnedPoints::Point*> all;
  for (const auto& p : uniform_.points()) all.push_back(&p);
  for (const auto& p : logarithmic_) all.push_back(&p);
  if (seen_ > 0) all.push_back(&last_);
  std::ranges::stable_sort(all, {}, &ThinnedPoints::Point::t);
  const auto same_step = [](const auto* a, const auto* b) { return a->t == b->t; };
  all.erase(std::unique(all.begin(), all.end(), same_step), all.end());
  return all;
}

std::vector<TracePoint> TraceRecorder::evaluate(const Objective& objective,
                                                std::optional<double> hessian_lipschitz,
                                                const CurvatureOptions& options) const {
  std::vector<TracePoint> trace;
  Vector gradient(objective.dimension());
  Vector direction;
  for (const ThinnedPoints::Point* seen : stored()) {
    const Vector& x = seen->x;
    TracePoint p{.t = seen->t};
    CurvatureEstimate estimate = estimate_lambda_min(objective, x, options, direction);
    p.status = estimate.status;
    if (p.status == EvaluationStatus::ok) {
      p.value = objective.value(x);
      objective.gradient(x, gradient);
      p.gradient_norm = gradient.stableNorm();
      if (!std::isfinite(p.gradient_norm)) p.status = EvaluationStatus::non_finite_gradient;
      if (!std::isfinite(p.value)) p.status = EvaluationStatus::non_finite_value;
    }
    if (p.status != EvaluationStatus::ok) {
      trace.push_back({.t = p.t, .status = p.status});
      continue;
    }
    p.lambda_min = estimate.lambda_min;
    p.residual = estimate.residual;
    p.converged = estimate.converged;
    p.products = estimate.products;
    if (hessian_lipschitz)
      p.sosp_level = sosp_level(p.gradient_norm, p.lambda_min, *hessian_lipschitz);
    direction = std::move(estimate.direction);
    trace.push_back(std::move(p));
  }
  return trace;
}

std::optional<std::size_t> best(std::span<const TracePoint> trace) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < trace.size(); ++k) {
    if (!trace[k].sosp_level) continue;
    if (!found || *trace[k].sosp_level < *trace[*found].sosp_level) found = k;
  }
  return found;
}

}  // namespace dpsosp
