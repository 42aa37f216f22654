// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_sensing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <Eigen/SVD>

#include "chunked_sum.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

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
void add_factor_gradient(const MatrixSensingData& m,
                         const Matrix& G,
                         const Factors& at,
                         VectorRef out) {
  MatrixMap out_U(out.data(), m.rows, m.rank);
  MatrixMap out_V(out.data() + m.rows * m.rank, m.cols, m.rank);
  out_U.noalias() += G * at.V;
  out_V.noalias() += G.transpose() * at.U;
}

/// (A V, Aᵀ U) for `columns` columns of the factors; overwrites both outputs.
/// \param A  p × q; U, left: p × columns; V, right: q × columns; all column-major.
template <std::size_t columns>
void multiply_factors(const double* A,
                      Index p,
                      Index q,
                      const double* U,
                      const double* V,
                      double* left,
                      double* right) {
  using Four = Eigen::Array4d;
  using Two = Eigen::Array2d;
  constexpr auto r = static_cast<Index>(columns);
  const Index in_fours = p / 4 * 4;
  for (Index i = 0; i < in_fours; i += 4) {
    Four sums[columns];
    for (Four& s : sums) s.setZero();
    for (Index k = 0; k < q; ++k) {
      const Four a = Eigen::Map<const Four>(A + k * p + i);
      for (Index j = 0; j < r; ++j) sums[j] += V[k + j * q] * a;
    }
    for (Index j = 0; j < r; ++j) Eigen::Map<Four>(left + j * p + i) = sums[j];
  }
  for (Index i = in_fours; i < p; ++i)
    for (Index j = 0; j < r; ++j) {
      double sum = 0;
      for (Index k = 0; k < q; ++k) sum += V[k + j * q] * A[k * p + i];
      left[j * p + i] = sum;
    }
  const Index in_twos = p / 2 * 2;
  for (Index k = 0; k < q; ++k, A += p) {
    Two sums[columns];
    for (Two& s : sums) s.setZero();
    for (Index i = 0; i < in_twos; i += 2) {
      const Two a = Eigen::Map<const Two>(A + i);
      for (Index j = 0; j < r; ++j) sums[j] += a * Eigen::Map<const Two>(U + j * p + i);
    }
    for (Index j = 0; j < r; ++j)
      right[k + j * q] = sums[j].sum() + (in_twos < p ? A[p - 1] * U[j * p + p - 1] : 0.0);
  }
}

/// out = (vec A V, vec Aᵀ U) for factors (U, V) = `at` of any rank, four columns at a time.
void factor_gradient(const MatrixSensingData& m, const double* A, const Vector& at, VectorRef out) {
  const double* U = at.data();
  const double* V = U + m.rows * m.rank;
  double* left = out.data();
  double* right = left + m.rows * m.rank;
  for (Index j = 0; j < m.rank; j += 4) {
    const auto multiply = [&](auto kernel) {
      kernel(
          A, m.rows, m.cols, U + j * m.rows, V + j * m.cols, left + j * m.rows, right + j * m.cols);
    };
    switch (m.rank - j) {
      case 1:
        multiply(multiply_factors<1>);
        break;
      case 2:
        multiply(multiply_factors<2>);
        break;
      case 3:
        multiply(multiply_factors<3>);
        break;
      default:
        multiply(multiply_factors<4>);
    }
  }
}

class MatrixSensingRecords final : public Records {
 public:
  explicit MatrixSensingRecords(std::shared_ptr<const MatrixSensingData> data)
      : data_(std::move(data)) {}

