// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_sensing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factor_products.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/fixed_dimension.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/problems/over_columns.hpp"
#include "low_rank.hpp"

namespace dpsosp {
namespace {

using ConstMatrixMap = Eigen::Map<const Matrix>;
using MatrixMap = Eigen::Map<Matrix>;

/// x seen as (U, V).
struct Factors {
  Factors(const MatrixSensingData& m, ConstVectorRef x)
      : U(x.data(), m.rows, m.rank), V(x.data() + m.rows * m.rank, m.cols, m.rank) {}
  ConstMatrixMap U;
  ConstMatrixMap V;
};

/// out += (G V, Gᵀ U), the gradient of x ↦ ⟨G, UVᵀ⟩.
void add_factor_gradient(const MatrixSensingData& m, const Matrix& G, const Factors& at,
                         VectorRef out) {
  MatrixMap out_U(out.data(), m.rows, m.rank);
  MatrixMap out_V(out.data() + m.rows * m.rank, m.cols, m.rank);
  out_U.noalias() += G * at.V;
  out_V.noalias() += G.transpose() * at.U;
}

/// Φ through its moments: Φ = ½ mᵀ S m − cᵀ m + ½ t with m = vec(UVᵀ), S = (1/n) Σ a_i a_iᵀ,
/// c = (1/n) Σ b_i a_i, a_i = vec A_i. S is kept where that is smaller than the records, so that
/// the cost does not depend on n; otherwise products with it read the records once.
class MatrixSensingValue final : public Objective {
 public:
  explicit MatrixSensingValue(std::shared_ptr<const MatrixSensingData> data)
      : shape_{{}, data->rows, data->cols, data->rank}, records_(data->labels.size()) {
    const double n = static_cast<double>(records_);
    cross_moment_ = data->features * data->labels / n;
    label_moment_ = data->labels.squaredNorm() / n;
    const Index entries = shape_.rows * shape_.cols;
    constexpr Index most_entries = 1024;
    if (entries > most_entries || entries > records_) {
      data_ = std::move(data);
      return;
    }
    Matrix sum = Matrix::Zero(entries, entries);
    const Vector weights = Vector::Constant(records_, 1.0 / n);
    std::vector<const double*> rows;
    for (Index i = 0; i < records_; ++i) rows.push_back(data->features.col(i).data());
    const Index few = rows_in_cache(entries);
    for (Index i = 0; i < records_; i += few) {
      const Index here = std::min(few, records_ - i);
      add_outer_products(Rows(&rows[static_cast<std::size_t>(i)], static_cast<std::size_t>(here)),
                         weights.head(here), sum);
    }
    // columns a power of two apart would share a few sets of the cache
    second_moment_ = Matrix::Zero(entries % 64 == 0 ? entries + 8 : entries, entries);
    second_moment_.topRows(entries) = sum.selfadjointView<Eigen::Lower>();
  }

  Index dimension() const override { return (shape_.rows + shape_.cols) * shape_.rank; }

  double value(ConstVectorRef x) const override {
    const Vector m = product(x).reshaped();
    return 0.5 * m.dot(applied(m)) - cross_moment_.dot(m) + 0.5 * label_moment_;
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    out.setZero();
    add_factor_gradient(shape_, *residual_mean(x), Factors(shape_, x), out);
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    // direction (P, Q): (G′V + GQ, G′ᵀU + GᵀP) with G′ = S vec(PVᵀ + UQᵀ)
    const Factors at(shape_, x);
    const Factors along(shape_, v);
    const Matrix moved = along.U * at.V.transpose() + at.U * along.V.transpose();
    const Vector change = applied(moved.reshaped());
    out.setZero();
    add_factor_gradient(shape_, change.reshaped(shape_.rows, shape_.cols), at, out);
    add_factor_gradient(shape_, *residual_mean(x), along, out);
  }

