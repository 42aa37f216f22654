// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/log_well.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {
namespace {

class LogWellObjective final : public SeparableObjective {
 public:
  explicit LogWellObjective(Index dimension) : d_(dimension) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override {
    double sum = 0.0;
    for (Index j = 0; j < d_; ++j) sum += coordinate_value(j, x[j]);
    return sum;
  }
  double coordinate_value(Index, double u) const override {
    return 0.5 * u * u - std::log1p(u * u);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out.array() = x.array() - 2 * x.array() / (1 + x.array().square());
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    const auto s = x.array().square();
    out.array() = 1 - 2 * (1 - s) / (1 + s).square();
  }

 private:
  Index d_;
};

}  // namespace

std::string_view LogWell::summary() const {
  return "sum_j (x_j^2/2 - ln(1 + x_j^2)) + z.x; strict saddle at 0";
}

ProblemNotes LogWell::notes() const {
  return {.group = "Landscapes with known saddles",
          .formula = "F(x) = Σ_j φ(x_j), φ(u) = ½u² − ln(1 + u²).",
          .source = "an example, 2027",
          .critical_points =
              "Each coordinate is at 0 or at ±1. Any zero makes a strict saddle with λ_min = "
              "φ″(0) = −1; the 2^d others are global minima, F* = d(½ − ln 2), with φ″(1) = 1."};
}

Fields LogWell::landscape_fields() {
  return {field("half_width", half_width, range::at_least(1),
                "of the box on which the gradient is bounded; the wells are at 1")};
}

Landscape LogWell::landscape(Index d) const {
  Landscape made;
  made.objective = std::make_shared<LogWellObjective>(d);
  made.domain = Domain::box(half_width);
  made.starts = {.standard = Vector::Zero(d),
                 .saddle = Vector::Zero(d),
                 .random_spread = 1.0,
                 .far_radius = half_width};
  made.minimum = static_cast<double>(d) * (0.5 - std::log(2.0));
  made.landmarks = {
      {"origin", Landmark::Kind::strict_saddle, Landmark::Of::population, Vector::Zero(d)},
      {"all wells at +1", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Ones(d)}};
  return made;
}

Constants LogWell::landscape_constants(Index d) const {
  const double inner = std::sqrt(std::sqrt(5.0) - 2);
  const double slope = std::max(half_width - 2 * half_width / (1 + half_width * half_width),
                                2 * inner / (1 + inner * inner) - inner);
  Constants made;
  made.set(constant::lipschitz,
           proved(slope * std::sqrt(static_cast<double>(d)), "the domain",
                  "φ′(u) = u − 2u/(1+u²) has its extremes on [0, h] where φ″ = 0, at u² = √5 − 2, "
                  "and at the end h."));
  made.set(constant::smoothness,
           proved(1.25, "everywhere",
                  "φ″ = 1 − 2(1−s)/(1+s)² with s = u² is −1 at s = 0 and at most 5/4, at s = 3."));
  made.set(constant::hessian_lipschitz,
           proved(1.5 + std::sqrt(2.0), "everywhere",
                  "With u = tan θ, φ‴ = 4 sin 3θ cos³ θ, largest at θ = π/8."));
  return made;
}

}  // namespace dpsosp