  Index size() const override { return data_->labels.size(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return sum(point, nullptr, block, batch, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    return sum(point, &previous, block, batch, limit, out);
  }

 private:
  /// One end of a gradient difference: c_i = y_i, or res_i where the dual stays with the record;
  /// then ∇_x f_i = c_i (A_i V, A_iᵀ U) and ∇_y f_i = (res_i − y_i) e_i.
  struct End {
    End(const MatrixSensingData& m, const Point& p) : point(p) {
      const Factors factors(m, p.x);
      product = (factors.U * factors.V.transpose()).reshaped();
    }
    double residual(const MatrixSensingData& m, Index i) const {
      return m.measurements.col(i).dot(product) - m.labels[i];
    }
    double dual(double residual, Index i) const { return point.has_dual() ? point.y[i] : residual; }

    const Point& point;
    Vector product;  // vec UVᵀ
  };

  ClipReport sum(const Point& point,
                 const Point* previous,
                 Block block,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const {
    if (block != Block::x && !point.has_dual())
      throw InputError("matrix-sensing: a query of the dual block needs y of dimension n");
    const End to(*data_, point);
    if (previous == nullptr)
      return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
        return sum_chunk(to, nullptr, block, batch, first, last, limit, partial);
      });
    const End from(*data_, *previous);
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      return sum_chunk(to, &from, block, batch, first, last, limit, partial);
    });
  }

  /// Asks for the next record of a batch, which the processor does not foresee in a list.
  void prefetch(Index i) const {
    constexpr Index cache_line = 8;  // doubles
    const auto record = data_->measurements.col(i);
    for (Index e = 0; e < record.size(); e += cache_line) __builtin_prefetch(record.data() + e);
  }

  ClipReport sum_chunk(const End& to,
                       const End* from,
                       Block block,
                       const BatchView& batch,
                       Index first,
                       Index last,
                       double limit,
                       VectorRef out) const {
    const MatrixSensingData& m = *data_;
    const bool in_x = block != Block::y;
    const bool in_y = block != Block::x;
    const Index d = (m.rows + m.cols) * m.rank;
    const Index y_offset = in_x ? d : 0;
    Vector scaled(d);  // c_i x, or c_i x − c′_i x′: ∇_x f_i is linear in it
    Vector contribution(d);
    ClipReport report;
    for (Index k = first; k < last; ++k) {
      const Index i = batch[k];
      if (k + 1 < last) prefetch(batch[k + 1]);
      const double residual_to = to.residual(m, i);
      const double c_to = to.dual(residual_to, i);
      double y_part = residual_to - c_to;
      if (in_x) scaled = c_to * to.point.x;
      if (from != nullptr) {
        const double residual_from = from->residual(m, i);
        const double c_from = from->dual(residual_from, i);
        y_part -= residual_from - c_from;
        if (in_x) scaled -= c_from * from->point.x;
      }
      double squared = 0.0;
      if (in_x) {
        factor_gradient(m, m.measurements.col(i).data(), scaled, contribution);
        squared += contribution.squaredNorm();
      }
      if (in_y) squared += y_part * y_part;
      const double weight = report.weigh(std::sqrt(squared), limit);
      // The clipped vector itself: a sum of weighted A_i, multiplied by V and U at the end, would
      // let a record whose product cancels drown the others.
      if (in_x) out.head(d) += weight * contribution;
      if (in_y) out[y_offset + i] += weight * y_part;
    }
    return report;
  }

  std::shared_ptr<const MatrixSensingData> data_;
};

/// Φ through its sufficient statistics, at a cost independent of n:
/// Φ = ½ mᵀ S m − cᵀ m + ½ t with m = vec(UVᵀ), S = (1/n) Σ a_i a_iᵀ, c = (1/n) Σ b_i a_i, a_i =
/// vec A_i.
class MatrixSensingValue final : public Objective {
 public:
  explicit MatrixSensingValue(const MatrixSensingData& m)
      : shape_{m.rows, m.cols, m.rank, {}, {}}, second_moment_(m.rows * m.cols, m.rows * m.cols) {
    const double n = static_cast<double>(m.labels.size());
    second_moment_.setZero();
    second_moment_.selfadjointView<Eigen::Lower>().rankUpdate(m.measurements, 1.0 / n);
    second_moment_.triangularView<Eigen::StrictlyUpper>() = second_moment_.transpose();
    cross_moment_ = m.measurements * m.labels / n;
    label_moment_ = m.labels.squaredNorm() / n;
  }

  Index dimension() const override { return (shape_.rows + shape_.cols) * shape_.rank; }

