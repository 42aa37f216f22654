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
#include "dpsosp/trusted/clip.hpp"
#include "quartic.hpp"

namespace dpsosp {
namespace {

/// Record j contributes t_j a_j + p: t its own coefficient, p common to all.
template <class Sums>
class ComponentSums final : public Sums {
 public:
  ComponentSums(Matrix basis, double beta, std::unique_ptr<const Multiplicity<Sums>> multiplicity)
      : basis_(std::move(basis)), radial_{beta, beta - 1}, multiplicity_(std::move(multiplicity)) {}

  Index size() const override { return multiplicity_->size(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_minimisation("orthogonal-tensor", block);
    const Vector u = in_basis(basis_, point.x);
    return sum(own(u), radial_.slope(point.x) * u, batch, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    check_minimisation("orthogonal-tensor", block);
    const Vector to = in_basis(basis_, point.x);
    const Vector from = in_basis(basis_, previous.x);
    return sum(own(to) - own(from),
               radial_.slope(point.x) * to - radial_.slope(previous.x) * from,
               batch,
               limit,
               out);
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    const Vector to = in_basis(basis_, point.x);
    const Vector from = in_basis(basis_, centre.x);
    const double components = static_cast<double>(to.size());
    const double common = radial_.value(point.x) - radial_.value(centre.x);
    const Vector own =
        -0.25 * components * (to.array().square().square() - from.array().square().square());
    const std::vector<Index> counts = multiplicity_->of(batch);
    ClipReport report;
    for (Index j = 0; j < own.size(); ++j) {
      const double change = own[j] + common;
      out += weigh(std::abs(change), limit, counts, j, report) * change;
    }
    return report;
  }

  bool has_second_order() const override { return true; }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    const Vector u = in_basis(basis_, point.x);
    const Vector bend = own_bend(u);
    const double c = radial_.slope(point.x);
    const double squared = u.squaredNorm();
    const Vector beside = norms_beside(u);
    return sum_products(
        bend, radial_.hessian_product(point.x, v), v, batch, limit, out, [&](Index j) {
          return shifted_norm(c,
                              {.alpha = 2 * radial_.b,
                               .p_squared = squared,
                               .beta = bend[j],
                               .q_squared = 1,
                               .inner = u[j],
                               .across = beside[j]});
        });
  }

  /// The bound is the sum of the norms of the records' own part and of the common one.
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    const Vector bend =
        own_bend(in_basis(basis_, point.x)) - own_bend(in_basis(basis_, previous.x));
    const RadialChange radial_change(radial_.b, point.x, previous.x);
    const double common = radial_change.norm();
    return sum_products(bend, radial_change.product(v), v, batch, limit, out, [&](Index j) {
      return std::abs(bend[j]) + common;
    });
  }

 private:
  /// The norm of u without its coordinate j, for every j; a difference ‖u‖² − u_j² would cancel.
  static Vector norms_beside(const Vector& u) {
    Vector squares = Vector::Zero(u.size());
    double before = 0, after = 0;
    for (Index j = 0; j < u.size(); ++j) {
      const Index k = u.size() - 1 - j;
      squares[j] += before;
      squares[k] += after;
      before += u[j] * u[j];
      after += u[k] * u[k];
    }
    return squares.cwiseSqrt();
  }
  /// The factor of a_j a_jᵀ in record j's Hessian, for every j.
  static Vector own_bend(const Vector& u) {
    return -3 * static_cast<double>(u.size()) * u.array().square();
  }
  /// Number of records at j times their weight.
  static double weigh(
      double norm, double limit, const std::vector<Index>& counts, Index j, ClipReport& report) {
    const Index count = counts[static_cast<std::size_t>(j)];
    return count == 0 ? 0.0 : clip_weight(report, norm, limit, count);
  }

