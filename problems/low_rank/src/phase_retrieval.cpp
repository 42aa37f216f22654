// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/phase_retrieval.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "phase_link.hpp"

namespace dpsosp {
namespace {

PhaseLink link_of(const PhaseData& data) { return {data.loss, data.smoothing, data.scale}; }

struct PhaseRecordLoss {
  static constexpr std::string_view problem = "phase-retrieval";
  static constexpr DenseDual dual = DenseDual::none;
  struct Facts {
    Index d;
    PhaseLink link;
  };
  using Gradients = DenseQuery<Facts>;
  using Losses = Gradients;

  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = part(at, &PhaseLink::slope, z) * z.column;
    return {};
  }
  static double loss(const Losses& at, const DenseRecord& z, double*) {
    return part(at, &PhaseLink::value, z);
  }
  static double curvature(const Gradients& at, const DenseRecord& z, double*, VectorRef u) {
    u = z.column;
    return part(at, &PhaseLink::curvature, z);
  }

 private:
  /// function(aᵀx, b), less that at the previous point.
  static double part(const Gradients& at, double (PhaseLink::*function)(double, double) const,
                     const DenseRecord& z) {
    const PhaseLink& link = at.facts.link;
    const double here = (link.*function)(z.column.dot(at.x), z.label);
    return at.difference ? here - (link.*function)(z.column.dot(at.x_before), z.label) : here;
  }
};

class PhaseObjective final : public Objective {
 public:
  explicit PhaseObjective(std::shared_ptr<const PhaseData> data)
      : data_(std::move(data)), link_(link_of(*data_)) {}

  Index dimension() const override { return features().rows(); }
  double value(ConstVectorRef x) const override {
    return products(x)
        .binaryExpr(data_->columns.labels, [this](double t, double b) { return link_.value(t, b); })
        .mean();
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    const Vector slopes = products(x).binaryExpr(
        data_->columns.labels, [this](double t, double b) { return link_.slope(t, b); });
    out.noalias() = features() * slopes / static_cast<double>(data_->columns.labels.size());
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const Vector weighted =
        products(x)
            .binaryExpr(data_->columns.labels,
                        [this](double t, double b) { return link_.curvature(t, b); })
            .cwiseProduct(products(v));
    out.noalias() = features() * weighted / static_cast<double>(data_->columns.labels.size());
  }

 private:
  const Matrix& features() const { return data_->columns.features; }
  Vector products(ConstVectorRef x) const { return features().transpose() * x; }

  std::shared_ptr<const PhaseData> data_;
  PhaseLink link_;
};

/// The critical points of the amplitude loss's population on the axis and orthogonal to it.
std::vector<Landmark> amplitude_landmarks(const Objective& F, const Vector& signal, double noise) {
  using enum Landmark::Kind;
  const Index d = signal.size();
  const Vector axis = signal.normalized();
  const Vector origin = Vector::Zero(d);
  std::vector<Landmark> landmarks;
  if (noise == 0) {
    landmarks.push_back({"x*", minimiser, Landmark::Of::population, signal});
    landmarks.push_back({"−x*", minimiser, Landmark::Of::population, -signal});
  }
  Vector scratch(d);
  const auto bends_down = [&](const Vector& x) {
    F.hessian_product(x, axis, scratch);
    return scratch.dot(axis) < 0;
  };
  if (bends_down(origin))
    landmarks.push_back({"origin", strict_saddle, Landmark::Of::population, origin});
  if (d < 2) return landmarks;
  // by symmetry the gradient at an x orthogonal to x* is along x
  const Vector across = orthogonal_direction(signal);
  const auto slope = [&](double length) {
    F.gradient(length * across, scratch);
    return scratch.dot(across);
  };
  double low = 1e-3 * signal.norm(), high = signal.norm();
  if (!(slope(low) < 0 && slope(high) > 0)) return landmarks;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    (slope(middle) < 0 ? low : high) = middle;
  }
  if (bends_down(low * across))
    landmarks.push_back(
        {"orthogonal to x*", strict_saddle, Landmark::Of::population, low * across});
  return landmarks;
}

}  // namespace

std::string_view PhaseRetrieval::summary() const {
  return "(1/4)((a_i.x)^2 - b_i)^2, or its amplitudes; saddles at 0 and orthogonal to x*";
}

ProblemNotes PhaseRetrieval::notes() const {
  return {
      .group = "Low-rank recovery",
      .formula =
          "f(x; a, b) = ¼(t² − b)² (intensity) or ½(√(t² + e²) − √(b + e²))² (amplitude), "
          "t = aᵀx, b = (aᵀx*)² ± s, a uniform on ‖a‖ = √d or N(0, I). Population of the "
          "intensity: κ(¾(‖x‖² − ‖x*‖²)² + ‖x*‖²‖x_⊥‖²) + s²/4, x_⊥ the part orthogonal to x*, "
          "κ = 1 (Gaussian) or d/(d + 2) (sphere); of the amplitude: quadrature over the plane "
          "of x and x*. Domain ‖x‖ ≤ R.",
      .source = "Sun, Qu and Wright (2018), real case",
      .critical_points =
          "Intensity, population: minimisers ±x*; the origin has λ_min = −3κ‖x*‖²; the points "
          "orthogonal to x* with ‖x‖ = ‖x*‖/√3 are strict saddles, λ_min = −2κ‖x*‖². Amplitude: "
          "the same picture; the saddles' length is found by bisection, and ±x* are the "
          "minimisers without noise."};
}

