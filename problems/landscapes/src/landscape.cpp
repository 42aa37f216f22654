// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/landscape.hpp"

#include <cmath>
#include <utility>

#include "dpsosp/problems/diagonal_objective.hpp"
#include "linear_records.hpp"

namespace dpsosp {
namespace {

class Tilted final : public Objective {
 public:
  Tilted(std::shared_ptr<const Objective> landscape, Vector mean)
      : landscape_(std::move(landscape)), mean_(std::move(mean)) {}

  Index dimension() const override { return mean_.size(); }
  double value(ConstVectorRef x) const override { return landscape_->value(x) + mean_.dot(x); }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    landscape_->gradient(x, out);
    out += mean_;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    landscape_->hessian_product(x, v, out);
  }
  void hessian(ConstVectorRef x, MatrixRef out) const override { landscape_->hessian(x, out); }
  Index hessian_cost() const override { return landscape_->hessian_cost(); }
  bool diagonal() const override { return landscape_->diagonal(); }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    landscape_->hessian_diagonal(x, out);
  }

 private:
  std::shared_ptr<const Objective> landscape_;
  Vector mean_;
};

/// Corners of {−s, s}^d: all equal, alternating, and one without symmetry.
Matrix corner_tilts(Index d, double s) {
  Matrix corners(d, 6);
  for (Index j = 0; j < d; ++j) {
    const double alternating = j % 2 == 0 ? s : -s;
    const double halves = 2 * j < d ? s : -s;
    corners.row(j) << s, -s, alternating, -alternating, halves, -halves;
  }
  return corners;
}

}  // namespace

std::unique_ptr<const Objective> tilted(std::shared_ptr<const Objective> landscape,
                                        Vector mean_tilt) {
  return std::make_unique<Tilted>(std::move(landscape), std::move(mean_tilt));
}

Fields LandscapeFamily::fields() {
  Fields fields = landscape_fields();
  fields.push_back(
      field("tilt", tilt, range::not_negative, "X, length of every record's own gradient"));
  fields.push_back(sampling_field(sampling, {RecordSampling::balanced, RecordSampling::independent,
                                             RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void LandscapeFamily::settle(const Stream& random, PublicFacts& facts) const {
  const Landscape made = landscape(facts.dimension);
  facts.domain = made.domain;
  const auto* separable = dynamic_cast<const SeparableObjective*>(made.objective.get());
  facts.separable = separable != nullptr && separable->coordinates_alike();
  facts.initial_point = start.pick(facts, made.starts, random);
}

Constants LandscapeFamily::constants(const PublicFacts& facts) const {
  Constants made = landscape_constants(facts.dimension);
  if (made.contains(constant::lipschitz)) {
    Constant bound = made.at(constant::lipschitz);
    bound.value += tilt;
    bound.proof += " A record adds its own z, of length X.";
    made.set(constant::lipschitz, std::move(bound));
  }
  const Landscape of = landscape(facts.dimension);
  if (of.minimum) {
    const double difference = of.objective->value(facts.initial_point) - *of.minimum;
    made.set(
        constant::suboptimality,
        suboptimality_by_mean(
            difference < 0 ? 0 : difference,  // rounding, at the minimum
            tilt * facts.domain.diameter(facts.dimension), sampling,
            "F(x₀) less the known minimum; the records' mean is zero.",
            "F(x₀) less the known minimum, and the tilt moves a difference by at most X·diam."));
  }
  return made;
}

void LandscapeFamily::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Constants& c = problem.facts.constants;
  Landscape made = landscape(d);
  CurvatureBounds curvature;  // without ρ the Hessian may jump, and its products are not answered
  if (c.contains(constant::smoothness) && c.contains(constant::hessian_lipschitz))
    curvature = {c[constant::smoothness], c[constant::hessian_lipschitz]};
  const double entry = tilt / std::sqrt(static_cast<double>(d));
  LinearRecordsMade linear = make_linear_records({.problem = std::string(name()),
                                                  .landscape = made.objective,
                                                  .curvature = curvature,
                                                  .entry = entry,
                                                  .records = spec.records,
                                                  .sampling = sampling,
                                                  .data_seed = spec.data_seed});
  problem.records = std::move(linear.records);
  problem.simulated = std::move(linear.simulated);
  if (linear.mean.size() > 0) problem.empirical = tilted(made.objective, std::move(linear.mean));
  problem.population = tilted(made.objective, Vector::Zero(d));
  problem.extremes =
      linear_records(std::string(name()), made.objective, curvature, corner_tilts(d, entry));
  problem.landmarks = std::move(made.landmarks);
  if (sampling == RecordSampling::balanced) share_landmarks(problem.landmarks);
  problem.slice = std::move(made.slice);
}

}  // namespace dpsosp
