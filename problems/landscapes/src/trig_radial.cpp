// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/trig_radial.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "certified_minimum.hpp"
#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/landscape.hpp"
#include "linear_records.hpp"

namespace dpsosp {
namespace {

/// As functions of r = ‖x‖: the landscape g, g′ = r (1 + cos r²) and g″ = 1 + cos r² − 2r² sin r².
double height(double r) { return 0.5 * (r * r + portable_sin(r * r)); }
double slope(double r) { return r * (1 + portable_cos(r * r)); }
double curvature(double r) {
  const double s = r * r;
  return 1 + portable_cos(s) - 2 * s * portable_sin(s);
}
/// g‴ = −6 r sin r² − 4 r³ cos r².
double third(double r) {
  const double s = r * r;
  return -r * (6 * portable_sin(s) + 4 * s * portable_cos(s));
}
double fourth_bound(double r) { return 6 + 24 * r * r + 8 * r * r * r * r; }

class TrigRadialObjective final : public Objective {
 public:
  explicit TrigRadialObjective(Index d) : d_(d) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override { return height(x.norm()); }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = (1 + portable_cos(x.squaredNorm())) * x;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const double s = x.squaredNorm();
    out = (1 + portable_cos(s)) * v - (2 * portable_sin(s) * x.dot(v)) * x;
  }

 private:
  Index d_;
};

double largest_trig_slope(double radius) {
  return certified_maximum(
      [](double r) {
        return ScalarJet{slope(r), curvature(r)};
      },
      0, radius, 6 * radius + 4 * radius * radius * radius);
}

double largest_curvature(double radius) {
  const auto part = [&](double sign) {
    return certified_maximum(
        [&](double r) {
          return ScalarJet{sign * curvature(r), sign * third(r)};
        },
        0, radius, fourth_bound(radius));
  };
  return std::max({2.0, part(1), part(-1)});
}

/// max |g‴| for r ≤ radius, and at least the value of the interior case of the proof if there is
/// one.
double largest_third(double radius) {
  const auto part = [&](double sign) {
    return certified_maximum(
        [&](double r) {
          const double s = r * r;
          return ScalarJet{sign * third(r),
                           sign * (-6 * portable_sin(s) - 24 * s * portable_cos(s) +
                                   8 * s * s * portable_sin(s))};
        },
        0, radius, 60 * radius + 80 * std::pow(radius, 3) + 16 * std::pow(radius, 5),
        1e-11 * (1 + std::pow(radius, 3)));
  };
  const bool interior = radius * radius > 0.5 * std::numbers::pi;
  return std::max({interior ? 4 * radius : 0.0, part(1), part(-1)});
}

/// min over 0 ≤ r ≤ radius of g(r) − m r, the least value of the objective with ‖z̄‖ = m.
CertifiedMinimum least_value(double m, double radius) {
  return certified_minimum(
      [&](double r) {
        return ScalarJet{height(r) - m * r, slope(r) - m};
      },
      0, radius, 2 + 2 * radius * radius);
}

/// Stationary points lie on the line of z̄, where g′ = m: the least one, and one where g″ < 0.
std::vector<Landmark> empirical_landmarks(const Vector& mean, double radius) {
  const double m = mean.norm();
  if (m == 0) return {};
  const Vector along = -mean / m;
  const auto excess = [&](double r) { return slope(r) - m; };
  std::vector<Landmark> made;
  const double rough = least_value(m, radius).point;
  const double margin = 1e-4;
  if (rough > margin && rough < radius - margin && excess(rough - margin) < 0 &&
      excess(rough + margin) > 0)
    made.push_back({"minimum on the line of the records' mean", Landmark::Kind::minimiser,
                    Landmark::Of::empirical,
                    bisected_zero(excess, rough - margin, rough + margin) * along});
  constexpr int steps = 1024;
  for (int k = 1; k <= steps; ++k) {
    const double left = radius * (k - 1) / steps, right = radius * k / steps;
    if (!(excess(left) > 0 && excess(right) < 0)) continue;
    made.push_back({"where the slope along that line falls through zero",
                    Landmark::Kind::strict_saddle, Landmark::Of::empirical,
                    bisected_zero(excess, left, right) * along});
    break;
  }
  return made;
}

Matrix draw_ball(Index d, const InstanceSpec& spec) {
  Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
  Matrix tilts(d, spec.records);
  for (Index i = 0; i < spec.records; ++i) stream.fill_ball(1.0, tilts.col(i));
  return tilts;
}

/// Unit vectors: a diagonal, a coordinate axis and the starting direction, with their negatives.
Matrix corner_tilts(ConstVectorRef start) {
  const Index d = start.size();
  Matrix corners(d, 6);
  corners.col(0) = Vector::Constant(d, 1 / std::sqrt(static_cast<double>(d)));
  corners.col(2) = Vector::Unit(d, 0);
  corners.col(4) = start.norm() > 0 ? Vector(start.normalized()) : Vector::Unit(d, d - 1);
  for (Index k = 0; k < 6; k += 2) corners.col(k + 1) = -corners.col(k);
  return corners;
}

}  // namespace

std::string_view TrigRadial::summary() const {
  return "(|x|^2 + sin |x|^2)/2 + z.x on a ball; the published warm-start experiment, exact "
         "constants";
}