  double value(ConstVectorRef x) const override {
    const Vector m = product(x).reshaped();
    return 0.5 * m.dot(second_moment_ * m) - cross_moment_.dot(m) + 0.5 * label_moment_;
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    out.setZero();
    add_factor_gradient(shape_, residual_mean(x), Factors(shape_, x), out);
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    // direction (P, Q): (G′V + GQ, G′ᵀU + GᵀP) with G′ = S vec(PVᵀ + UQᵀ)
    const Factors at(shape_, x);
    const Factors along(shape_, v);
    const Matrix moved = along.U * at.V.transpose() + at.U * along.V.transpose();
    const Vector applied = second_moment_ * moved.reshaped();
    out.setZero();
    add_factor_gradient(shape_, applied.reshaped(shape_.rows, shape_.cols), at, out);
    add_factor_gradient(shape_, residual_mean(x), along, out);
  }

 private:
  Matrix product(ConstVectorRef x) const {
    const Factors at(shape_, x);
    return at.U * at.V.transpose();
  }
  /// G = (1/n) Σ res_i A_i.
  Matrix residual_mean(ConstVectorRef x) const {
    const Vector mean = second_moment_ * product(x).reshaped() - cross_moment_;
    return mean.reshaped(shape_.rows, shape_.cols);
  }

  MatrixSensingData shape_;  // sizes alone
  Matrix second_moment_;
  Vector cross_moment_;
  double label_moment_ = 0.0;
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
      return X * (family.planted_norm / Eigen::JacobiSVD<Matrix>(X).singularValues()[0]);
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

/// Constants from the sampling law alone (they are public, so they may not look at the records).
Constants estimated_constants(const MatrixSensing& f, Index n) {
  const auto p = static_cast<double>(f.rows);
  const auto q = static_cast<double>(f.cols);
  const auto r = static_cast<double>(f.rank);
  const double pq = p * q;
  const double norm = typical_planted_norm(f);
  // largest eigenvalue of (1/n) Σ a_i a_iᵀ, a_i ~ N(0, I/(pq)): the Marchenko-Pastur edge
  const double edge = std::pow(1.0 + std::sqrt(pq / static_cast<double>(n)), 2) / pq;
  const double label_scale = std::sqrt(norm * norm / pq + f.label_noise * f.label_noise);
  const double factor_squared = typical_factor_squared(f);
  // ‖(1/n) Σ b_i A_i‖₂ at the origin: signal ‖X*‖₂/(pq) plus the noise of a Gaussian average
  const double origin_gradient =
      norm / std::sqrt(r) / pq +
      label_scale * (std::sqrt(p) + std::sqrt(q)) / std::sqrt(pq * static_cast<double>(n));
  const std::string region = "||U||_2^2 + ||V||_2^2 <= 2 ||X*||_2, typical instance";
  Constants c;
  const auto set = [&](std::string_view name, double value) {
    c.set(name, {value, Origin::estimated, region});
  };
  set(constant::smoothness, edge * factor_squared + origin_gradient);
  set(constant::hessian_lipschitz, 3.0 * edge * std::sqrt(factor_squared));
  set(constant::suboptimality, 0.5 * label_scale * label_scale);
  set(constant::strong_concavity, 1.0 / static_cast<double>(n));
  // per record: ‖A_i‖_F ≈ 1, so ∇_x f_i moves by about (‖U‖₂² + ‖V‖₂²)/(min(p, q)) per unit of x
  set(constant::joint_smoothness, std::max(1.0, factor_squared / std::min(p, q) + label_scale));
  set(constant::lipschitz, label_scale * std::sqrt(factor_squared / std::min(p, q)));
  return c;
}

}  // namespace

std::string_view MatrixSensing::summary() const {
  return "max_y (1/n) sum_i [y_i (<A_i, U V'> - b_i) - y_i^2/2]; low-rank, strict saddle at 0";
}

ProblemNotes MatrixSensing::notes() const {
  return {.group = "Minimax",
          .formula =
              "x = (U, V), f(x, y) = (1/n) Σ_i [ y_i (⟨A_i, UVᵀ⟩ − b_i) − y_i²/2 ], A_i with "
              "N(0, 1/(pq)) entries, b_i = ⟨A_i, X*⟩ + noise; y_i* = ⟨A_i, UVᵀ⟩ − b_i and "
              "Φ(x) = (1/2n) Σ_i (⟨A_i, UVᵀ⟩ − b_i)². The dual is per record.",
          .source = "xu-2026, section 5 and zoo entry 8.1",
          .critical_points = ""};
}

