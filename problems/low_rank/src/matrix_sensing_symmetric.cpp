// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_sensing_symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/problems/fixed_dimension.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "low_rank.hpp"

namespace dpsosp {
namespace {

using ConstMatrixMap = Eigen::Map<const Matrix>;
using MatrixMap = Eigen::Map<Matrix>;

/// A record is (vec A_i, ‖A_i²‖_F^{1/2}), the latter between ‖A_i‖₂ and ‖A_i‖_F.
struct SymmetricSensingLoss {
  static constexpr std::string_view problem = "matrix-sensing-symmetric";
  static constexpr DenseDual dual = DenseDual::none;
  struct Facts {
    Index rows, rank;

    ConstMatrixMap factor(const double* x) const { return {x, rows, rank}; }
    MatrixMap write(double* v) const { return {v, rows, rank}; }
    ConstMatrixMap measurement(const DenseRecord& z) const { return {z.column.data(), rows, rows}; }
    Vector outer(ConstVectorRef x) const {
      return (factor(x.data()) * factor(x.data()).transpose()).reshaped();
    }
    double inner(const DenseRecord& z, const Vector& product) const {
      return z.column.head(rows * rows).dot(product);
    }
    double residual(const DenseRecord& z, const Vector& product) const {
      return inner(z, product) - z.label;
    }
  };
  /// With UUᵀ at the points.
  struct Gradients : DenseQuery<Facts> {
    Gradients(const Facts& f, const Point& point, const Point* previous, Block asked)
        : DenseQuery(f, point, previous, asked), product(f.outer(x)) {
      if (difference) product_before = f.outer(x_before);
    }
    Vector product, product_before;
  };
  struct Losses : Gradients {
    Losses(const Facts& f, const Point& point, const Point& centre)
        : Gradients(f, point, &centre, Block::x) {}
  };
  /// Of a difference with UUᵀ − U′U′ᵀ, U + U′ and U − U′.
  struct Products : DenseQuery<Facts> {
    Products(const Facts& f, const Point& point, const Point* previous, ConstVectorRef v)
        : DenseQuery(f, point, previous, v), product(f.outer(x)) {
      if (!difference) return;
      product -= f.outer(x_before);
      sum = x + x_before;
      moved = x - x_before;
    }
    Vector product, sum, moved;
  };

  static Index dimension(const Facts& f) { return f.rows * f.rank; }
  static Index scratch(const Products& at) { return at.difference ? 2 * padded(at.facts) : 0; }

  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    const Facts& f = at.facts;
    const auto A = f.measurement(z);
    f.write(v.data()).noalias() = f.residual(z, at.product) * A * f.factor(at.x.data());
    if (at.difference)
      f.write(v.data()).noalias() -=
          f.residual(z, at.product_before) * A * f.factor(at.x_before.data());
    return {};
  }

  static double loss(const Losses& at, const DenseRecord& z, double*) {
    const double r = at.facts.residual(z, at.product),
                 before = at.facts.residual(z, at.product_before);
    return 0.25 * (r - before) * (r + before);
  }

  /// ∇²f[V] = 2⟨AU, V⟩ AU + (⟨A, UUᵀ⟩ − b) AV, of norm at most 2‖AU‖_F² + |⟨A, UUᵀ⟩ − b|‖A‖₂.
  static double product(const Products& at, const DenseRecord& z, double* scratch, VectorRef w) {
    const Facts& f = at.facts;
    const double spectral = z.column[f.rows * f.rows];
    const auto A = f.measurement(z);
    if (at.difference) return change(at, z, spectral, scratch, w);
    f.write(w.data()).noalias() = A * f.factor(at.x.data());
    const double squared = w.squaredNorm(), r = f.residual(z, at.product);
    w *= 2 * w.dot(at.direction);
    f.write(w.data()).noalias() += r * A * f.factor(at.direction.data());
    return 2 * squared + std::abs(r) * spectral;
  }

 private:
  static Index padded(const Facts& f) { return (dimension(f) + 1) / 2 * 2; }

