// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/separable_pl.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {
namespace {

double kappa_slope(double t) { return 2 * t + 3 * portable_sin(2 * t); }

class SeparablePlObjective final : public SeparableObjective {
 public:
  explicit SeparablePlObjective(Index d) : d_(d), root_d_(std::sqrt(static_cast<double>(d))) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override {
    return x.squaredNorm() + 3 * sines(root_d_ * x).array().square().mean();
  }
  bool coordinates_alike() const override { return true; }
  double coordinate_value(Index, double t) const override {
    const double sine = portable_sin(root_d_ * t);
    return t * t + 3 * sine * sine / static_cast<double>(d_);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = 2 * x;
    out.array() += (3 / root_d_) * sines(2 * root_d_ * x).array();
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out = 2 + 6 * cosines(2 * root_d_ * x).array();
  }

 private:
  Index d_;
  double root_d_;
};

/// max |κ′| on |t| ≤ width: at the end or where κ″ = 2 + 6 cos 2t = 0.
double largest_slope(double width) {
  double found = std::abs(kappa_slope(width));
  const double half_turn = 0.5 * std::acos(-1.0 / 3);  // κ″ falls through 0 here, up to a period π
  // κ′ gains 2π a period at these maxima, so the last one counts; its minima are positive
  if (width >= half_turn) {
    const double periods = std::floor((width - half_turn) / std::numbers::pi);
    found = std::max(found, kappa_slope(half_turn + periods * std::numbers::pi));
  }
  return found;
}

}  // namespace

std::string_view SeparablePl::summary() const {
  return "(1/d) sum_j k(sqrt(d) x_j) + z.x, k(t) = t^2 + 3 sin(t)^2; PL with a certified constant";
}

ProblemNotes SeparablePl::notes() const {
  return {
      .group = "Families of Lowy, Ullman and Wright",
      .formula =
          "F(x) = (1/d) Σ_j κ(√d x_j), κ(t) = t² + 3 sin² t, after Karimi, Nutini and Schmidt "
          "(2016). A record adds ⟨z, x⟩ with z_j = ±X/√d, so a coordinate of the empirical "
          "objective is κ(u) + c u with |c| ≤ X; X = ½ by default. The PL constant does not depend "
          "on d.",
      .source = "lowy-2024 notes, 6, Z5",
      .critical_points =
          "One stationary point, the minimum: 0 for F, and near it for the empirical objective of "
          "independent records as long as |c| < 1.544. κ″ = 2 + 6 cos 2t is down to −4, so F is "
          "not convex. The standard start is √d x_j = 2, where κ″ < 0."};
}

Fields SeparablePl::landscape_fields() {
  return {field("half_width", half_width, range::positive, "U, of the box in sqrt(d) x")};
}

Landscape SeparablePl::landscape(Index d) const {
  const double root_d = std::sqrt(static_cast<double>(d));

  Landscape made;
  made.objective = std::make_shared<SeparablePlObjective>(d);
  made.domain = Domain::box(half_width / root_d);
  made.starts = {.standard = Vector::Constant(d, std::min(2.0, half_width) / root_d),
                 .random_spread = 1 / root_d,
                 .far_radius = 10 * half_width};
  made.minimum = 0.0;
  made.landmarks = {
      {"origin", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Zero(d)}};
  made.slice =
      first_two_coordinates("F over (x₁, x₂): one minimum, and plateaus that are not convex",
                            Vector::Zero(d), -half_width / root_d, half_width / root_d);
  return made;
}

Constants SeparablePl::landscape_constants(Index d) const {
  Constants made;
  made.set(constant::lipschitz,
           proved(largest_slope(half_width), "the domain",
                  "‖∇F‖² = (1/d) Σ_j κ′(√d x_j)², κ′ = 2t + 3 sin 2t, and max |κ′| on |t| ≤ U is "
                  "at U or at the last t ≤ U with cos 2t = −1/3 and sin 2t > 0: it gains 2π a "
                  "period there, and its minima in t > 0 are positive, from 1.544 on."));
  made.set(constant::smoothness,
           proved(8.0, "everywhere",
                  "The Hessian is diagonal with entries κ″ = 2 + 6 cos 2t ∈ [−4, 8]."));
  made.set(constant::hessian_lipschitz,
           proved(12 * std::sqrt(static_cast<double>(d)), "everywhere",
                  "A diagonal Hessian whose entries depend on their own coordinate alone moves by "
                  "the largest √d |κ‴| a unit, κ‴ = −12 sin 2t."));
  if (centred(sampling))
    made.set(constant::pl,
             proved(pl_centred, "everywhere",
                    "‖∇F‖² and F are (1/d) Σ_j of κ′² and κ, so κ′² ≥ 2μκ is enough. For |t| ≤ "
                    "0.8, κ′ ≥ |t| min κ″ ≥ 1.82 |t| and κ ≤ 4t²; for |t| ≥ 3, κ′ ≥ 2|t| − 3 and κ "
                    "≤ t² + 3; between, interval arithmetic (a test repeats it). The minimum is "
                    "0.175531, at t = 2.2017."));
  else if (tilt <= certified_tilt)
    made.set(constant::pl,
             proved(pl_tilted, "everywhere",
                    "A coordinate is κ(t) + ct with |c| ≤ ½, its minimiser s has c = −κ′(s), |s| ≤ "
                    "0.06263; (κ′(t) − κ′(s))² ≥ 2μ(κ(t) − κ(s) − κ′(s)(t − s)) is enough. For |t| "
                    "≤ 0.85, κ″ ≥ 1.22 between s and t and κ″ ≤ 8; for |t| ≥ 4, |κ′(t) − κ′(s)| ≥ "
                    "2|t| − 3.5; between, interval arithmetic over (s, t) (a test repeats it). The "
                    "minimum is 0.095519, at |c| = ½, t = 2.1947."));
  return made;
}

}  // namespace dpsosp
