// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/orthogonal_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/finite_records.hpp"
#include "quartic.hpp"

namespace dpsosp {
namespace {

/// Record j adds t_j a_j + p: t its own coefficient, p the part of all.
class ComponentLoss final : public KindLoss {
 public:
  ComponentLoss(Index d, Matrix basis, double beta)
      : d_(d), basis_(std::move(basis)), radial_{beta, beta - 1} {}

  std::string problem() const override { return "orthogonal-tensor"; }
  Index dimension() const override { return d_; }
  Matrix axes() const override { return basis_; }

  KindShares gradients(const Point& point, const Point* previous) const override {
    const Vector u = in_basis(basis_, point.x);
    KindShares made{.axes = true};
    made.along = slope(u);
    made.common = radial_.slope(point.x) * u;
    if (previous == nullptr) return made;
    const Vector before = in_basis(basis_, previous->x);
    made.along -= slope(before);
    made.common -= radial_.slope(previous->x) * before;
    return made;
  }

  KindShares losses(const Point& point, const Point& centre) const override {
    const Vector to = in_basis(basis_, point.x), from = in_basis(basis_, centre.x);
    const double common = radial_.value(point.x) - radial_.value(centre.x);
    const Vector own = -0.25 * static_cast<double>(d_) *
                       (to.array().square().square() - from.array().square().square());
    return {.vectors = (own.array() + common).matrix().transpose()};
  }

  /// The bound of a difference is the sum of the norms of the records' own part and of the common
  /// one.
  KindShares products(const Point& point, const Point* previous, ConstVectorRef v) const override {
    const Vector u = in_basis(basis_, point.x);
    Vector own = bend(u);
    KindShares made{.bounds = Vector(d_), .axes = true};
    if (previous != nullptr) {
      own -= bend(in_basis(basis_, previous->x));
      const RadialChange change(radial_.b, point.x, previous->x);
      made.common = change.product(v);
      made.bounds = own.cwiseAbs().array() + change.norm();
    } else {
      made.common = radial_.hessian_product(point.x, v);
      const double c = radial_.slope(point.x), squared = u.squaredNorm();
      const Vector beside = norms_beside(u);
      for (Index j = 0; j < d_; ++j)
        made.bounds[j] = shifted_norm(c, {.alpha = 2 * radial_.b,
                                          .p_squared = squared,
                                          .beta = own[j],
                                          .q_squared = 1,
                                          .inner = u[j],
                                          .across = beside[j]});
    }
    made.along = std::move(own);
    return made;
  }

 private:
  Vector slope(const Vector& u) const { return -static_cast<double>(d_) * u.array().cube(); }
  /// The factor of a_j a_jᵀ in record j's Hessian, for every j.
  Vector bend(const Vector& u) const { return -3 * static_cast<double>(d_) * u.array().square(); }