  /// The difference of 2 (AU)(AU)ᵀ is the symmetric product of A(U + U′) and A(U − U′).
  static double change(const Products& at, const DenseRecord& z, double spectral, double* scratch,
                       VectorRef w) {
    const Facts& f = at.facts;
    const auto A = f.measurement(z);
    Eigen::Map<Vector> a(scratch, w.size()), b(scratch + padded(f), w.size());
    f.write(a.data()).noalias() = A * f.factor(at.sum.data());
    f.write(b.data()).noalias() = A * f.factor(at.moved.data());
    f.write(w.data()).noalias() = A * f.factor(at.direction.data());
    const double change = f.inner(z, at.product);
    w = change * w + b.dot(at.direction) * a + a.dot(at.direction) * b;
    return 2 * a.norm() * b.norm() + std::abs(change) * spectral;
  }
};

/// F(U) = ½ Φ(U, U), with Φ the half mean squared residual of two free factors.
class SymmetricSensingObjective final : public Objective {
 public:
  explicit SymmetricSensingObjective(const SymmetricSensingData& m)
      : two_factors_(matrix_sensing_value(std::make_shared<const MatrixSensingData>(
            MatrixSensingData{{m.measurements, m.labels}, m.rows, m.rows, m.rank}))) {}

  Index dimension() const override { return two_factors_->dimension() / 2; }
  double value(ConstVectorRef x) const override { return 0.5 * two_factors_->value(twice(x)); }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    Vector both(2 * x.size());
    two_factors_->gradient(twice(x), both);
    out = 0.5 * (both.head(x.size()) + both.tail(x.size()));
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    Vector both(2 * x.size());
    two_factors_->hessian_product(twice(x), twice(v), both);
    out = 0.5 * (both.head(x.size()) + both.tail(x.size()));
  }
  void hessian(ConstVectorRef x, MatrixRef out) const override {
    const Index d = x.size();
    Matrix both(2 * d, 2 * d);
    two_factors_->hessian(twice(x), both);
    out = 0.5 * (both.topLeftCorner(d, d) + both.topRightCorner(d, d) +
                 both.bottomLeftCorner(d, d) + both.bottomRightCorner(d, d));
  }
  Index hessian_cost() const override { return two_factors_->hessian_cost(); }

 private:
  static Vector twice(ConstVectorRef x) { return x.replicate(2, 1); }

  std::unique_ptr<const Objective> two_factors_;
};

/// Replaces every column's p × p matrix by its symmetric part, all that ⟨A, UUᵀ⟩ sees.
void symmetrise(Matrix& measurements, Index rows) {
  for (auto column : measurements.colwise()) {
    MatrixMap A(column.data(), rows, rows);
    A = (0.5 * (A + A.transpose())).eval();
  }
}

/// Largest rank-one measurements, along an axis and along the diagonal, under the largest labels.
SymmetricSensingData extreme_data(Index rows, Index rank, double norm, double label) {
  SymmetricSensingData corners{rows, rank, Matrix::Zero(rows * rows, 4), Vector(4)};
  corners.measurements.row(0).head(2).setConstant(norm);
  corners.measurements.rightCols(2).setConstant(norm / static_cast<double>(rows));
  corners.labels << -label, label, -label, label;
  return corners;
}

/// What the constants depend on.
struct Sizes {
  double p, norm, radius, label;  // L, R, b_max
  /// The factor of the population objective, L²/p².
  double scale() const { return norm * norm / (p * p); }
};
Sizes sizes_of(const MatrixSensingSymmetric& f, double radius) {
  const auto p = static_cast<double>(f.rows);
  const double norm = f.record_scale == RecordScale::unit ? 1.0 : p;
  const double planted = geometric_spectrum(f.planted_rank, f.planted_norm, f.condition).norm();
  return {p, norm, radius, norm * planted + f.label_noise};
}