Fields MatrixSensing::fields() {
  return {field("rows", rows, "p"),
          field("cols", cols, "q"),
          field("rank", rank, "r"),
          field("planted_scale",
                planted_scale,
                {{PlantedScale::none, "none"},
                 {PlantedScale::frobenius, "frobenius"},
                 {PlantedScale::spectral, "spectral"},
                 {PlantedScale::over_sqrt_rank, "over_sqrt_rank"},
                 {PlantedScale::over_rank, "over_rank"}},
                "rescaling of X* = U* V*'"),
          field("planted_norm", planted_norm, "norm of X* under the scales frobenius and spectral"),
          field("label_noise", label_noise, "standard deviation of the labels' noise"),
          field("initial_spread", initial_spread, "standard deviation of U0 and V0")};
}

Problem MatrixSensing::make(const InstanceSpec& spec) const {
  check_records(name(), spec.records);
  const auto positive = [&](std::string_view what, auto value) {
    if (!(value > 0)) reject(name(), what, static_cast<double>(value), "> 0");
  };
  positive("rows", rows);
  positive("cols", cols);
  positive("rank", rank);
  positive("planted_norm", planted_norm);
  if (!(label_noise >= 0)) reject(name(), "label_noise", label_noise, ">= 0");
  if (!(initial_spread >= 0)) reject(name(), "initial_spread", initial_spread, ">= 0");
  const Index d = (rows + cols) * rank;
  if (spec.dimension && *spec.dimension != d)
    reject(name(),
           "dimension",
           static_cast<double>(*spec.dimension),
           fmt::format("(rows + cols) rank = {}; set problem.rows, problem.cols, problem.rank", d));

  const StreamKey data_key{.seed = spec.data_seed, .purpose = Purpose::data};
  auto data = std::make_shared<MatrixSensingData>();
  data->rows = rows;
  data->cols = cols;
  data->rank = rank;
  data->measurements.resize(rows * cols, spec.records);
  Stream(data_key.child(0))
      .fill_normal(1.0 / std::sqrt(static_cast<double>(rows * cols)),
                   data->measurements.reshaped());
  const Matrix planted = planted_matrix(*this, Stream(data_key.child(1)));
  data->labels = data->measurements.transpose() * planted.reshaped();
  Stream(data_key.child(2)).add_normal(label_noise, data->labels);

  Problem problem;
  PublicFacts& facts = problem.facts;
  facts.name = name();
  facts.dimension = d;
  facts.records = spec.records;
  facts.dual_kind = DualKind::per_record;
  facts.dual_dimension = spec.records;
  facts.constants = estimated_constants(*this, spec.records);
  facts.initial_point.resize(d);
  Stream({.seed = spec.seed, .purpose = Purpose::initial_point})
      .fill_normal(initial_spread, facts.initial_point);
  facts.initial_dual = Vector::Zero(spec.records);
  problem.region = [shape = MatrixSensingData{rows, cols, rank, {}, {}},
                    limit = typical_factor_squared(*this)](ConstVectorRef x) {
    const Factors at(shape, x);
    const auto squared_norm = [](const Matrix& factor) {
      const double largest = Eigen::JacobiSVD<Matrix>(factor).singularValues()[0];
      return largest * largest;
    };
    return squared_norm(at.U) + squared_norm(at.V) <= limit;
  };
  problem.empirical = matrix_sensing_value(*data);
  problem.records = matrix_sensing_records(std::move(data));
  return problem;
}

std::unique_ptr<const Records> matrix_sensing_records(
    std::shared_ptr<const MatrixSensingData> data) {
  return std::make_unique<MatrixSensingRecords>(std::move(data));
}

std::unique_ptr<const Objective> matrix_sensing_value(const MatrixSensingData& data) {
  return std::make_unique<MatrixSensingValue>(data);
}

}  // namespace dpsosp