  Index d_;
  Matrix basis_;
  RadialPart radial_;
};

/// min over ‖x‖ ≤ R of (β−w)‖x‖⁴/4 − (β−1)‖x‖²/2, which no data set with weights ≤ w can undercut.
double lowest_value(double weight, double beta, double radius) {
  const RadialPart radial{beta - weight, beta - 1};
  const double squared =
      beta > weight ? std::min(radial.gamma / radial.b, radius * radius) : radius * radius;
  return radial.of_squared(squared);
}

/// a_1, …, a_d; empty for the identity.
Matrix axes_of(const OrthogonalTensor& f, Index d) {
  if (f.basis == OrthogonalTensor::Basis::identity) return {};
  const auto seed = static_cast<std::uint64_t>(f.basis_seed);
  return random_basis(d, StreamKey{.seed = seed, .purpose = Purpose::data}.child(1));
}

}  // namespace

std::string_view OrthogonalTensor::summary() const {
  return "-(d/4) (a_j.x)^4 + penalty(|x|), j a component; all 3^d critical points known";
}

ProblemNotes OrthogonalTensor::notes() const {
  return {
      .group = "Tensor-like saddles",
      .formula =
          "f(x; j) = −(d/4)(a_j·x)⁴ + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖², j uniform on {1, …, d}, a_1, …, "
          "a_d a public orthonormal basis. With w_j = d·(share of j among the records): F(x) = −¼ "
          "Σ_j w_j (a_j·x)⁴ + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖²; population w = 1, as for `balanced` "
          "records with d | n. Batch sums depend on a multinomial alone.",
      .source = "Ge, Huang, Jin and Yuan (2015), section 4, with a penalty for the unit sphere",
      .critical_points =
          "0 (λ_min = −(β−1)) and, for every k ≥ 1 components and signs, the combination with "
          "magnitudes m = √((β−1)/(βk−1)). The Hessian there has −2m² (k−1 times), 2(β−1) once and "
          "m² (d−k times): 2d minimisers ±a_j with F* = −(β−1)/4, and 3^d − 1 − 2d strict saddles "
          "with λ_min = −2m², shallower for larger k. With weights w_j the combinations have "
          "magnitudes √((βρ−β+1)/w_j), ρ = (β−1)/(β − 1/Σw_j⁻¹), and the minimiser is the heaviest "
          "component."};
}

Fields OrthogonalTensor::fields() {
  Fields fields{field("penalty", penalty, quartic_penalties, "beta, weight of |x|^4 / 4"),
                field("radius", radius, range::at_least(1), "R of the domain |x| <= R"),
                field("saddle_components", saddle_components, range::at_least(2),
                      "k of the starting saddle, at most d"),
                field("basis", basis, "a_1, ..., a_d, public"),
                field("basis_seed", basis_seed, range::not_negative, "of the rotated basis")};
  fields.push_back(sampling_field(sampling, {RecordSampling::balanced, RecordSampling::independent,
                                             RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void OrthogonalTensor::check_settings(Index d) const {
  if (saddle_components > d)
    reject(name(), "saddle_components", static_cast<double>(saddle_components),
           fmt::format("in [2, {}]", d));
}

void OrthogonalTensor::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  std::vector<Index> support(static_cast<std::size_t>(saddle_components));
  std::iota(support.begin(), support.end(), 0);
  const Vector saddle =
      Quartic(axes_of(*this, d), Vector::Ones(d), penalty).critical_point(support);
  settle_at_saddle(start, radius, saddle, random, facts);
}

Constants OrthogonalTensor::constants(const PublicFacts& facts) const {
  const Index d = facts.dimension;
  const auto components = static_cast<double>(d), n = static_cast<double>(facts.records);
  Constants made;
  const QuarticBounds bounds = quartic_bounds(components, penalty, penalty - 1, radius);
  made.set(constant::lipschitz,
           proved(bounds.gradient, "the domain",
                  "With u = a_j·x, r = ‖x‖, c = βr² − β + 1: ‖∇f‖² = d²u⁶ − 2dcu⁴ + c²r² is "
                  "largest at an end of u² ∈ [0, r²], as its slope in u² changes sign once, from − "
                  "to +. That leaves |c|r and r|dr² − c|, two cubics on [0, R]."));
  made.set(constant::smoothness,
           proved(bounds.hessian, "the domain",
                  "vᵀ∇²f v = r²(β + 2βκ² − 3dm) − β + 1, κ = cos∠(x, v), m = cos²∠(a, x) cos²∠(a, "
                  "v), which fills [0, ((1+κ)/2)²] for |κ| = κ. Affine in m and r²: the extremes "
                  "of two quadratics in κ ∈ [0, 1], at r = 0 and r = R."));
  made.set(constant::hessian_lipschitz,
           proved(bounds.third, "the domain",
                  "∇³f[v, v, v] = 6 x·(βv − d s³a), s = a·v, at most 6R‖βv − ds³a‖, and d²t³ − "
                  "2dβt² + β², t = s², is largest at an end of [0, 1]: 6R max(β, |d − β|)."));

  // Weights w_j of what the law allows: `balanced` counts differ by one, others may be all equal.
  const bool fixed_counts = sampling == RecordSampling::balanced;
  const double heaviest =
      fixed_counts ? static_cast<double>((facts.records + d - 1) / d) * components / n : components;
  const double lightest =
      fixed_counts ? static_cast<double>(facts.records / d) * components / n : 0.0;
  const double at_start =
      Quartic(axes_of(*this, d), Vector::Constant(d, lightest), penalty).value(facts.initial_point);
  made.set(
      constant::suboptimality,
      proved(at_start - lowest_value(heaviest, penalty, radius),
             "the domain, from the initial point",
             "Weights between the least and the largest that the sampling allows: F(x₀) is largest "
             "for the least, and F ≥ (β − w_max)‖x‖⁴/4 − (β−1)‖x‖²/2 as Σ u_j⁴ ≤ ‖x‖⁴."));
  return made;
}

void OrthogonalTensor::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const auto components = static_cast<double>(d);
  const Matrix axes = axes_of(*this, d);
  auto population = std::make_unique<Quartic>(axes, Vector::Ones(d), penalty);
  DrawnValues drawn =
      draw_values(std::string(name()), {.probabilities = Vector::Constant(d, 1 / components)},
                  spec.records, sampling, spec.data_seed);
  if (sampling != RecordSampling::stream) {
    const Vector weights = components * shares(drawn.counts, spec.records);
    auto empirical = std::make_unique<Quartic>(axes, weights, penalty);
    problem.landmarks = empirical->landmarks(Landmark::Of::empirical);
    problem.empirical = std::move(empirical);
  }
  for (Landmark& mark : population->landmarks(Landmark::Of::population))
    problem.landmarks.push_back(std::move(mark));
  std::erase_if(problem.landmarks,
                [&](const Landmark& mark) { return !problem.facts.domain.contains(mark.point); });
  problem.population = std::move(population);
  // A record is its component alone.
  const auto values =
      std::make_shared<const RecordColumns>(RecordColumns{Matrix::Zero(1, d), Vector::Zero(d)});
  const auto loss = [&] { return std::make_unique<const ComponentLoss>(d, axes, penalty); };
  problem.extremes = admit(loss(), RecordTable(values));
  set_records(loss(), values, std::move(drawn), problem);
  problem.slice = component_slice(
      "F over the plane of two components: four minimisers, four saddles and a maximum", axes, d,
      radius);
}

}  // namespace dpsosp
