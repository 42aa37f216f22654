// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/covariance_gan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/problems/fixed_dimension.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "low_rank.hpp"

namespace dpsosp {
namespace {

using ConstMatrixMap = Eigen::Map<const Matrix>;

Index triangle(Index p) { return p * (p + 1) / 2; }

/// Calls visit(k, i, j, scale) for each entry k of y: Y_ij times scale.
template <class Visit>
void for_lower(Index p, const Visit& visit) {
  Index k = 0;
  for (Index j = 0; j < p; ++j)
    for (Index i = j; i < p; ++i) visit(k++, i, j, i == j ? 1.0 : std::numbers::sqrt2);
}

/// ∇f = (−2YU, zzᵀ − UUᵀ − μY): the record is in ∇_Y of one point alone.
struct CovarianceGanLoss {
  static constexpr std::string_view problem = "covariance-gan";
  static constexpr DenseDual dual = DenseDual::shared;
  static constexpr DenseLength length = DenseLength::by_block;
  struct Facts {
    Index rows, rank;
    double mu;
  };
  struct Gradients : DenseQuery<Facts> {
    Gradients(const Facts& f, const Point& point, const Point* previous, Block asked)
        : DenseQuery(f, point, previous, asked), common(without_record(point)) {
      if (difference) common -= without_record(*previous);
    }
    Vector without_record(const Point& at) const {
      const Index p = facts.rows, d = p * facts.rank;
      const ConstMatrixMap U(at.x.data(), p, facts.rank);
      Matrix Y(p, p), of_x(p, facts.rank);
      Vector of_y = -facts.mu * at.y;
      for_lower(p, [&](Index k, Index i, Index j, double scale) {
        Y(i, j) = Y(j, i) = at.y[k] / scale;
        of_y[k] -= scale * U.row(i).dot(U.row(j));
      });
      if (block == Block::y) return of_y;
      of_x.noalias() = -2 * Y * U;
      if (block == Block::x) return of_x.reshaped();
      Vector both(d + of_y.size());
      both << of_x.reshaped(), of_y;
      return both;
    }
    Vector common;
  };

  static Index dimension(const Facts& facts) { return facts.rows * facts.rank; }
  static Index dual_dimension(const Facts& facts) { return triangle(facts.rows); }
  static bool reads_record(Block block, bool difference) {
    return block != Block::x && !difference;
  }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = at.common;
    if (at.difference || at.block == Block::x) return {};
    auto of_y = v.tail(triangle(at.facts.rows));
    for_lower(at.facts.rows, [&](Index k, Index i, Index j, double scale) {
      of_y[k] += scale * z.column[i] * z.column[j];
    });
    return {};
  }
};

/// ‖z‖ = norm along an axis and along the diagonal, and no z.
Matrix extreme_samples(Index p, double norm) {
  Matrix corners = Matrix::Zero(p, 3);
  corners(0, 0) = norm;
  corners.col(1).setConstant(norm / std::sqrt(static_cast<double>(p)));
  return corners;
}

/// The eigenvalues of S*, descending.
Vector spectrum_of(const CovarianceGan& f) {
  Vector spectrum = Vector::Constant(f.rows, f.floor);
  spectrum.head(f.planted_rank) = geometric_spectrum(f.planted_rank, f.planted_norm, f.condition);
  return spectrum;
}

/// Z² of ‖z‖ ≤ Z, or of typical samples ‖S‖₂ ≤ 2σ_1.
double sample_squared(const CovarianceGan& f) {
  return (f.design == Design::sphere ? static_cast<double>(f.rows) : 2.0) * f.planted_norm;
}

}  // namespace

std::string_view CovarianceGan::summary() const {
  return "<Y, z z' - U U'> - (mu/2)|Y|^2; shared dual, x-gradients free of the records given Y";
}

ProblemNotes CovarianceGan::notes() const {
  return {
      .group = "Minimax",
      .formula =
          "f(U, Y; z) = ⟨Y, zzᵀ − UUᵀ⟩ − (μ/2)‖Y‖_F², S = (1/n) Σ zzᵀ, Y* = (S − UUᵀ)/μ, "
          "Φ(U) = ‖S − UUᵀ‖_F²/(2μ); population: S* for S. y is the lower triangle of Y, "
          "isometrically. z = S*^{1/2}a, a uniform on ‖a‖ = √p or N(0, I). Given Y, "
          "∇_U f = −2YU is the same for every record. Domain ‖U‖_F ≤ R.",
      .source = "xu-2026 notes, 8.4",
      .critical_points =
          "With σ_1 ≥ σ_2 ≥ … the eigenvalues of S, or of S* for the population: the origin is a "
          "strict saddle with λ_min = −2σ_1/μ; the truncation of S at a rank j < r is one with "
          "λ_min = −2σ_{j+1}/μ; that at r, up to rotations, is the minimiser, "
          "Φ* = Σ_{k>r} σ_k²/(2μ)."};
}

Fields CovarianceGan::fields() {
  using namespace range;
  Fields fields{
      field("rows", rows, at_least(1), "p"),
      field("rank", rank, at_least(1), "r, columns of U"),
      field("planted_rank", planted_rank, at_least(1), "eigenvalues of S* above the floor"),
      field("planted_norm", planted_norm, positive, "sigma_1 of S*"),
      field("condition", condition, at_least(1), "sigma_1 over the smallest one above the floor"),
      field("floor", floor, not_negative, "the other eigenvalues of S*"),
      field("strong_concavity", strong_concavity, positive, "mu"),
      field("domain_factor", domain_factor, at_least(1),
            "radius of the domain over that of the minimisers"),
      field("initial_spread", initial_spread, not_negative, "standard deviation of U0"),
      design_field(design)};
  start.add_fields(fields);
  return fields;
}

