// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/robust_phase_retrieval.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "phase_link.hpp"

namespace dpsosp {
namespace {

/// ∇f_i = (2 y_i t a_i, (r_i − y_i) e_i), and y_i = r_i where the dual stays with the record.
struct RobustPhaseLoss {
  static constexpr std::string_view problem = "robust-phase-retrieval";
  static constexpr DenseDual dual = DenseDual::own;
  static constexpr DenseLength length = DenseLength::by_factor;
  struct Facts {
    Index d;
  };
  using Gradients = DenseQuery<Facts>;

  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = z.column;
    const DenseGradient to = parts(z, at.x, at.y.size() > 0, z.dual);
    if (!at.difference) return to;
    const DenseGradient from = parts(z, at.x_before, at.y_before.size() > 0, z.dual_before);
    return {to.scale - from.scale, to.dual - from.dual};
  }

 private:
  static DenseGradient parts(const DenseRecord& z, const Vector& x, bool given, double dual) {
    const double t = z.column.dot(x), residual = t * t - z.label;
    const double y = given ? dual : residual;
    return {2 * y * t, residual - y};
  }
};

/// Φ_i = ½ r_i² is twice the intensity loss.
constexpr double value_scale = 2.0;

}  // namespace

std::string_view RobustPhaseRetrieval::summary() const {
  return "max_y (1/n) sum_i [y_i ((a_i.x)^2 - b_i) - y_i^2/2]; dual per record, saddle at 0";
}

ProblemNotes RobustPhaseRetrieval::notes() const {
  return {
      .group = "Minimax",
      .formula =
          "f(x, y) = (1/n) Σ_i [ y_i r_i − y_i²/2 ], r_i = (a_iᵀx)² − b_i = y_i*(x), and "
          "Φ(x) = (1/2n) Σ_i r_i², twice the intensity loss of `phase-retrieval`, whose records "
          "these are: b = (aᵀx*)² ± s, a uniform on ‖a‖ = √d or N(0, I). The dual is per "
          "record. Domain ‖x‖ ≤ R.",
      .source = "xu-2026 notes, 8.5",
      .critical_points =
          "∇²Φ(0) = −(2/n) Σ_i b_i a_i a_iᵀ: a strict saddle wherever Σ_i b_i‖a_i‖² > 0. "
          "Population, κ = 1 (Gaussian) or d/(d + 2) (sphere): λ_min(0) = −6κ‖x*‖²; the points "
          "orthogonal to x* with ‖x‖ = ‖x*‖/√3 have λ_min = −4κ‖x*‖²; ±x* are the minimisers, "
          "Φ* = s²/2."};
}

Fields RobustPhaseRetrieval::fields() {
  Fields fields;
  add_phase_fields(fields, *this);
  return fields;
}

void RobustPhaseRetrieval::settle(const Stream& random, PublicFacts& facts) const {
  set_dual(facts, DualKind::per_record, Vector::Zero(facts.records));
  settle_phase(*this, random, facts);
}

Constants RobustPhaseRetrieval::constants(const PublicFacts& facts) const {
  const PhaseRegion region(*this, facts.dimension);
  const PhaseBounds bound = phase_bounds({PhaseLoss::intensity, 0, value_scale}, region);
  const double norm = region.norm, reach = region.reach;
  const std::string range =
      " |t| ≤ T = R√d and −s ≤ b ≤ b_max = d‖x*‖² + s, attained with a ∥ x "
      "by a data set of equal records.";
  Constants c;
  c.set(constant::smoothness,
        region.constant(
            norm * norm * bound.curvature,
            "∇²Φ is the mean of 2(3t² − b)aaᵀ, of norm at most 2d max(3T² + s, b_max)." + range));
  c.set(constant::hessian_lipschitz,
        region.constant(norm * norm * norm * bound.third,
                        "∇³Φ is the mean of 12t a⊗a⊗a, of norm at most 12Td^{3/2}." + range));
  // [[2y aaᵀ, 2ta], [2taᵀ, −1]] at y = −Y, |t| = T
  const double dual = std::max(reach * reach - region.lowest, region.highest);
  const double stretch = 2 * dual * norm * norm;
  const std::string own_dual =
      region.in_words + "; |y_i| ≤ max(T² + s, b_max), the maximisers' range";
  c.set(constant::joint_smoothness,
        {(stretch + 1) / 2 + hypotenuse((stretch - 1) / 2, 2 * reach * norm), Origin::estimated,
         own_dual});
  c.set(constant::lipschitz,
        {norm * bound.slope, Origin::estimated, region.in_words + "; y_i its own maximiser"});
  c.set(constant::strong_concavity,
        proved(1.0 / static_cast<double>(facts.records), "everywhere", "∇²_yy f = −I/n."));
  c.set(constant::suboptimality, {value_scale * intensity_excess(facts.initial_point, signal_norm),
                                  Origin::estimated, "initial point, of the population"});
  return c;
}

void RobustPhaseRetrieval::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  PhaseInstance instance = draw_phase_instance(*this, d, spec);
  problem.population = intensity_population(instance.signal, design, label_noise, value_scale);
  problem.landmarks = intensity_landmarks(instance);
  problem.slice = phase_slice(instance.signal);
  if (const PhaseRegion region(*this, d); region.bounded)
    problem.extremes = robust_phase_records(extreme_phase_records(d, region));
  const auto data = std::make_shared<const PhaseData>(
      PhaseData{.columns = {std::move(instance.measurements), std::move(instance.labels)},
                .scale = value_scale});
  problem.empirical = phase_objective(data);
  problem.records = admit<RobustPhaseLoss>({d}, RecordTable({data, &data->columns}));
}

std::unique_ptr<const AnyRecords> robust_phase_records(RecordColumns columns) {
  const Index d = columns.features.rows();
  return admit<RobustPhaseLoss>({d}, RecordTable(std::move(columns)));
}

std::unique_ptr<const Objective> robust_phase_value(RecordColumns columns) {
  return phase_objective(
      std::make_shared<PhaseData>(PhaseData{.columns = std::move(columns), .scale = value_scale}));
}

}  // namespace dpsosp