  /// JᵀSJ with the columns (A V, Aᵀ U) of Jᵀ, and G beside the diagonal.
  void hessian(ConstVectorRef x, MatrixRef out) const override {
    if (data_)
      add_record_outer_products(x, out);
    else
      products_at(x).congruence(second_moment_, out);
    const Matrix& G = *residual_mean(x);
    const Index p = shape_.rows, q = shape_.cols, half = p * shape_.rank;
    for (Index a = 0; a < shape_.rank; ++a) {
      out.block(a * p, half + a * q, p, q) += G;
      out.block(half + a * q, a * p, q, p) += G.transpose();
    }
  }
  Index hessian_cost() const override {
    const Index d = dimension();
    if (data_) return 1 + d * d / (15 * shape_.rows * shape_.cols);
    return 1 + d / std::max(shape_.rows, shape_.cols);
  }

 private:
  Matrix product(ConstVectorRef x) const {
    const Factors at(shape_, x);
    return at.U * at.V.transpose();
  }
  /// S m.
  Vector applied(const Vector& m) const {
    Vector sum = Vector::Zero(m.size());
    if (!data_) {
      std::vector<const double*> columns;  // the rows of a symmetric matrix
      for (Index e = 0; e < m.size(); ++e) columns.push_back(second_moment_.col(e).data());
      dot_rows(columns, m, sum);
      return sum;
    }
    over_columns(data_->features, sum, [&](Index, Rows rows, VectorRef partial) {
      Vector weights(std::ssize(rows));
      dot_rows(rows, m, weights);
      weights /= static_cast<double>(records_);
      add_rows(rows, weights, partial);
    });
    return sum;
  }
  /// G = (1/n) Σ res_i A_i.
  std::shared_ptr<const Matrix> residual_mean(ConstVectorRef x) const {
    return residual_.of(x, [&]() -> Matrix {
      const Vector mean = applied(product(x).reshaped()) - cross_moment_;
      return mean.reshaped(shape_.rows, shape_.cols);
    });
  }

  FactorProducts products_at(ConstVectorRef x) const {
    FactorProducts products(shape_.rows, shape_.cols, shape_.rank);
    products.set(x);
    return products;
  }
  void add_record_outer_products(ConstVectorRef x, MatrixRef out) const {
    const Index d = x.size();
    Vector sums = Vector::Zero(d * d);
    over_columns(data_->features, sums, [&](Index, Rows rows, VectorRef partial) {
      const FactorProducts products = products_at(x);
      Vector space(FactorProducts::space(shape_.rows, shape_.rank));
      Matrix jacobian(d, std::ssize(rows));
      std::array<const double*, most_rows> columns;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        auto column = jacobian.col(static_cast<Index>(k));
        products.apply(rows[k], space.data(), column);
        columns[k] = column.data();
      }
      add_outer_products(Rows(columns.data(), rows.size()),
                         Vector::Constant(std::ssize(rows), 1.0 / static_cast<double>(records_)),
                         partial.reshaped(d, d));
    });
    out = sums.reshaped(d, d).selfadjointView<Eigen::Lower>();
  }

