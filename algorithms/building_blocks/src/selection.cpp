// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/selection.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/algorithms/escape.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/event.hpp"

namespace dpsosp {

Candidates::Candidates(Index uniform, Index steps, Stream& stream) {
  for (Index k = 0; k < uniform; ++k) chosen_.push_back(stream.below(steps));
  std::ranges::sort(chosen_);
  chosen_.erase(std::unique(chosen_.begin(), chosen_.end()), chosen_.end());
}

void Candidates::visit(Index t, ConstVectorRef x) {
  if (t == 0) start_ = x;
  if (next_ == chosen_.size() || chosen_[next_] != t) return;
  visited_.emplace_back(x);
  ++next_;
}

void Candidates::add_likely(const std::vector<Vector>& points) {
  likely_.insert(likely_.end(), points.begin(), points.end());
}

std::vector<Vector> Candidates::in_order() const {
  std::vector<Vector> all(likely_.rbegin(), likely_.rend());
  all.insert(all.end(), visited_.rbegin(), visited_.rend());
  if (start_.size() > 0) all.push_back(start_);
  return all;
}

double SelectionParameters::charges() const {
  if (form != SelectionForm::independent) return 1.0;
  const auto anchors = static_cast<double>(Escape::kept_anchors);
  return 2.0 * (static_cast<double>(candidates) + anchors + 2.0);  // the last point and the start
}

double SelectionParameters::leaves(const FilterRule& rule) const {
  return on() ? 1.0 - charges() * rule.charge(PureEvent{epsilon}) / rule.capacity : 1.0;
}

void SelectionParameters::add_fields(Fields& fields, std::string_view share_meaning) {
  using namespace range;
  fields.push_back(field("selection_form", form,
                         "one scaled scalar, two thresholds, or Laplace noise for every question"));
  fields.push_back(
      field("selection_share", share, unit_without_1, std::string(share_meaning) + "; 0 = none"));
  fields.push_back(
      field("selection_epsilon", epsilon, not_negative, "pure epsilon of it; 0 = no selection"));
  fields.push_back(field("selection_alpha", alpha, positive, "scale of the gradient in the test"));
  fields.push_back(
      field("selection_slack", slack, positive, "accept where the scaled scalar is about this"));
  fields.push_back(
      field("selection_candidates", candidates, positive, "uniform iterates among the candidates"));
}

bool selection_fits(const PublicFacts& facts, Calibrator calibrator) {
  return calibrator != Calibrator::exact_gaussian && facts.dual_kind == DualKind::none &&
         facts.dimension <= StationarityTest::largest_dimension;
}

std::optional<Vector> select_stationary(Curator& curator, std::span<const Vector> candidates,
                                        const SelectionParameters& p, double gradient_limit,
                                        double hessian_limit) {
  if (!curator.answers_second_order()) return {};
  const double rho = curator.facts().constants[constant::hessian_lipschitz];
  try {
    StationarityTest test(curator, curator.draw(BatchPolicy::all()),
                          {.epsilon = p.epsilon,
                           .gradient_scale = p.alpha,
                           .curvature_scale = std::sqrt(rho * p.alpha),
                           .gradient_limit = gradient_limit,
                           .hessian_limit = hessian_limit,
                           .slack = p.slack,
                           .form = p.form,
                           .candidates = static_cast<Index>(candidates.size())});
    for (const Vector& x : candidates)
      if (test.accepts(x)) return x;
  } catch (const Refused&) {
  }
  return {};
}

namespace {

/// The outcome's own point, then the candidates.
std::vector<Vector> points_to_ask(const Outcome& outcome, const Candidates& candidates) {
  std::vector<Vector> points{outcome.point};
  const auto others = candidates.in_order();
  points.insert(points.end(), others.begin(), others.end());
  return points;
}

void keep_selected(Outcome& outcome, const std::optional<Vector>& chosen) {
  outcome.counts["selected"] = chosen.has_value() ? 1 : 0;
  if (!chosen) return;
  outcome.point = *chosen;
  outcome.status = Status::certified;
}

/// ‖∇F(x)‖ by one query, its noise's part d s² of the square taken off.
double estimated_gradient_norm(Curator& curator, const Vector& x, double gradient_limit,
                               double noise) {
  const BatchPolicy policy = BatchPolicy::all();
  const GradientQuery query{gradient_limit, Noise::sensitivity_ratio(noise), Block::x};
  const double deviation = plan_gaussian(policy, BatchUse::one_query, curator.facts().records,
                                         gradient_limit, query.noise)
                               .standard_deviation;
  Vector g(x.size());
  curator.gradient(Point(x), curator.draw(policy), query, g);
  const double of_noise = static_cast<double>(x.size()) * deviation * deviation;
  return std::sqrt(std::max(0.0, g.squaredNorm() - of_noise));
}

}  // namespace

void select_output(Outcome& outcome, Curator& curator, const Candidates& candidates,
                   const SelectionParameters& parameters, double gradient_limit,
                   double hessian_limit) {
  if (outcome.status == Status::not_finite) return;
  const std::vector<Vector> points = points_to_ask(outcome, candidates);
  keep_selected(outcome,
                select_stationary(curator, points, parameters, gradient_limit, hessian_limit));
}

Index power_selection_queries(Index candidates, Index products) {
  return (candidates + 2) * (products + 1);
}

void select_by_power(Outcome& outcome, Curator& curator, const Candidates& candidates,
                     const SelectionParameters& p, const PowerMethod& method, double gradient_limit,
                     Stream stream) {
  if (outcome.status == Status::not_finite || !curator.answers_second_order()) return;
  const double rho = curator.facts().constants[constant::hessian_lipschitz];
  std::optional<Vector> chosen;
  try {
    for (const Vector& x : points_to_ask(outcome, candidates)) {
      if (!(estimated_gradient_norm(curator, x, gradient_limit, method.noise) <= p.slack * p.alpha))
        continue;
      const double least = noisy_power_method(curator, BatchPolicy::all(), x, method, stream).value;
      if (least >= -p.slack * std::sqrt(rho * p.alpha)) {
        chosen = x;
        break;
      }
    }
  } catch (const Refused&) {
  }
  keep_selected(outcome, chosen);
}

}  // namespace dpsosp
