// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/multi_well.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "bump.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {
namespace {

/// φ and where its wells are.
struct Wells {
  explicit Wells(const MultiWell& family)
      : count(family.wells),
        deepest(family.deepest - 1),
        half_width(family.half_width),
        radius(family.half_width / static_cast<double>(family.wells)),
        depth(family.depth),
        shallow(family.depth - family.gap),
        bowl(family.bowl) {}

  double centre(Index i) const { return -half_width + static_cast<double>(2 * i + 1) * radius; }
  double depth_of(Index i) const { return i == deepest ? depth : shallow; }

  Jet at(double u) const {
    const double cell = std::floor((u + half_width) / (2 * radius));
    const auto i = static_cast<Index>(std::clamp(cell, 0.0, static_cast<double>(count - 1)));
    const Jet B = bump((u - centre(i)) / radius);
    const double delta = depth_of(i), r = radius;
    const double away = u - centre(deepest), length = hypotenuse(1.0, away);
    return {bowl * away * away / (length + 1) - delta * B.value,
            bowl * away / length - delta / r * B.first,
            bowl / (length * length * length) - delta / (r * r) * B.second,
            -3 * bowl * away / std::pow(length, 5) - delta / (r * r * r) * B.third};
  }

  /// A local maximum between the deepest well and a neighbour; φ″ < 0 there. Needs bowl > 0.
  double hilltop() const {
    const bool right = deepest + 1 < count;
    const double sign = right ? 1 : -1;
    // φ′ points away from the deepest well where the two wells touch, and towards it, by the
    // steepest slope of the neighbour's, inside.
    double from = centre(deepest) + sign * radius;
    double to = from + sign * radius * (1 - 1 / std::sqrt(7.0));
    for (int k = 0; k < 200; ++k) {
      const double middle = 0.5 * (from + to);
      (sign * at(middle).first > 0 ? from : to) = middle;
    }
    return from;
  }

  Index count, deepest;
  double half_width, radius, depth, shallow, bowl;
};

class MultiWellObjective final : public SeparableObjective {
 public:
  MultiWellObjective(Index dimension, const Wells& wells)
      : d_(dimension), weight_(1 / std::sqrt(static_cast<double>(dimension))), wells_(wells) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override {
    double sum = 0;
    for (const double u : x) sum += wells_.at(u).value;
    return weight_ * sum;
  }
  bool coordinates_alike() const override { return true; }
  double coordinate_value(Index, double t) const override { return weight_ * wells_.at(t).value; }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    for (Index j = 0; j < d_; ++j) out[j] = weight_ * wells_.at(x[j]).first;
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    for (Index j = 0; j < d_; ++j) out[j] = weight_ * wells_.at(x[j]).second;
  }

 private:
  Index d_;
  double weight_;
  Wells wells_;
};

}  // namespace

std::string_view MultiWell::summary() const {
  return "(1/sqrt d) sum_j phi(x_j) + z.x on a box, phi with m wells of chosen depths; excess risk "
         "with F* known";
}

ProblemNotes MultiWell::notes() const {
  return {
      .group = "Excess-risk families",
      .formula =
          "F(x) = (1/√d) Σ_j φ(x_j) on |x_j| ≤ h, φ(u) = b(√(1 + (u − p_*)²) − 1) − Σ_{i≤m} δ_i (1 "
          "− (u − p_i)²/r²)⁴₊, r = h/m, p_i = −h + (2i − 1)r, δ_i = δ at the deepest well p_* and "
          "δ − gap at the others. F is C³.",
      .source =
          "constructed for exponential mechanisms, as ganesh-2023, Section 5, needs: Lipschitz "
          "losses on a bounded set, minimum known",
      .critical_points =
          "The supports of the bumps are disjoint and the bowl is not negative, so φ ≥ −δ with "
          "equality at p_* (and at every well if gap = bowl = 0): F* = −√d δ at (p_*, …, p_*). "
          "With bowl > 0 each coordinate has m local minima and m − 1 hilltops between; a point "
          "with one coordinate on a hilltop is a strict saddle."};
}

