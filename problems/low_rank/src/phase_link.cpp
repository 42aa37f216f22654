// SPDX-License-Identifier: Apache-2.0
#include "phase_link.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dpsosp/core/errors.hpp"
#include "low_rank.hpp"

namespace dpsosp {
namespace {

class IntensityPopulation final : public Objective {
 public:
  IntensityPopulation(Vector signal, double weight, double offset)
      : signal_(std::move(signal)),
        squared_(signal_.squaredNorm()),
        weight_(weight),
        offset_(offset) {}

  Index dimension() const override { return signal_.size(); }
  /// E (aᵀDa)² = 2‖D‖_F² + (tr D)² for D = xxᵀ − x*x*ᵀ and Gaussian a, regrouped so that nothing
  /// cancels near ±x*.
  double value(ConstVectorRef x) const override {
    const double longer = (x - signal_).dot(x + signal_);  // ‖x‖² − ‖x*‖²
    const double across = (x - (x.dot(signal_) / squared_) * signal_).squaredNorm();
    return weight_ * (0.75 * longer * longer + squared_ * across) + offset_;
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = weight_ * ((3 * x.squaredNorm() - squared_) * x - 2 * x.dot(signal_) * signal_);
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    out = weight_ *
          ((3 * x.squaredNorm() - squared_) * v + 6 * x.dot(v) * x - 2 * signal_.dot(v) * signal_);
  }