ProblemNotes TrigRadial::notes() const {
  return {
      .group = "Families of Lowy, Ullman and Wright",
      .formula =
          "f(x; z) = ½(‖x‖² + sin ‖x‖²) + ⟨z, x⟩ on ‖x‖ ≤ R = 2. z has uniform entries ±1/√d, "
          "whose sums are simulated exactly, or is uniform in the unit ball: the published "
          "experiment has `law=ball`, n = d = 100, and 25 more records for the test error, which "
          "another data seed gives. F(x) = ½(‖x‖² + sin ‖x‖²) + ⟨z̄, x⟩; the population objective "
          "has z̄ = 0. The published script uses L = 5 and β = 6; the exact values are 2.5417 and "
          "6.4008.",
      .source = "lowy-2024 notes, 6, Z6, and claim C17",
      .critical_points =
          "Population: 0, the minimum, and the sphere ‖x‖² = π, where the whole Hessian vanishes. "
          "Empirical: all on the line of z̄, where r(1 + cos r²) = ‖z̄‖; for small ‖z̄‖ a minimum "
          "near 0, and near the sphere a strict saddle and a local minimum. The standard start is "
          "uniform in the ball."};
}

Fields TrigRadial::fields() {
  Fields fields{
      field("law", law, "of the records: uniform in the unit ball, or signs over sqrt(d)"),
      field("radius", radius, Range{0, 10, false, true}, "R, of the domain")};
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void TrigRadial::check_settings(Index) const {
  if (simulated(sampling) && law == Law::ball)
    reject(name(), "law", "ball", "signs: sums of ball points are not simulated");
}

void TrigRadial::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  facts.domain = Domain::ball(radius);
  Vector standard(d);
  Stream(random).fill_ball(radius, standard);
  facts.initial_point = start.pick(facts,
                                   {.standard = standard,
                                    .random_spread = radius / std::sqrt(static_cast<double>(d)),
                                    .far_radius = radius},
                                   random);
}

Constants TrigRadial::constants(const PublicFacts& facts) const {
  Constants made;
  made.set(constant::lipschitz,
           proved(largest_trig_slope(radius) + 1, "the domain",
                  "‖∇f‖ ≤ max_{r ≤ R} r(1 + cos r²) + ‖z‖, by branch and bound, attained by a unit "
                  "z along x."));
  made.set(constant::smoothness,
           proved(largest_curvature(radius), "the domain",
                  "With s = ‖x‖² the Hessian has the eigenvalues 1 + cos s ∈ [0, 2] and 1 + cos s "
                  "− 2s sin s, whose largest size on s ≤ R² is found by branch and bound; at R = 2 "
                  "it is at s = 4."));
  made.set(
      constant::hessian_lipschitz,
      proved(largest_third(radius), "the domain",
             "A symmetric third derivative T has its norm at max_{‖v‖=1} |T[v,v,v]| = |6τ sin s + "
             "4τ³ cos s|, τ = ⟨x, v⟩ ∈ [0, ‖x‖]. Inside, a stationary τ has τ² = −tan(s)/2, which "
             "needs s > π/2, and the value 4τ |sin s| ≤ 4R; at the end τ = r it is |g‴(r)|, g(r) = "
             "½(r² + sin r²), found by branch and bound. The domain is convex."));
  const double r0 = facts.initial_point.norm();
  made.set(
      constant::suboptimality,
      proved(height(r0) + r0 - least_value(1, radius).lower, "initial point",
             "F(x₀) − min over the domain is convex in z̄ (linear less a minimum of linear "
             "functions), so largest at ‖z̄‖ = 1; there F(x₀) ≤ g(‖x₀‖) + ‖x₀‖ and the minimum is "
             "min_{r ≤ R} g(r) − r, by branch and bound. Attained where every record is x₀/‖x₀‖."));
  return made;
}

void TrigRadial::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Constants& c = problem.facts.constants;
  const auto landscape = std::make_shared<TrigRadialObjective>(d);
  const CurvatureBounds curvature_bounds{c[constant::smoothness], c[constant::hessian_lipschitz]};
  Vector mean;
  if (law == Law::ball) {
    Matrix tilts = draw_ball(d, spec);
    mean = tilts.rowwise().mean();
    problem.records =
        linear_records(std::string(name()), landscape, curvature_bounds, std::move(tilts));
  } else {
    LinearRecordsMade made = make_linear_records({.problem = std::string(name()),
                                                  .landscape = landscape,
                                                  .curvature = curvature_bounds,
                                                  .entry = 1 / std::sqrt(static_cast<double>(d)),
                                                  .records = spec.records,
                                                  .sampling = sampling,
                                                  .data_seed = spec.data_seed});
    problem.records = std::move(made.records);
    problem.simulated = std::move(made.simulated);
    mean = std::move(made.mean);
  }
  const Vector& x0 = problem.facts.initial_point;
  if (const double r0 = x0.norm(); r0 > 0)
    problem.extreme_objectives.push_back(tilted(landscape, x0 / r0));
  problem.landmarks = {
      {"origin", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Zero(d)}};
  if (mean.size() > 0) {
    for (Landmark& landmark : empirical_landmarks(mean, radius))
      problem.landmarks.push_back(std::move(landmark));
    problem.empirical = tilted(landscape, std::move(mean));
  }
  problem.population = tilted(landscape, Vector::Zero(d));
  problem.extremes =
      linear_records(std::string(name()), landscape, curvature_bounds, corner_tilts(x0));
}

}  // namespace dpsosp
