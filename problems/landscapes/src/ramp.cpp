// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/ramp.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {
namespace {

class RampObjective final : public SeparableObjective {
 public:
  RampObjective(Index dimension, double slope, double bend)
      : d_(dimension), slope_(slope), bend_(bend) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override {
    return slope_ * (x[0] * x[0] / (hypotenuse(x[0], bend_) + bend_));  // no cancellation near 0
  }
  double coordinate_value(Index j, double t) const override {
    return j == 0 ? slope_ * (t * t / (hypotenuse(t, bend_) + bend_)) : 0.0;
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out.setZero();
    out[0] = slope_ * x[0] / hypotenuse(x[0], bend_);
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out.setZero();
    const double length = hypotenuse(x[0], bend_);
    out[0] = slope_ * (bend_ / length) * (bend_ / length) / length;
  }

 private:
  Index d_;
  double slope_;
  double bend_;  // s
};

}  // namespace

std::string_view Ramp::summary() const {
  return "alpha (sqrt(x_1^2 + s^2) - s) + z.x, s = alpha/beta; the T steps that first-order "
         "stationarity costs are needed";
}

ProblemNotes Ramp::notes() const {
  return {.group = "Worst cases for first-order methods",
          .formula =
              "F(x) = α(√(x_1² + s²) − s), s = α/β, x₀ = (Δ/α, 0, …, 0); with `steps` = T, α = "
              "√(βΔ/T). Steps of 1/(2β) need about 2T to cover the ramp, on which ‖∇F‖ ≈ α.",
          .source = "lowy-2024 notes, 6.7",
          .critical_points = "F is convex; the minima are x_1 = 0, F* = 0. No saddles."};
}

Fields Ramp::landscape_fields() {
  using namespace range;
  return {
      field("slope", slope, positive, "alpha, the gradient norm on the ramp; used where steps = 0"),
      field("smoothness", smoothness, positive, "beta"),
      field("drop", drop, positive, "Delta, x_1 starts at Delta/alpha"),
      field("steps", steps, not_negative, "T, sets alpha = sqrt(beta Delta/T); 0 keeps slope")};
}

double Ramp::gradient() const {
  return steps > 0 ? std::sqrt(smoothness * drop / static_cast<double>(steps)) : slope;
}

Landscape Ramp::landscape(Index d) const {
  const double alpha = gradient();
  const double bend = alpha / smoothness;
  const double length = drop / alpha;

  Landscape made;
  made.objective = std::make_shared<RampObjective>(d, alpha, bend);
  made.domain = Domain::box(2 * length);
  made.starts = {
      .standard = length * Vector::Unit(d, 0), .random_spread = length, .far_radius = 2 * length};
  made.minimum = 0.0;
  made.landmarks = {
      {"origin", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Zero(d)}};
  made.slice = first_two_coordinates("F over (x₁, x₂): two ramps and the bend between",
                                     Vector::Zero(d), -1.5 * length, 1.5 * length);
  return made;
}

Constants Ramp::landscape_constants(Index) const {
  const double alpha = gradient();
  Constants made;
  made.set(constant::lipschitz,
           proved(alpha, "everywhere",
                  "∂_1 F = αx_1/√(x_1² + s²), below α in absolute value and near it for |x_1| ≫ s.",
                  0.94));
  made.set(constant::smoothness,
           proved(smoothness, "everywhere",
                  "∂_1² F = αs²/(x_1² + s²)^{3/2} ∈ (0, α/s], attained at 0."));
  made.set(constant::hessian_lipschitz,
           proved(48 / (25 * std::sqrt(5.0)) * smoothness * smoothness / alpha, "everywhere",
                  "|∂_1³ F| = 3αs²|x_1|/(x_1² + s²)^{5/2} is largest at |x_1| = s/2, where it is "
                  "48/(25√5) α/s² ≈ 0.8587 β²/α."));
  return made;
}

}  // namespace dpsosp