Constants proved_constants(const Sizes& s) {
  const double largest = s.norm * s.radius * s.radius;  // of ⟨A, UUᵀ⟩
  const std::string region = "the domain; ‖A‖_F ≤ L, |b| ≤ b_max";
  Constants c;
  c.set(constant::lipschitz,
        proved((largest + s.label) * s.norm * s.radius, region,
               "∇f = (⟨A, UUᵀ⟩ − b) A U with A symmetric; |⟨A, UUᵀ⟩| ≤ ‖A‖₂‖U‖_F² ≤ LR², |b| ≤ "
               "b_max = L‖Y*‖_F + s, ‖AU‖_F ≤ LR. Attained at A = Luuᵀ, U = Ru, b = −b_max."));
  c.set(constant::smoothness,
        proved(3 * s.norm * largest + s.norm * s.label, region,
               "∇²f[V, V] = 2⟨AU, V⟩² + (⟨A, UUᵀ⟩ − b)⟨AV, V⟩, in absolute value at most (2L²R² + "
               "(LR² + b_max)L)‖V‖_F². Attained as G is, at V = u."));
  c.set(constant::hessian_lipschitz,
        proved(6 * s.norm * s.norm * s.radius, region,
               "∇³f[V, V, W] = 2⟨AU, W⟩⟨AV, V⟩ + 4⟨AU, V⟩⟨AV, W⟩ ≤ 6L²R for unit V and W. Attained "
               "as G is, at V = W = u."));
  return c;
}

/// A Gaussian measurement has ‖AU‖_F² ≈ (L/p)² (p + 1)/2 ‖U‖_F² and ‖A‖₂ ≈ L√(2/p).
Constants estimated_constants(const Sizes& s, double planted_frobenius, double label_noise) {
  const double entry = s.norm / s.p;
  const double residual =
      hypotenuse(entry * hypotenuse(s.radius * s.radius, planted_frobenius), label_noise);
  const double applied = entry * std::sqrt((s.p + 1) / 2) * s.radius;
  const double spectral = entry * std::sqrt(2 * s.p);
  const std::string region = "the domain, a typical record";
  Constants c;
  c.set(constant::lipschitz, {residual * applied, Origin::estimated, region});
  c.set(constant::smoothness,
        {2 * applied * applied + residual * spectral, Origin::estimated, region});
  c.set(constant::hessian_lipschitz, {6 * applied * spectral, Origin::estimated, region});
  return c;
}

}  // namespace

std::string_view MatrixSensingSymmetric::summary() const {
  return "(1/4)(<A_i, U U'> - b_i)^2; low-rank recovery, every saddle and lambda_min known";
}

ProblemNotes MatrixSensingSymmetric::notes() const {
  return {.group = "Low-rank recovery",
          .formula =
              "f(U; A, b) = ¼ (⟨A, UUᵀ⟩ − b)², b = ⟨A, Y*⟩ ± s, A uniform on the sphere ‖A‖_F = L "
              "of R^{p×p} or with N(0, L²/p²) entries, L = p (or 1: `record_scale` = unit). "
              "Population: F(U) = (L²/p²) ¼‖UUᵀ − Y*‖_F² + s²/4. Domain ‖U‖_F ≤ R.",
          .source = "avdiukhin-2024 notes, 6 (MF)",
          .critical_points =
              "Population, in units of L²/p², σ_1 ≥ σ_2 ≥ … the eigenvalues of Y*: the origin is a "
              "strict saddle with λ_min = −σ_1; a truncation of Y* at a rank j below min(r, r*) is "
              "one with λ_min = −σ_{j+1}; the truncation at min(r, r*), up to rotations, is the "
              "minimiser (Eckart and Young)."};
}

Fields MatrixSensingSymmetric::fields() {
  using namespace range;
  Fields fields{
      field("rows", rows, at_least(1), "p"),
      field("rank", rank, at_least(1), "r, columns of U"),
      field("planted_rank", planted_rank, at_least(1), "r*, rank of Y*"),
      field("planted_norm", planted_norm, positive, "sigma_1 of Y*"),
      field("condition", condition, at_least(1), "sigma_1 over the smallest positive eigenvalue"),
      field("label_noise", label_noise, not_negative, "s; a label is off by s either way"),
      field("domain_factor", domain_factor, at_least(1), "radius of the domain over ||U*||_F"),
      field("initial_spread", initial_spread, not_negative, "standard deviation of U0"),
      design_field(design),
      record_scale_field(record_scale)};
  start.add_fields(fields);
  return fields;
}

