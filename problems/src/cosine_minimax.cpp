// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/cosine_minimax.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "chunked_sum.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

class CosineMinimaxValue final : public DiagonalObjective {
 public:
  CosineMinimaxValue(Vector c, double mu, double gamma, Vector mean_dual, Vector mean_primal)
      : c_(std::move(c)),
        mu_(mu),
        gamma_(gamma),
        mean_dual_(std::move(mean_dual)),
        mean_primal_(std::move(mean_primal)) {}

  Index dimension() const override { return mean_primal_.size(); }
  double value(ConstVectorRef x) const override {
    return inner(x).squaredNorm() / (2.0 * mu_) + gamma_ * x.array().cos().sum() +
           mean_primal_.dot(x);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = mean_primal_.array() - gamma_ * x.array().sin();
    out.head(c_.size()) += c_.cwiseProduct(inner(x)) / mu_;
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out = -gamma_ * x.array().cos();
    out.head(c_.size()) += c_.cwiseAbs2() / mu_;
  }

 private:
  Vector inner(ConstVectorRef x) const { return c_.cwiseProduct(x.head(c_.size())) + mean_dual_; }

  Vector c_;
  double mu_;
  double gamma_;
  Vector mean_dual_;
  Vector mean_primal_;
};

class CosineMinimaxRecords final : public Records {
 public:
  CosineMinimaxRecords(double c, double mu, double gamma, Matrix e, Matrix s)
      : c_(c), mu_(mu), gamma_(gamma), e_(std::move(e)), s_(std::move(s)) {}

  Index size() const override { return e_.cols(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    const auto [x_common, y_common] = common(point);
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      const Index dx = block == Block::y ? 0 : x_common.size();
      const Index dy = block == Block::x ? 0 : y_common.size();
      ClipReport report;
      for (Index k = first; k < last; ++k) {
        const auto x_part = x_common.head(dx) + s_.col(batch[k]).head(dx);
        const auto y_part = y_common.head(dy) + e_.col(batch[k]).head(dy);
        const double weight =
            report.weigh(std::sqrt(x_part.squaredNorm() + y_part.squaredNorm()), limit);
        partial.head(dx) += weight * x_part;
        partial.tail(dy) += weight * y_part;
      }
      return report;
    });
  }

  /// The records cancel: every record's difference is the same vector.
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    const auto [x_to, y_to] = common(point);
    const auto [x_from, y_from] = common(previous);
    const Index dx = block == Block::y ? 0 : x_to.size();
    const Index dy = block == Block::x ? 0 : y_to.size();
    Vector difference(dx + dy);
    difference << (x_to - x_from).head(dx), (y_to - y_from).head(dy);
    ClipReport report;
    const double weight = report.weigh(difference.norm(), limit);
    report.clipped *= batch.size();
    out += (weight * static_cast<double>(batch.size())) * difference;
    return report;
  }

 private:
  /// ∇f without the record's own e and s.
  std::pair<Vector, Vector> common(const Point& point) const {
    if (!point.has_dual())
      throw InputError("cosine-minimax: its dual is shared by all records, so a query needs y");
    Vector x_part = -gamma_ * point.x.array().sin();
    x_part.head(point.y.size()) += c_ * point.y;
    Vector y_part = c_ * point.x.head(point.y.size()) - mu_ * point.y;
    return {std::move(x_part), std::move(y_part)};
  }

  double c_;
  double mu_;
  double gamma_;
  Matrix e_;  // m × n
  Matrix s_;  // (m + k) × n
};

/// Columns uniform in the unit ball, then centred and scaled so that all stay inside it.
Matrix centred_ball_points(Index dimension, Index count, Stream stream) {
  Matrix points(dimension, count);
  for (Index i = 0; i < count; ++i) stream.fill_ball(1.0, points.col(i));
  points.colwise() -= points.rowwise().mean().eval();
  points /= std::max(1.0, points.colwise().norm().maxCoeff());
  return points;
}

}  // namespace

std::unique_ptr<const DiagonalObjective> cosine_minimax_value(
    Vector coupling, double strong_concavity, double gamma, Vector mean_dual, Vector mean_primal) {
  return std::make_unique<CosineMinimaxValue>(
      std::move(coupling), strong_concavity, gamma, std::move(mean_dual), std::move(mean_primal));
}

std::string_view CosineMinimax::summary() const {
  return "y.(c x_{1..m} + e) - mu|y|^2/2 + gamma sum cos x_j + s.x; shared dual, lambda_min known";
}