 private:
  Vector signal_;
  double squared_;
  double weight_;
  double offset_;
};

PhaseBounds intensity_bounds(double T, double lowest, double highest) {
  // φ′ = t³ − bt is affine in b, so an end of b's range is extreme; at its upper end −φ′ peaks
  // where 3t² = b.
  const double peak = std::min(T, std::sqrt(highest / 3));
  return {std::max(T * T * T - lowest * T, highest * peak - peak * peak * peak),
          std::max(3 * T * T - lowest, highest), 6 * T};
}

PhaseBounds amplitude_bounds(double T, double e, double lowest, double highest) {
  // with h = √(t² + e²) and c = √(b + e²): φ′ = t(1 − c/h), φ″ = 1 − ce²/h³, φ‴ = 3ce²t/h⁵, affine
  // in c. The smallest c is at most e, so that φ′ then increases; at the largest c, −φ′ peaks where
  // h³ = ce².
  const double c_low = std::sqrt(lowest + e * e), c_high = std::sqrt(highest + e * e);
  const double h_end = std::sqrt(T * T + e * e);
  const double h_peak = std::min(h_end, std::cbrt(c_high * e * e));
  const double t_peak = std::sqrt(std::max(h_peak * h_peak - e * e, 0.0));
  const double t_third = std::min(T, e / 2);  // t/h⁵ peaks at t = e/2
  const double h_third = std::sqrt(t_third * t_third + e * e);
  return {std::max(T * (1 - c_low / h_end), t_peak * (c_high / h_peak - 1)),
          std::max(1 - c_low * e * e / std::pow(h_end, 3), c_high / e - 1),
          3 * c_high * e * e * t_third / std::pow(h_third, 5)};
}

}  // namespace

void add_phase_fields(Fields& fields, PhaseSettings& p) {
  using namespace range;
  fields.push_back(field("signal_norm", p.signal_norm, positive, "norm of x*"));
  fields.push_back(
      field("label_noise", p.label_noise, not_negative, "s; a label is off by s either way"));
  fields.push_back(
      field("domain_factor", p.domain_factor, at_least(1), "radius of the domain over ||x*||"));
  fields.push_back(
      field("initial_spread", p.initial_spread, not_negative, "standard deviation of x0"));
  fields.push_back(design_field(p.design));
  p.start.add_fields(fields);
}

void settle_phase(const PhaseSettings& p, const Stream& random, PublicFacts& facts) {
  const double typical = p.signal_norm / std::sqrt(static_cast<double>(facts.dimension));
  settle_in_ball(p.start,
                 {.spread = p.initial_spread, .random_spread = typical, .far_radius = p.radius()},
                 random, facts);
}

PhaseRegion::PhaseRegion(const PhaseSettings& p, Index d)
    : bounded(p.design == Design::sphere),
      norm(std::sqrt(static_cast<double>(d))),
      reach(bounded ? norm * p.radius() : p.radius()),
      lowest(-p.label_noise),
      highest((bounded ? static_cast<double>(d) : 1.0) * (p.signal_norm * p.signal_norm) +
              p.label_noise),
      in_words(bounded ? "the domain; ‖a‖ ≤ √d, −s ≤ b ≤ b_max"
                       : "the domain, a typical record: |aᵀx| = ‖x‖, ‖a‖ = √d") {}

Constant PhaseRegion::constant(double value, const std::string& proof) const {
  return bounded ? proved(value, in_words, proof) : Constant{value, Origin::estimated, in_words};
}

PhaseBounds phase_bounds(const PhaseLink& link, const PhaseRegion& r) {
  const PhaseBounds b = link.loss == PhaseLoss::intensity
                            ? intensity_bounds(r.reach, r.lowest, r.highest)
                            : amplitude_bounds(r.reach, link.e, r.lowest, r.highest);
  return {link.scale * b.slope, link.scale * b.curvature, link.scale * b.third};
}

double intensity_excess(const Vector& x, double signal_norm) {
  const double squared = x.squaredNorm(), signal_squared = signal_norm * signal_norm;
  return 0.75 * std::pow(squared - signal_squared, 2) + signal_squared * squared;
}

std::unique_ptr<const Objective> intensity_population(Vector signal, Design design, double noise,
                                                      double scale) {
  const auto d = static_cast<double>(signal.size());
  // fourth moments on the sphere of radius √d are d/(d + 2) of the Gaussian ones
  const double moments = design == Design::sphere ? d / (d + 2) : 1.0;
  return std::make_unique<IntensityPopulation>(std::move(signal), scale * moments,
                                               0.25 * scale * noise * noise);
}

Vector orthogonal_direction(const Vector& signal) {
  Index smallest = 0;
  signal.cwiseAbs().minCoeff(&smallest);
  const Vector axis = Vector::Unit(signal.size(), smallest);
  return (axis - (signal[smallest] / signal.squaredNorm()) * signal).normalized();
}

PhaseInstance draw_phase_instance(const PhaseSettings& p, Index d, const InstanceSpec& spec) {
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  PhaseInstance made{Vector(d), Matrix(d, spec.records), {}};
  Stream(key.child(0)).fill_normal(1.0, made.signal);
  made.signal *= p.signal_norm / made.signal.norm();
  draw_design(p.design, std::sqrt(static_cast<double>(d)), Stream(key.child(1)), made.measurements);
  made.labels = (made.measurements.transpose() * made.signal).cwiseAbs2();
  Stream signs(key.child(2));
  for (double& b : made.labels) b += signs.bernoulli(0.5) ? p.label_noise : -p.label_noise;
  return made;
}

std::vector<Landmark> intensity_landmarks(const PhaseInstance& instance) {
  using enum Landmark::Kind;
  const Vector& signal = instance.signal;
  const Vector origin = Vector::Zero(signal.size());
  std::vector<Landmark> landmarks{{"x*", minimiser, Landmark::Of::population, signal},
                                  {"−x*", minimiser, Landmark::Of::population, -signal},
                                  {"origin", strict_saddle, Landmark::Of::population, origin}};
  if (signal.size() >= 2)
    landmarks.push_back({"orthogonal to x*, of length ‖x*‖/√3", strict_saddle,
                         Landmark::Of::population,
                         signal.norm() / std::numbers::sqrt3 * orthogonal_direction(signal)});
  // the trace of −∇²F(0) is the mean of b‖a‖²
  if (instance.measurements.colwise().squaredNorm().dot(instance.labels) > 0)
    landmarks.push_back({"origin", strict_saddle, Landmark::Of::empirical, origin});
  return landmarks;
}

std::optional<Slice> phase_slice(const Vector& signal) {
  if (signal.size() < 2) return std::nullopt;
  return Slice{
      "F over the plane of x* (horizontal) and a direction orthogonal to it, in units of "
      "‖x*‖: minimisers at (±1, 0), saddles at (0, 0) and on the vertical axis",
      Vector::Zero(signal.size()),
      signal,
      signal.norm() * orthogonal_direction(signal),
      -1.6,
      1.6,
      -1.6,
      1.6,
      "along x*",
      "orthogonal to x*"};
}

RecordColumns extreme_phase_records(Index dimension, const PhaseRegion& r) {
  RecordColumns corners{Matrix::Zero(dimension, 4), Vector(4)};
  corners.features.row(0).head(2).setConstant(r.norm);
  corners.features.rightCols(2).setConstant(r.norm / std::sqrt(static_cast<double>(dimension)));
  corners.labels << r.lowest, r.highest, r.lowest, r.highest;
  return corners;
}

}  // namespace dpsosp
