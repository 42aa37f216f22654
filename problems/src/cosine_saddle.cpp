// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/cosine_saddle.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "chunked_sum.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp {

void DiagonalObjective::hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const {
  hessian_diagonal(x, out);
  out.array() *= v.array();
}

double DiagonalObjective::lambda_min(ConstVectorRef x) const {
  Vector diagonal(dimension());
  hessian_diagonal(x, diagonal);
  return diagonal.minCoeff();
}

namespace {

class CosineSaddleObjective final : public DiagonalObjective {
 public:
  CosineSaddleObjective(double amplitude, Vector mean_cos, Vector mean_sin)
      : a_(amplitude), cos_(std::move(mean_cos)), sin_(std::move(mean_sin)) {}

  Index dimension() const override { return cos_.size(); }
  double value(ConstVectorRef x) const override {
    return a_ * (1.0 - (cos_.array() * x.array().cos() + sin_.array() * x.array().sin())).sum();
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = a_ * (cos_.array() * x.array().sin() - sin_.array() * x.array().cos());
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out = a_ * (cos_.array() * x.array().cos() + sin_.array() * x.array().sin());
  }

 private:
  double a_;
  Vector cos_;
  Vector sin_;
};

class CosineSaddleRecords final : public Records {
 public:
  CosineSaddleRecords(double amplitude, double spread, Matrix signs)
      : a_(amplitude),
        cos_s_(std::cos(spread)),
        sin_s_(std::sin(spread)),
        signs_(std::move(signs)) {}

  Index size() const override { return signs_.cols(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    const Vector sine = a_ * cos_s_ * point.x.array().sin();
    const Vector cosine = a_ * sin_s_ * point.x.array().cos();
    return sum(sine, cosine, block, batch, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    const Vector sine = a_ * cos_s_ * (point.x.array().sin() - previous.x.array().sin());
    const Vector cosine = a_ * sin_s_ * (point.x.array().cos() - previous.x.array().cos());
    return sum(sine, cosine, block, batch, limit, out);
  }

 private:
  /// Record i contributes sine − z_i ∘ cosine: a sin(x − s z) expanded for z = ±1.
  ClipReport sum(const Vector& sine,
                 const Vector& cosine,
                 Block block,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const {
    if (block != Block::x)
      throw InputError("cosine-saddle: a minimisation problem has no dual block");
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      ClipReport report;
      for (Index k = first; k < last; ++k) {
        const auto contribution = sine - signs_.col(batch[k]).cwiseProduct(cosine);
        partial += report.weigh(contribution.norm(), limit) * contribution;
      }
      return report;
    });
  }

  double a_;
  double cos_s_;
  double sin_s_;
  Matrix signs_;  // d × n, ±1
};

}  // namespace

std::unique_ptr<const DiagonalObjective> cosine_saddle_objective(double amplitude,
                                                                 Vector mean_cos,
                                                                 Vector mean_sin) {
  return std::make_unique<CosineSaddleObjective>(
      amplitude, std::move(mean_cos), std::move(mean_sin));
}

std::string_view CosineSaddle::summary() const {
  return "sum_j a (1 - cos(x_j - s z_j)); strict saddles, lambda_min known everywhere";
}

Fields CosineSaddle::fields() {
  return {field("amplitude", amplitude, "a"), field("spread", spread, "s")};
}

Problem CosineSaddle::make(const InstanceSpec& spec) const {
  check_records(name(), spec.records);
  const Index d = spec.dimension.value_or(10);
  if (d < 1) reject(name(), "dimension", static_cast<double>(d), ">= 1");
  if (!(amplitude > 0)) reject(name(), "amplitude", amplitude, "> 0");
  if (!(spread >= 0 && spread < std::numbers::pi / 2))
    reject(name(), "spread", spread, "in [0, pi/2)");

  Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
  Matrix signs(d, spec.records);
  for (double& z : signs.reshaped()) z = stream.bernoulli(0.5) ? 1.0 : -1.0;

  Problem problem;
  PublicFacts& facts = problem.facts;
  facts.name = name();
  facts.dimension = d;
  facts.records = spec.records;
  facts.initial_point = Vector::Zero(d);
  facts.initial_point.head((d + 1) / 2).setConstant(std::numbers::pi);
  const auto root_d = std::sqrt(static_cast<double>(d));
  facts.constants.set(constant::lipschitz, {amplitude * root_d, Origin::proved});
  facts.constants.set(constant::smoothness, {amplitude, Origin::proved});
  facts.constants.set(constant::hessian_lipschitz, {amplitude, Origin::proved});
  facts.constants.set(constant::suboptimality,
                      {2.0 * amplitude * static_cast<double>(d), Origin::proved, "initial point"});

  const Vector mean_sign = signs.rowwise().mean();
  problem.empirical = cosine_saddle_objective(
      amplitude, Vector::Constant(d, std::cos(spread)), std::sin(spread) * mean_sign);
  problem.population =
      cosine_saddle_objective(amplitude, Vector::Constant(d, std::cos(spread)), Vector::Zero(d));
  problem.records = std::make_unique<CosineSaddleRecords>(amplitude, spread, std::move(signs));
  return problem;
}

}  // namespace dpsosp