Fields MultiWell::landscape_fields() {
  using namespace range;
  return {field("wells", wells, between(1, 1000000), "m, wells per coordinate"),
          field("deepest", deepest, at_least(1), "number of the deepest well, from 1"),
          field("depth", depth, positive, "delta, depth of the deepest well"),
          field("gap", gap, not_negative, "how much shallower the others are"),
          field("bowl", bowl, not_negative, "b, slope of the bowl around the deepest well"),
          field("half_width", half_width, positive, "h of the box")};
}

Landscape MultiWell::landscape(Index d) const {
  if (deepest > wells)
    reject(name(), "deepest", static_cast<double>(deepest), fmt::format("in [1, {}]", wells));
  if (!(gap < depth)) reject(name(), "gap", gap, "in [0, depth)");
  const Wells phi(*this);
  const double shallow_slope = phi.shallow / phi.radius * bump_slope;
  if (!(bowl < shallow_slope))
    reject(name(), "bowl", bowl,
           fmt::format("in [0, {:.6g}), so that every well stays a local minimum", shallow_slope));

  const double weight = 1 / std::sqrt(static_cast<double>(d));

  Landscape made;
  made.objective = std::make_shared<MultiWellObjective>(d, phi);
  made.domain = Domain::box(half_width);
  made.starts = {
      .standard = Vector::Zero(d), .random_spread = half_width, .far_radius = half_width};
  made.minimum = -depth / weight;
  made.landmarks = {{"(p_*, …, p_*)", Landmark::Kind::minimiser, Landmark::Of::population,
                     Vector::Constant(d, phi.centre(phi.deepest))}};
  if (bowl > 0 && wells >= 2) {
    Vector saddle = made.landmarks.front().point;
    saddle[0] = phi.hilltop();
    if (phi.at(saddle[0]).second < 0) {  // else the bowl is lost to rounding beside the bumps
      made.starts.saddle = saddle;
      made.landmarks.push_back({"x_1 on a hilltop, other x_j = p_*", Landmark::Kind::strict_saddle,
                                Landmark::Of::population, saddle});
    }
  }
  Vector origin = made.landmarks.front().point;
  origin.head(std::min<Index>(d, 2)).setZero();
  made.slice = first_two_coordinates("F over (x₁, x₂): wells of different depth", std::move(origin),
                                     -half_width, half_width);
  return made;
}

Constants MultiWell::landscape_constants(Index d) const {
  const Wells phi(*this);
  // In cell i the bump's slope is at most δ_i/r sup|B′| and the bowl's at most that at the far end.
  double steepest = 0;
  for (const Index i : {Index{0}, phi.deepest, phi.count - 1}) {
    const double far = std::abs(phi.centre(i) - phi.centre(phi.deepest)) + phi.radius;
    steepest = std::max(
        steepest, phi.depth_of(i) / phi.radius * bump_slope + bowl * far / hypotenuse(1, far));
  }
  const double weight = 1 / std::sqrt(static_cast<double>(d));
  const double r = phi.radius;
  const double bowl_third = 48 / (25 * std::sqrt(5.0)) * bowl;
  Constants made;
  made.set(
      constant::lipschitz,
      proved(steepest, "the domain",
             "In the cell of well i, |φ′| ≤ (δ_i/r) sup|B′| + b D/√(1 + D²) with B = (1 − t²)⁴, "
             "sup|B′| = 1728/(343√7) at t² = 1/7, and D the distance of the cell's far end from "
             "p_*; the outermost cells and the deepest have the largest. ‖∇F‖ ≤ (1/√d)√d max|φ′|.",
             0.98));
  made.set(constant::smoothness,
           proved(weight * (bump_curvature * depth / (r * r) + bowl), "the domain",
                  "The Hessian is diagonal, φ″/√d; |B″| = 8(1 − t²)²|1 − 7t²| ≤ 8 and the bowl's "
                  "second derivative is in (0, b], both largest at p_*."));
  made.set(constant::hessian_lipschitz,
           proved(weight * (bump_third * depth / (r * r * r) + bowl_third), "the domain",
                  "|B‴| = |t|(1 − t²)|144 − 336t²| ≤ 31.621, at t² = (30 − √480)/70, and the "
                  "bowl's third derivative is at most 48b/(25√5); the diagonal entries depend on "
                  "their own coordinate alone."));
  return made;
}

}  // namespace dpsosp