  MatrixSensingData shape_;  // sizes alone
  Index records_;
  std::shared_ptr<const MatrixSensingData> data_;  // where S is not kept
  Matrix second_moment_;                           // S, perhaps with rows of zeros
  Vector cross_moment_;
  double label_moment_ = 0.0;
  Last<Vector, Matrix> residual_;
};

Matrix planted_matrix(const MatrixSensing& family, Stream stream) {
  Matrix U(family.rows, family.rank);
  Matrix V(family.cols, family.rank);
  stream.fill_normal(1.0, U.reshaped());
  stream.fill_normal(1.0, V.reshaped());
  const Matrix X = U * V.transpose();
  switch (family.planted_scale) {
    case PlantedScale::none:
      return X;
    case PlantedScale::frobenius:
      return X * (family.planted_norm / X.norm());
    case PlantedScale::spectral:
      return X * (family.planted_norm / singular_values(X)[0]);
    case PlantedScale::over_sqrt_rank:
      return X / std::sqrt(static_cast<double>(family.rank));
    case PlantedScale::over_rank:
      break;
  }
  return X / static_cast<double>(family.rank);
}

/// ‖X*‖_F as the sampling law has it: E‖U*V*ᵀ‖_F² = pqr for N(0, 1) factors.
double typical_planted_norm(const MatrixSensing& f) {
  const auto p = static_cast<double>(f.rows);
  const auto q = static_cast<double>(f.cols);
  const auto r = static_cast<double>(f.rank);
  const double unscaled = std::sqrt(p * q * r);
  switch (f.planted_scale) {
    case PlantedScale::none:
      return unscaled;
    case PlantedScale::frobenius:
      return f.planted_norm;
    case PlantedScale::spectral:
      return f.planted_norm * std::sqrt(r);
    case PlantedScale::over_sqrt_rank:
      return unscaled / std::sqrt(r);
    case PlantedScale::over_rank:
      break;
  }
  return unscaled / r;
}

/// ‖U‖₂² + ‖V‖₂² at balanced factors of X* with r singular values near ‖X*‖_F/√r.
double typical_factor_squared(const MatrixSensing& f) {
  return 2.0 * typical_planted_norm(f) / std::sqrt(static_cast<double>(f.rank));
}

}  // namespace

std::string_view MatrixSensing::summary() const {
  return "max_y (1/n) sum_i [y_i (<A_i, U V'> - b_i) - y_i^2/2]; low-rank, strict saddle at 0";
}

ProblemNotes MatrixSensing::notes() const {
  return {.group = "Minimax",
          .formula =
              "x = (U, V), f(x, y) = (1/n) Σ_i [ y_i (⟨A_i, UVᵀ⟩ − b_i) − y_i²/2 ], A_i with "
              "N(0, 1/(pq)) entries (or uniform on the unit sphere), b_i = ⟨A_i, X*⟩ + N(0, s²); "
              "y_i* = ⟨A_i, UVᵀ⟩ − b_i and Φ(x) = (1/2n) Σ_i (⟨A_i, UVᵀ⟩ − b_i)². Population: "
              "Φ(x) = ‖UVᵀ − X*‖_F²/(2pq) + s²/2. The dual is per record.",
          .source = "xu-2026, Section 5; xu-2026 notes, 8.1",
          .critical_points =
              "Population, with σ_1 ≥ σ_2 ≥ … the singular values of X*: the origin is a strict "
              "saddle with λ_min = −σ_1/(pq); the balanced truncation of X* at a rank j below that "
              "of X* is one with λ_min = −σ_{j+1}/(pq); balanced factors of X*, and their images "
              "(UR, VR⁻ᵀ), are the minimisers, Φ* = s²/2."};
}

Fields MatrixSensing::fields() {
  using namespace range;
  Fields fields{
      field("rows", rows, at_least(1), "p"),
      field("cols", cols, at_least(1), "q"),
      field("rank", rank, at_least(1), "r"),
      field("planted_scale", planted_scale, "rescaling of X* = U* V*'"),
      field("planted_norm", planted_norm, positive,
            "norm of X* under the scales frobenius and spectral"),
      field("label_noise", label_noise, not_negative, "standard deviation of the labels' noise"),
      field("initial_spread", initial_spread, not_negative, "standard deviation of U0 and V0"),
      design_field(design)};
  start.add_fields(fields);
  return fields;
}

Index MatrixSensing::dimension(const InstanceSpec& spec) const {
  const Index d = (rows + cols) * rank;
  return check_fixed_dimension(
      name(), spec, d,
      fmt::format("(rows + cols) rank = {}; set problem.rows, problem.cols, problem.rank", d));
}

void MatrixSensing::settle(const Stream& random, PublicFacts& facts) const {
  set_dual(facts, DualKind::per_record, Vector::Zero(facts.records));
  const double far = 3 * std::sqrt(static_cast<double>(facts.dimension));
  facts.initial_point = start_around_origin(
      start, facts, {.spread = initial_spread, .random_spread = 1.0, .far_radius = far}, random);
}