Fields PhaseRetrieval::fields() {
  Fields fields{field("loss", loss, "squares, or smoothed absolute values"),
                field("smoothing", smoothing, range::positive, "e of the amplitude loss")};
  add_phase_fields(fields, *this);
  return fields;
}

void PhaseRetrieval::check_settings(Index) const {
  if (loss == PhaseLoss::intensity) return;
  constexpr double finest = 15;
  if (!(smoothing >= radius() / finest))
    reject(name(), "smoothing", smoothing,
           fmt::format(">= {:.4g}, what the quadrature resolves", radius() / finest));
  if (!(label_noise <= smoothing * smoothing))
    reject(name(), "label_noise", label_noise, "<= smoothing^2 under loss = amplitude");
}

void PhaseRetrieval::settle(const Stream& random, PublicFacts& facts) const {
  settle_phase(*this, random, facts);
}

Constants PhaseRetrieval::constants(const PublicFacts& facts) const {
  const bool intensity = loss == PhaseLoss::intensity;
  const PhaseRegion region(*this, facts.dimension);
  const PhaseBounds bound = phase_bounds({loss, smoothing, 1.0}, region);
  const double norm = region.norm;
  const std::string range = "|t| ≤ T = R√d and −s ≤ b ≤ b_max = d‖x*‖² + s, attained with a ∥ x.";
  Constants c;
  c.set(constant::lipschitz,
        region.constant(
            norm * bound.slope,
            (intensity ? "∇f = φ′(t)a, φ′ = t³ − bt: at most T³ + sT, and b_max^{3/2}·2/(3√3) at "
                         "3t² = b_max if that is in reach; "
                       : "∇f = φ′(t)a, φ′ = t(1 − c/h), h = √(t² + e²), c = √(b + e²): monotone in "
                         "c; extreme at t = T for the smallest c ≤ e, at h³ = ce² for the "
                         "largest; ") +
                range));
  c.set(constant::smoothness,
        region.constant(
            norm * norm * bound.curvature,
            (intensity ? "∇²f = φ″(t)aaᵀ, φ″ = 3t² − b ∈ [−b_max, 3T² + s]; "
                       : "∇²f = φ″(t)aaᵀ, φ″ = 1 − ce²/h³, from 1 − c/e at t = 0 and the largest "
                         "c up to t = T and the smallest; ") +
                range));
  c.set(constant::hessian_lipschitz,
        region.constant(
            norm * norm * norm * bound.third,
            (intensity ? "|φ‴| = 6|t| ≤ 6T, times ‖a‖³; "
                       : "φ‴ = 3ce²t/h⁵, largest at t = e/2 and the largest c, times ‖a‖³; ") +
                range));
  const Vector& x0 = facts.initial_point;
  c.set(constant::suboptimality, {intensity ? intensity_excess(x0, signal_norm)
                                            : 0.5 * (x0.squaredNorm() + signal_norm * signal_norm),
                                  Origin::estimated, "initial point, of the population"});
  return c;
}

void PhaseRetrieval::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  PhaseInstance instance = draw_phase_instance(*this, d, spec);
  if (loss == PhaseLoss::intensity) {
    problem.population = intensity_population(instance.signal, design, label_noise, 1.0);
    problem.landmarks = intensity_landmarks(instance);
  } else {
    problem.population =
        amplitude_population(instance.signal, {smoothing, label_noise, design, radius()});
    problem.landmarks = amplitude_landmarks(*problem.population, instance.signal, label_noise);
  }
  problem.slice = phase_slice(instance.signal);
  const auto with_loss = [&](PhaseData data) {
    data.loss = loss;
    data.smoothing = smoothing;
    return std::make_shared<const PhaseData>(std::move(data));
  };
  if (const PhaseRegion region(*this, d); region.bounded)
    problem.extremes = phase_records(with_loss({.columns = extreme_phase_records(d, region)}));
  auto data =
      with_loss({.columns = {std::move(instance.measurements), std::move(instance.labels)}});
  problem.empirical = phase_objective(data);
  problem.records = phase_records(std::move(data));
}

std::unique_ptr<const AnyRecords> phase_records(std::shared_ptr<const PhaseData> data) {
  const PhaseRecordLoss::Facts facts{data->columns.features.rows(), link_of(*data)};
  return admit<PhaseRecordLoss>(facts, RecordTable({data, &data->columns}));
}

std::unique_ptr<const Objective> phase_objective(std::shared_ptr<const PhaseData> data) {
  return std::make_unique<PhaseObjective>(std::move(data));
}

}  // namespace dpsosp
