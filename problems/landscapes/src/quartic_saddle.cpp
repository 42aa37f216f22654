// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/quartic_saddle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"
#include "rotation.hpp"

namespace dpsosp {
namespace {

/// Σ_j (curvature_j/2) x_j² + (b/4) Σ_{j<k} x_j⁴.
class QuarticObjective final : public SeparableObjective {
 public:
  QuarticObjective(Vector curvature, Index negative, double quartic)
      : curvature_(std::move(curvature)), k_(negative), b_(quartic) {}

  Index dimension() const override { return curvature_.size(); }
  double value(ConstVectorRef x) const override {
    const auto squares = x.array().square();
    return 0.5 * (curvature_.array() * squares).sum() + 0.25 * b_ * squares.head(k_).square().sum();
  }
  double coordinate_value(Index j, double t) const override {
    return 0.5 * curvature_[j] * t * t + (j < k_ ? 0.25 * b_ * t * t * t * t : 0.0);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = curvature_.cwiseProduct(x);
    out.head(k_).array() += b_ * x.head(k_).array().cube();
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out = curvature_;
    out.head(k_).array() += 3 * b_ * x.head(k_).array().square();
  }

 private:
  Vector curvature_;
  Index k_;
  double b_;
};

}  // namespace

std::string_view QuarticSaddle::summary() const {
  return "sum_{j<=k} (-gamma/2 u_j^2 + b/4 u_j^4) + sum_{j>k} lambda_j/2 u_j^2 + z.x, x = Q u; "
         "spectrum at the saddle is chosen";
}

ProblemNotes QuarticSaddle::notes() const {
  return {
      .group = "Landscapes with known saddles",
      .formula =
          "F(Qu) = Σ_{j≤k} (−(γ/2) u_j² + (b/4) u_j⁴) + Σ_{j>k} (λ_j/2) u_j² on ‖x‖ ≤ R, with λ_j "
          "in geometric progression from `least_positive` to `largest_positive` and Q the identity "
          "or a public orthogonal matrix.",
      .source = "the textbook quartic saddle, as in Jin, Ge, Netrapalli, Kakade and Jordan 2017",
      .critical_points =
          "u_j ∈ {0, ±√(γ/b)} for j ≤ k and 0 beyond. The origin has the spectrum −γ (k times), "
          "λ_{k+1}, …, λ_d. Any zero among the first k makes a strict saddle with λ_min = −γ; the "
          "2^k other points are global minima with curvatures 2γ and λ_j, F* = −kγ²/(4b)."};
}

Fields QuarticSaddle::landscape_fields() {
  using namespace range;
  return {
      field("negative", negative, at_least(1), "k, directions of negative curvature at the saddle"),
      field("gamma", gamma, positive, "γ, the saddle's curvature is -gamma in each of them"),
      field("quartic", quartic, positive, "b"),
      field("least_positive", least_positive, positive, "smallest positive curvature"),
      field("largest_positive", largest_positive, positive, "largest positive curvature"),
      field("radius", radius, positive, "R of the ball on which the constants hold"),
      field("rotation", rotation, not_negative,
            "seed of the public orthogonal matrix; 0 for none")};
}

Landscape QuarticSaddle::landscape(Index d) const {
  if (negative > d)
    reject(name(), "negative", static_cast<double>(negative), fmt::format("in [1, {}]", d));
  if (largest_positive < least_positive)
    reject(name(), "largest_positive", largest_positive, ">= least_positive");
  const auto k = static_cast<double>(negative);
  const double bottom = std::sqrt(gamma / quartic);
  if (!(radius >= bottom * std::sqrt(k)))
    reject(name(), "radius", radius, fmt::format(">= {:.6g}, the minima", bottom * std::sqrt(k)));

  Vector curvature(d);
  const Index positive = d - negative;
  curvature.head(negative).setConstant(-gamma);
  for (Index j = 0; j < positive; ++j) {
    const double share =
        positive == 1 ? 1.0 : static_cast<double>(j) / static_cast<double>(positive - 1);
    curvature[negative + j] = least_positive * std::pow(largest_positive / least_positive, share);
  }

  Landscape made;
  made.objective = std::make_shared<QuarticObjective>(curvature, negative, quartic);
  made.domain = Domain::ball(radius);
  made.starts = {.standard = Vector::Zero(d),
                 .saddle = Vector::Zero(d),
                 .random_spread = bottom,
                 .far_radius = radius};

  made.minimum = -k * gamma * gamma / (4 * quartic);

  Vector minimiser = Vector::Zero(d);
  minimiser.head(negative).setConstant(bottom);
  made.landmarks = {
      {"origin", Landmark::Kind::strict_saddle, Landmark::Of::population, Vector::Zero(d)},
      {"u_j = √(γ/b) for j ≤ k", Landmark::Kind::minimiser, Landmark::Of::population, minimiser}};
  if (negative >= 2) {
    Vector half_way = minimiser;
    half_way[0] = 0;
    made.landmarks.push_back({"u_1 = 0, other u_j = √(γ/b)", Landmark::Kind::strict_saddle,
                              Landmark::Of::population, half_way});
  }
  made.slice = first_two_coordinates(
      negative >= 2 ? "F over two negative directions: four minima, the saddle 0"
                    : "F over the negative direction and a positive one",
      Vector::Zero(d), -1.6 * bottom, 1.6 * bottom);
  rotate_landscape(made, static_cast<std::uint64_t>(rotation));
  return made;
}

Constants QuarticSaddle::landscape_constants(Index d) const {
  const double steepest = negative < d ? largest_positive : 0.0;
  const double rim = quartic * radius * radius;
  Constants made;
  made.set(constant::lipschitz,
           proved(radius * std::max({gamma, rim - gamma, steepest}), "the domain",
                  "With s_j = u_j², ‖∇F‖² = Σ_j s_j c_j(s_j)², where c_j = bs_j − γ or λ_j, and "
                  "|c_j| is at most max(γ, bR² − γ, λ_max) as 0 ≤ s_j ≤ R²; then Σ s_j ≤ R². "
                  "Attained at R along one axis unless γ is the largest.",
                  0.91));
  made.set(constant::smoothness,
           proved(std::max(3 * rim - gamma, steepest), "the domain",
                  "The Hessian is Q diag Qᵀ with entries λ_j and 3bu² − γ ∈ [−γ, 3bR² − γ]; 3bR² − "
                  "γ ≥ 2γ as R² ≥ γ/b."));
  made.set(
      constant::hessian_lipschitz,
      proved(
          6 * quartic * radius, "the domain",
          "Those entries depend on their own u alone and move by 3b|u + v||u − v| ≤ 6bR|u − v|."));
  return made;
}

}  // namespace dpsosp