  /// Record j contributes bend_j (a_j·v) a_j + common, weighed by bound(j).
  template <class Bound>
  ClipReport sum_products(const Vector& bend,
                          const Vector& common,
                          ConstVectorRef v,
                          const BatchView& batch,
                          double limit,
                          VectorRef out,
                          const Bound& bound) const {
    const std::vector<Index> counts = multiplicity_->of(batch);
    Vector total = in_basis(basis_, v);
    double total_weight = 0;
    ClipReport report;
    for (Index j = 0; j < total.size(); ++j) {
      const double weight = weigh(bound(j), limit, counts, j, report);
      total[j] *= weight * bend[j];
      total_weight += weight;
    }
    out += from_basis(basis_, total) + total_weight * common;
    return report;
  }

  Vector own(const Vector& u) const { return -static_cast<double>(u.size()) * u.array().cube(); }

  /// \param own     t ∈ R^d.
  /// \param common  p in the basis.
  ClipReport sum(const Vector& own,
                 const Vector& common,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const {
    const std::vector<Index> counts = multiplicity_->of(batch);
    const Vector beside = norms_beside(common);
    Vector total = Vector::Zero(own.size());  // in the basis
    double total_weight = 0;
    ClipReport report;
    for (Index j = 0; j < own.size(); ++j) {
      const double along = own[j] + common[j];
      const double weight = weigh(hypotenuse(along, beside[j]), limit, counts, j, report);
      total[j] = weight * own[j];
      total_weight += weight;
    }
    total += total_weight * common;
    out += from_basis(basis_, total);
    return report;
  }

  Matrix basis_;
  RadialPart radial_;
  std::unique_ptr<const Multiplicity<Sums>> multiplicity_;
};

std::unique_ptr<const Multiplicity<Records>> every_component(Index d) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(d));
  std::iota(all.begin(), all.end(), 0);
  return listed_values(d, std::move(all));
}

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
                field("saddle_components",
                      saddle_components,
                      range::at_least(2),
                      "k of the starting saddle, at most d"),
                field("basis", basis, "a_1, ..., a_d, public"),
                field("basis_seed", basis_seed, range::not_negative, "of the rotated basis")};
  fields.push_back(sampling_field(sampling,
                                  {RecordSampling::balanced,
                                   RecordSampling::independent,
                                   RecordSampling::whole,
                                   RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void OrthogonalTensor::check_settings(Index d) const {
  if (saddle_components > d)
    reject(name(),
           "saddle_components",
           static_cast<double>(saddle_components),
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
           proved(bounds.gradient,
                  "the domain",
                  "With u = a_j·x, r = ‖x‖, c = βr² − β + 1: ‖∇f‖² = d²u⁶ − 2dcu⁴ + c²r² is "
                  "largest at an end of u² ∈ [0, r²], as its slope in u² changes sign once, from − "
                  "to +. That leaves |c|r and r|dr² − c|, two cubics on [0, R]."));
  made.set(constant::smoothness,
           proved(bounds.hessian,
                  "the domain",
                  "vᵀ∇²f v = r²(β + 2βκ² − 3dm) − β + 1, κ = cos∠(x, v), m = cos²∠(a, x) cos²∠(a, "
                  "v), which fills [0, ((1+κ)/2)²] for |κ| = κ. Affine in m and r²: the extremes "
                  "of two quadratics in κ ∈ [0, 1], at r = 0 and r = R."));
  made.set(constant::hessian_lipschitz,
           proved(bounds.third,
                  "the domain",
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
  DrawnValues drawn = draw_values(std::string(name()),
                                  {.probabilities = Vector::Constant(d, 1 / components)},
                                  spec.records,
                                  sampling,
                                  spec.data_seed);
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
  problem.extremes = std::make_unique<ComponentSums<Records>>(axes, penalty, every_component(d));
  if (!drawn.simulated)
    problem.records = std::make_unique<ComponentSums<Records>>(
        axes, penalty, listed_values(d, std::move(drawn.list)));
  else
    problem.simulated =
        std::make_unique<ComponentSums<SimulatedSums>>(axes, penalty, std::move(drawn.simulated));
  problem.slice = component_slice(
      "F over the plane of two components: four minimisers, four saddles and a maximum",
      axes,
      d,
      radius);
}

}  // namespace dpsosp