ProblemNotes CosineMinimax::notes() const {
  return {
      .group = "Minimax",
      .formula =
          "f(x, y; e, s) = yᵀ(c ∘ x_{1..m} + e) − (μ/2)‖y‖² + γ Σ_j cos x_j + sᵀx with "
          "‖e‖, ‖s‖ ≤ 1, centred. y*(x) = (c ∘ x_{1..m} + ē)/μ and "
          "Φ(x) = ‖c ∘ x_{1..m} + ē‖²/(2μ) + γ Σ_j cos x_j + s̄ᵀx.",
      .source = "xu-2026, zoo entry 8.3",
      .critical_points =
          "The Hessian of Φ is diagonal, c²/μ − γ cos x_j for j ≤ m and −γ cos x_j beyond. With "
          "ē = s̄ = 0 and c²/μ > γ the origin is a strict saddle with λ_min = −γ and the minima "
          "are x_j = 0 (j ≤ m), ±π (j > m)."};
}

Fields CosineMinimax::fields() {
  return {field("coupled", coupled, "m = d2"),
          field("free", free, "k; d = m + k"),
          field("coupling", coupling, "c"),
          field("strong_concavity", strong_concavity, "mu"),
          field("gamma", gamma, "gamma"),
          field("clip", clip, "limit for per-record gradients")};
}

Problem CosineMinimax::make(const InstanceSpec& spec) const {
  check_records(name(), spec.records);
  if (coupled < 1) reject(name(), "coupled", static_cast<double>(coupled), ">= 1");
  if (free < 0) reject(name(), "free", static_cast<double>(free), ">= 0");
  if (!(strong_concavity > 0)) reject(name(), "strong_concavity", strong_concavity, "> 0");
  if (!(gamma > 0)) reject(name(), "gamma", gamma, "> 0");
  if (!(clip > 0)) reject(name(), "clip", clip, "> 0");
  const double stiffness = coupling * coupling / strong_concavity;
  if (!(stiffness > gamma))
    reject(name(), "coupling", coupling, "coupling^2 / strong_concavity > gamma");
  const Index d = coupled + free;
  if (spec.dimension && *spec.dimension != d)
    reject(name(),
           "dimension",
           static_cast<double>(*spec.dimension),
           fmt::format("coupled + free = {}; set problem.coupled and problem.free", d));

  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  Matrix e = centred_ball_points(coupled, spec.records, Stream(key.child(0)));
  Matrix s = centred_ball_points(d, spec.records, Stream(key.child(1)));

  Problem problem;
  PublicFacts& facts = problem.facts;
  facts.name = name();
  facts.dimension = d;
  facts.records = spec.records;
  facts.dual_kind = DualKind::shared;
  facts.dual_dimension = coupled;
  facts.initial_point = Vector::Zero(d);
  facts.initial_dual = Vector::Zero(coupled);
  Constants& c = facts.constants;
  c.set(constant::lipschitz, {clip, Origin::clipped});
  c.set(constant::smoothness,
        {stiffness + gamma,
         Origin::proved,
         "everywhere",
         "Φ's Hessian is diagonal with entries in [−γ, c²/μ + γ].",
         1.0});
  c.set(constant::hessian_lipschitz,
        {gamma,
         Origin::proved,
         "everywhere",
         "Each of those entries is γ-Lipschitz in its own coordinate.",
         1.0});
  c.set(constant::joint_smoothness,
        {coupling + std::max(gamma, strong_concavity),
         Origin::proved,
         "everywhere",
         "∇f is affine in (x, y) plus −γ sin x: a pair (x_j, y_j) sees [[−γ cos, c], [c, −μ]], of "
         "norm at most c + max(γ, μ).",
         0.92});
  c.set(constant::strong_concavity,
        {strong_concavity, Origin::proved, "everywhere", "∇²_yy f = −μI.", 1.0});
  c.set(constant::suboptimality,
        {2.0 * gamma * static_cast<double>(free),
         Origin::estimated,
         "exact for centred records, x0 = 0"});
  problem.empirical = cosine_minimax_value(Vector::Constant(coupled, coupling),
                                           strong_concavity,
                                           gamma,
                                           e.rowwise().mean(),
                                           s.rowwise().mean());
  problem.records = std::make_unique<CosineMinimaxRecords>(
      coupling, strong_concavity, gamma, std::move(e), std::move(s));
  return problem;
}

}  // namespace dpsosp
