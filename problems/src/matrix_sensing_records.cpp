// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <utility>

#include "chunked_sum.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"

namespace dpsosp {
namespace {

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
      const Eigen::Map<const Matrix> U(p.x.data(), m.rows, m.rank);
      const Eigen::Map<const Matrix> V(p.x.data() + m.rows * m.rank, m.cols, m.rank);
      product = (U * V.transpose()).reshaped();
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

  /// Prefetches the next record of a batch: the processor does not predict the order of a list.
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
}  // namespace

std::unique_ptr<const Records> matrix_sensing_records(
    std::shared_ptr<const MatrixSensingData> data) {
  return std::make_unique<MatrixSensingRecords>(std::move(data));
}

}  // namespace dpsosp