Index MatrixSensingSymmetric::dimension(const InstanceSpec& spec) const {
  check_planted_rank(name(), planted_rank, rows, "rows");
  const Index d = rows * rank;
  return check_fixed_dimension(name(), spec, d,
                               fmt::format("rows rank = {}; set problem.rows and problem.rank", d));
}

void MatrixSensingSymmetric::settle(const Stream& random, PublicFacts& facts) const {
  const double radius =
      domain_factor * std::sqrt(geometric_spectrum(planted_rank, planted_norm, condition).sum());
  settle_in_ball(start,
                 {.spread = initial_spread,
                  .random_spread = std::sqrt(planted_norm / static_cast<double>(rows)),
                  .far_radius = radius},
                 random, facts);
}

Constants MatrixSensingSymmetric::constants(const PublicFacts& facts) const {
  const Vector spectrum = geometric_spectrum(planted_rank, planted_norm, condition);
  const Sizes sizes = sizes_of(*this, facts.domain.radius);
  Constants made = design == Design::sphere
                       ? proved_constants(sizes)
                       : estimated_constants(sizes, spectrum.norm(), label_noise);
  const ConstMatrixMap U0(facts.initial_point.data(), rows, rank);
  made.set(
      constant::suboptimality,
      {0.25 * sizes.scale() * ((U0.transpose() * U0).squaredNorm() + spectrum.squaredNorm()),
       Origin::estimated, "initial point, of the population (‖UUᵀ − Y*‖_F² ≤ ‖UUᵀ‖_F² + ‖Y*‖_F²)"});
  return made;
}

void MatrixSensingSymmetric::draw(const InstanceSpec& spec, Problem& problem) const {
  const Vector spectrum = geometric_spectrum(planted_rank, planted_norm, condition);
  const Sizes sizes = sizes_of(*this, problem.facts.domain.radius);
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const Matrix Q = random_orthonormal(rows, planted_rank, Stream(key.child(0)));
  const Matrix planted = Q * spectrum.asDiagonal() * Q.transpose();
  SymmetricSensingData data{rows, rank, Matrix(rows * rows, spec.records), {}};
  draw_design(design, sizes.norm, Stream(key.child(1)), data.measurements);
  symmetrise(data.measurements, rows);
  data.labels = data.measurements.transpose() * planted.reshaped();
  Stream signs(key.child(2));
  for (double& b : data.labels) b += signs.bernoulli(0.5) ? label_noise : -label_noise;

  problem.population =
      symmetric_objective(planted, rank, sizes.scale(), 0.25 * label_noise * label_noise);
  add_picture(symmetric_picture(planted, rank, Landmark::Of::population), problem);
  problem.empirical = symmetric_sensing_objective(data);
  problem.records = symmetric_sensing_records(std::move(data));
  if (design == Design::sphere)
    problem.extremes = symmetric_sensing_records(extreme_data(rows, rank, sizes.norm, sizes.label));
}

std::unique_ptr<const AnyRecords> symmetric_sensing_records(SymmetricSensingData data) {
  const Index entries = data.rows * data.rows;
  RecordColumns records{std::move(data.measurements), std::move(data.labels)};
  records.features.conservativeResize(entries + 1, Eigen::NoChange);
  Matrix square(data.rows, data.rows);
  for (auto column : records.features.colwise()) {
    const ConstMatrixMap A(column.data(), data.rows, data.rows);
    square.noalias() = A * A;
    column[entries] = std::sqrt(square.norm());
  }
  return admit<SymmetricSensingLoss>({data.rows, data.rank}, RecordTable(std::move(records)));
}

std::unique_ptr<const Objective> symmetric_sensing_objective(const SymmetricSensingData& data) {
  return std::make_unique<SymmetricSensingObjective>(data);
}

}  // namespace dpsosp