/// From the sampling law alone: they are public, so they may not look at the records.
Constants MatrixSensing::constants(const PublicFacts& facts) const {
  const auto n = static_cast<double>(facts.records);
  const auto p = static_cast<double>(rows);
  const auto q = static_cast<double>(cols);
  const auto r = static_cast<double>(rank);
  const double pq = p * q;
  const double norm = typical_planted_norm(*this);
  // largest eigenvalue of (1/n) Σ a_i a_iᵀ, a_i ~ N(0, I/(pq)): the Marchenko-Pastur edge
  const double edge = std::pow(1.0 + std::sqrt(pq / n), 2) / pq;
  const double label_scale = std::sqrt(norm * norm / pq + label_noise * label_noise);
  const double factor_squared = typical_factor_squared(*this);
  // ‖(1/n) Σ b_i A_i‖₂ at the origin: signal ‖X*‖₂/(pq) plus the noise of a Gaussian average
  const double origin_gradient =
      norm / std::sqrt(r) / pq + label_scale * (std::sqrt(p) + std::sqrt(q)) / std::sqrt(pq * n);
  const std::string region = "||U||_2^2 + ||V||_2^2 <= 2 ||X*||_2, typical instance";
  Constants c;
  const auto set = [&](std::string_view name, double value) {
    c.set(name, {value, Origin::estimated, region});
  };
  set(constant::smoothness, edge * factor_squared + origin_gradient);
  set(constant::hessian_lipschitz, 3.0 * edge * std::sqrt(factor_squared));
  set(constant::suboptimality, 0.5 * label_scale * label_scale);
  set(constant::strong_concavity, 1.0 / n);
  // per record: ‖A_i‖_F ≈ 1, so ∇_x f_i moves by about (‖U‖₂² + ‖V‖₂²)/(min(p, q)) per unit of x
  set(constant::joint_smoothness, std::max(1.0, factor_squared / std::min(p, q) + label_scale));
  set(constant::lipschitz, label_scale * std::sqrt(factor_squared / std::min(p, q)));
  return c;
}

void MatrixSensing::draw(const InstanceSpec& spec, Problem& problem) const {
  const StreamKey data_key{.seed = spec.data_seed, .purpose = Purpose::data};
  auto data = std::make_shared<MatrixSensingData>();
  data->rows = rows;
  data->cols = cols;
  data->rank = rank;
  data->features.resize(rows * cols, spec.records);
  draw_design(design, 1.0, Stream(data_key.child(0)), data->features);
  const Matrix planted = planted_matrix(*this, Stream(data_key.child(1)));
  data->labels = data->features.transpose() * planted.reshaped();
  Stream(data_key.child(2)).add_normal(label_noise, data->labels);

  problem.region = [shape = MatrixSensingData{{}, rows, cols, rank},
                    limit = typical_factor_squared(*this)](ConstVectorRef x) {
    const Factors at(shape, x);
    const auto squared_norm = [](const Matrix& factor) {
      const double largest = singular_values(factor)[0];
      return largest * largest;
    };
    return squared_norm(at.U) + squared_norm(at.V) <= limit;
  };
  problem.empirical = matrix_sensing_value(data);
  problem.population = factored_objective(
      {.target = planted,
       .weights = Matrix::Constant(rows, cols, 1.0 / static_cast<double>(rows * cols)),
       .rank = rank,
       .offset = 0.5 * label_noise * label_noise});
  add_picture(factored_picture(planted, rank, Landmark::Of::population), problem);
  // the Hessian at 0 has the blocks −(1/n) Σ b_i A_i off its diagonal and zero on it
  if ((data->features * data->labels).norm() > 0)
    problem.landmarks.push_back({"origin", Landmark::Kind::strict_saddle, Landmark::Of::empirical,
                                 Vector::Zero(problem.facts.dimension)});
  problem.records = matrix_sensing_records(std::move(data));
}

std::unique_ptr<const Objective> matrix_sensing_value(
    std::shared_ptr<const MatrixSensingData> data) {
  return std::make_unique<MatrixSensingValue>(std::move(data));
}

}  // namespace dpsosp
