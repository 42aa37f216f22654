// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_sigmoid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "glm_labels.hpp"

namespace dpsosp {

double sigmoid_quasar_convexity(double reach) {
  // The steepest chord of s that ends at `reach` is the tangent at τ ∈ (−reach, 0]; bisection.
  double low = -reach, high = 0;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    const bool chord_is_steeper =
        sigmoid(reach) - sigmoid(middle) > sigmoid_slope(middle) * (reach - middle);
    (chord_is_steeper ? low : high) = middle;
  }
  return std::min(1.0, 2 * sigmoid_slope(reach) / sigmoid_slope(low));
}

namespace {

/// min ‖∇F‖²/(2F) over a polar grid of the plane of w* = ‖w*‖ e₁; found at −radius·e₁.
double least_pl_ratio(const Objective& F, double radius) {
  constexpr int distances = 4;
  constexpr int angles = 4;
  Vector gradient(F.dimension()), w = Vector::Zero(F.dimension());
  double least = std::numeric_limits<double>::infinity();
  for (int i = 1; i <= distances; ++i)
    for (int j = 0; j <= angles; ++j) {
      const double angle = std::numbers::pi * j / angles;
      w[0] = radius * i / distances * portable_cos(angle);
      if (w.size() > 1) w[1] = radius * i / distances * portable_sin(angle);
      const double value = F.value(w);
      if (!(value > 1e-9)) continue;  // w*
      F.gradient(w, gradient);
      least = std::min(least, gradient.squaredNorm() / (2 * value));
    }
  return least;
}

}  // namespace

std::string_view GlmSigmoid::summary() const {
  return "(s(<w,x>) - y)^2/2, s logistic, |x| <= 1; quasar-convex and PL where y = s(<w*,x>)";
}

ProblemNotes GlmSigmoid::notes() const {
  return {
      .group = "Generalised linear models",
      .formula =
          "f(w; x, y) = ½(s(⟨w, x⟩) − y)², s(t) = 1/(1 + e^{−t}), on ‖w‖ ≤ B (`radius`). x has a "
          "law on ‖x‖ ≤ 1 that rotations leave alone (`features`), w* a random direction and the "
          "length `planted_norm`. y = s(⟨w*, x⟩) (`realisable`) or y ∈ {0, 1} with "
          "P(y = 1) = s(⟨w*, x⟩), exchanged with probability `flips` (`binary`). With `support` = "
          "K the law is uniform on K such atoms. Population objective: the atoms' mean, or a "
          "quadrature over the plane of w and w*.",
      .source = "lowy-2024 notes, 6 (Z3)",
      .critical_points =
          "Realisable: w* has F = 0 and is the only stationary point on ‖w‖ ≤ B if the features "
          "span R^d; the Hessian is indefinite where a record has (y − s)s″ > s′². Binary: w* "
          "minimises the population objective if `flips` = 0. No strict saddle is known."};
}

Fields GlmSigmoid::model_fields() {
  return {field("labels", labels, "y = s(<w*,x>), or 1 with that probability and else 0"),
          field("flips", flips, range::between(0, 0.5),
                "probability that a binary label is exchanged")};
}

GlmFamily::Model GlmSigmoid::model() const {
  if (labels == Labels::realisable && flips > 0)
    reject(name(), "flips", flips, "0 with labels = realisable");
  Model made;
  made.loss = sigmoid_square_loss();
  made.extreme_labels = Vector{{0, 1}};
  if (labels == Labels::realisable) {
    made.draw = [](double u, Stream&) { return sigmoid(u); };
    made.expected = [loss = made.loss](int order, ConstVectorRef t, ConstVectorRef u,
                                       VectorRef out) {
      loss->derivative(order, t, u.unaryExpr(&sigmoid), out);
    };
    made.exact_fit = true;
  } else {
    made.draw = binary_label(flips);
    made.expected = expected_binary_loss(made.loss, flips);
    made.planted_minimises = flips == 0;
  }
  return made;
}

void GlmSigmoid::add_constants(const Model& law, const PublicFacts& facts,
                               Constants& constants) const {
  if (labels != Labels::realisable) return;
  const double from = facts.initial_point.norm();
  const double gap = sigmoid(from) - sigmoid(-planted_norm);
  constants.set(constant::suboptimality,
                proved(0.5 * gap * gap, "initial point",
                       "F* = 0 and F(x₀) is a mean of ½(s(t) − s(u))² with |t| ≤ ‖x₀‖ and |u| ≤ "
                       "‖w*‖, largest at the ends t = ‖x₀‖, u = −‖w*‖.",
                       0.159));
  if (!std::isfinite(radius)) return;
  const double q = sigmoid_quasar_convexity(radius);
  if (q > 0)
    constants.set(
        constant::quasar_convexity,
        proved(q, "the domain",
               "With t = ⟨w, x⟩, u = ⟨w*, x⟩ ∈ [−B, B], ⟨∇F, w − w*⟩ is the mean of s′(t)(s(t) − "
               "s(u))(t − u) = r·(s(t) − s(u))², r = s′(t)/κ with κ the slope of the chord of s "
               "from u to t, and F − F* that of ½(s(t) − s(u))²; so q = min(1, 2 inf r). By "
               "symmetry t ≥ 0. For fixed t the steepest chord is tangent, at τ ∈ (−t, 0]: κ = "
               "s′(τ). Along t, (ln s′(t)/κ)′ = −tanh(t/2) + (1 − s′(t)/s′(τ))/(t − τ) ≤ 0, as "
               "s′(τ) − s′(t) = ∫_{|τ|}^t s′ tanh(·/2) ≤ s′(τ) tanh(t/2)(t − |τ|). So the infimum "
               "is at t = B: q = 2s′(B)/s′(τ_B), attained by one record of length 1.",
               0.452));
  const auto population = turned_population(law, facts.dimension);
  if (!population) return;
  const double mu = least_pl_ratio(*population, radius);
  if (!(mu > 0)) return;  // flat to rounding somewhere on a wide domain
  const std::string region =
      "the domain, of the population objective, which depends on w through two numbers: the least "
      "ratio on a polar grid of them";
  constants.set(constant::pl, {mu, Origin::estimated, region});
  constants.set(constant::kl_gamma, {1 / std::sqrt(2 * mu), Origin::estimated, region});
  constants.set(constant::kl_exponent, {2, Origin::estimated, region});
}

}  // namespace dpsosp