Index CovarianceGan::dimension(const InstanceSpec& spec) const {
  check_planted_rank(name(), planted_rank, rows, "rows");
  if (!(floor <= planted_norm / condition))
    reject(name(), "floor", floor, "in [0, planted_norm / condition]");
  const Index d = rows * rank;
  return check_fixed_dimension(name(), spec, d,
                               fmt::format("rows rank = {}; set problem.rows and problem.rank", d));
}

void CovarianceGan::settle(const Stream& random, PublicFacts& facts) const {
  const double radius =
      domain_factor * std::sqrt(spectrum_of(*this).head(std::min(rank, rows)).sum());
  set_dual(facts, DualKind::shared, Vector::Zero(triangle(rows)));
  settle_in_ball(start,
                 {.spread = initial_spread,
                  .random_spread = std::sqrt(planted_norm / static_cast<double>(rows)),
                  .far_radius = radius},
                 random, facts);
}

Constants CovarianceGan::constants(const PublicFacts& facts) const {
  const double mu = strong_concavity, radius = facts.domain.radius;
  const double radius_squared = radius * radius, longest = sample_squared(*this);
  const std::string region = design == Design::sphere
                                 ? "the domain; ‖z‖² ≤ Z²"
                                 : "the domain, a typical data set: ‖S‖₂ ≤ 2σ_1";
  const auto of_value = [&](double value, const std::string& proof) {
    return design == Design::sphere ? proved(value, region, proof)
                                    : Constant{value, Origin::estimated, region};
  };
  Constants c;
  c.set(
      constant::smoothness,
      of_value(2 / mu * std::max(3 * radius_squared, longest),
               "(μ/2)∇²Φ[V, V] = ½‖UVᵀ + VUᵀ‖_F² + ⟨(UUᵀ − S)V, V⟩, between −Z² (at U = 0) and "
               "2R² + R² for unit V, as 0 ⪯ S ⪯ Z² and ‖U‖_F ≤ R; S = 0 and V = U/R, or S = Z²vvᵀ, "
               "attain it."));
  c.set(constant::hessian_lipschitz,
        of_value(12 * radius / mu,
                 "(μ/2)∇³Φ[V, V, W] = ⟨UWᵀ + WUᵀ, VVᵀ⟩ + ⟨UVᵀ + VUᵀ, VWᵀ + WVᵀ⟩, at most 2R + 4R "
                 "for unit V and W; attained at U = RV of rank one and W = V, whatever S."));
  c.set(constant::strong_concavity, proved(mu, "everywhere", "∇²_yy f = −μI."));
  const double dual = std::max(radius_squared, longest) / mu;  // ‖Y‖₂ at the maximisers
  c.set(constant::joint_smoothness,
        {dual + mu / 2 + hypotenuse(dual - mu / 2, 2 * radius), Origin::estimated,
         region + "; ‖Y‖₂ ≤ max(R², Z²)/μ, the maximisers' range"});
  c.set(constant::lipschitz, {2 * dual * radius, Origin::estimated,
                              region + "; Y the maximiser of a data set of equal records"});
  const ConstMatrixMap U0(facts.initial_point.data(), rows, rank);
  const double planted = spectrum_of(*this).head(std::min(rank, rows)).squaredNorm();
  c.set(constant::suboptimality,
        {((U0.transpose() * U0).squaredNorm() + planted) / (2 * mu), Origin::estimated,
         "initial point, of the population (‖S* − UUᵀ‖_F² ≤ ‖S*‖_F² + ‖UUᵀ‖_F²)"});
  return c;
}

void CovarianceGan::draw(const InstanceSpec& spec, Problem& problem) const {
  const Vector spectrum = spectrum_of(*this);
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const Matrix Q = random_orthonormal(rows, rows, Stream(key.child(0)));
  const Matrix planted = Q * spectrum.asDiagonal() * Q.transpose();
  Matrix samples(rows, spec.records);
  draw_design(design, std::sqrt(static_cast<double>(rows)), Stream(key.child(1)), samples);
  samples = (Q * spectrum.cwiseSqrt().asDiagonal() * samples).eval();
  Matrix covariance = samples * samples.transpose() / static_cast<double>(spec.records);

  add_picture(symmetric_picture(planted, rank, Landmark::Of::population), problem);
  for (Landmark& l : symmetric_picture(covariance, rank, Landmark::Of::empirical).landmarks)
    if (problem.facts.domain.contains(l.point))  // a few records may be longer than it is wide
      problem.landmarks.push_back(std::move(l));
  problem.population = covariance_gan_value(planted, rank, strong_concavity);
  problem.empirical = covariance_gan_value(std::move(covariance), rank, strong_concavity);
  problem.records = covariance_gan_records(std::move(samples), rank, strong_concavity);
  if (design == Design::sphere)
    problem.extremes = covariance_gan_records(
        extreme_samples(rows, std::sqrt(sample_squared(*this))), rank, strong_concavity);
}

std::unique_ptr<const AnyRecords> covariance_gan_records(Matrix samples, Index rank,
                                                         double strong_concavity) {
  const CovarianceGanLoss::Facts facts{samples.rows(), rank, strong_concavity};
  const Vector labels = Vector::Zero(samples.cols());
  return admit<CovarianceGanLoss>(facts, RecordTable({std::move(samples), labels}));
}

std::unique_ptr<const Objective> covariance_gan_value(Matrix covariance, Index rank,
                                                      double strong_concavity) {
  return symmetric_objective(std::move(covariance), rank, 2 / strong_concavity, 0.0);
}

}  // namespace dpsosp
