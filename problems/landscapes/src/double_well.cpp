// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/double_well.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {
namespace {

class DoubleWellObjective final : public SeparableObjective {
 public:
  DoubleWellObjective(Index dimension, Index wells) : d_(dimension), k_(wells) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override {
    double sum = 0.5 * x.squaredNorm();
    for (Index j = 0; j < k_; ++j) sum -= 2 * log_cosh(x[j]);
    return sum;
  }
  double coordinate_value(Index j, double t) const override {
    return 0.5 * t * t - (j < k_ ? 2 * log_cosh(t) : 0.0);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = x;
    out.head(k_).array() -= 2 * x.head(k_).array().tanh();
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out.setOnes();
    out.head(k_).array() -= 2 * (1 - x.head(k_).array().tanh().square());
  }

 private:
  static double log_cosh(double u) {
    return std::abs(u) + std::log1p(std::exp(-2 * std::abs(u))) - std::log(2.0);
  }

  Index d_;
  Index k_;
};

/// The positive root of u = 2 tanh u.
double well_position() {
  double u = 2;
  for (int i = 0; i < 60; ++i) u = 2 * std::tanh(u);
  return u;
}

}  // namespace

std::string_view DoubleWell::summary() const {
  return "sum_{j<=k} (x_j^2/2 - 2 ln cosh x_j) + sum_{j>k} x_j^2/2 + z.x; strict saddle at 0";
}

ProblemNotes DoubleWell::notes() const {
  return {
      .group = "Landscapes with known saddles",
      .formula = "F(x) = Σ_{j≤k} φ(x_j) + ½ Σ_{j>k} x_j², φ(u) = ½u² − 2 ln cosh u.",
      .source = "avdiukhin-2024 notes, 6 (DW)",
      .critical_points =
          "Each of the k coordinates is at 0 or at ±u*, u* = 2 tanh u* ≈ 1.9150080, and the "
          "others are at 0. Any zero among the k makes a strict saddle with λ_min = φ″(0) = −1; "
          "the 2^k other points are global minima, F* = k φ(u*) ≈ −0.6530478 k, with "
          "φ″(u*) ≈ 0.8336279."};
}

Fields DoubleWell::landscape_fields() {
  return {field("wells", wells, range::at_least(1), "k, coordinates with two wells"),
          field("half_width", half_width, range::at_least(well_position()),
                "of the box on which the gradient is bounded; it holds the wells")};
}

Landscape DoubleWell::landscape(Index d) const {
  if (wells > d) reject(name(), "wells", static_cast<double>(wells), fmt::format("in [1, {}]", d));
  const double bottom = well_position();

  Landscape made;
  made.objective = std::make_shared<DoubleWellObjective>(d, wells);
  made.domain = Domain::box(half_width);
  made.starts = {.standard = Vector::Zero(d),
                 .saddle = Vector::Zero(d),
                 .random_spread = 1.0,
                 .far_radius = half_width};

  const auto k = static_cast<double>(wells);

  made.minimum = k * (0.5 * bottom * bottom - 2 * std::log(std::cosh(bottom)));
  Vector minimiser = Vector::Zero(d);
  minimiser.head(wells).setConstant(bottom);
  made.landmarks = {
      {"first well at −u*", Landmark::Kind::minimiser, Landmark::Of::population,
       minimiser - 2 * bottom * Vector::Unit(d, 0)},

      {"origin", Landmark::Kind::strict_saddle, Landmark::Of::population, Vector::Zero(d)},
      {"all wells at +u*", Landmark::Kind::minimiser, Landmark::Of::population, minimiser}};
  made.slice = first_two_coordinates("F over (x₁, x₂) for k = 1: two wells and the saddle between",
                                     Vector::Zero(d), -half_width, half_width);
  return made;
}

Constants DoubleWell::landscape_constants(Index d) const {
  const auto k = static_cast<double>(wells);
  const auto rest = static_cast<double>(d - wells);
  const double steepest = std::max(half_width - 2 * std::tanh(half_width),
                                   std::sqrt(2.0) - std::log(1 + std::sqrt(2.0)));
  Constants made;
  made.set(
      constant::lipschitz,
      proved(
          std::sqrt(k * steepest * steepest + rest * half_width * half_width), "the domain",
          "φ′(u) = u − 2 tanh u has its extremes on [0, h] where φ″ = 0, at u = ln(1+√2) with |φ′| "
          "= √2 − ln(1+√2) ≈ 0.533, and at the end h. The other coordinates have |x_j| ≤ h."));
  made.set(constant::smoothness,
           proved(1.0, "everywhere",
                  "The Hessian is diagonal with entries 1 and φ″ = 1 − 2 sech² ∈ [−1, 1)."));
  made.set(constant::hessian_lipschitz,
           proved(8 / (3 * std::sqrt(3.0)), "everywhere",
                  "φ‴ = 4 sech² tanh, largest at tanh = 1/√3; a diagonal Hessian whose entries "
                  "depend on their own coordinate alone moves by the largest |φ‴|."));
  return made;
}

}  // namespace dpsosp
