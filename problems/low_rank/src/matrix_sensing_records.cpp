// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factor_products.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/trusted/chunked_sum.hpp"

namespace dpsosp {
namespace {

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
        return add_gradients(to, block, batch, first, last, limit, partial);
      });
    const End from(*data_, *previous);
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      return add_differences(to, from, block, batch, first, last, limit, partial);
    });
  }

  /// Prefetches the next record of a batch: the processor does not predict the order of a list.
  void prefetch(Index i) const {
    constexpr Index cache_line = 8;  // doubles
    const auto record = data_->measurements.col(i);
    for (Index e = 0; e < record.size(); e += cache_line) __builtin_prefetch(record.data() + e);
  }

  ClipReport add_gradients(const End& at,
                           Block block,
                           const BatchView& batch,
                           Index first,
                           Index last,
                           double limit,
                           VectorRef out) const {
    const MatrixSensingData& m = *data_;
    FactorProducts products(m.rows, m.cols, m.rank);
    products.set(at.point.x);
    Contribution one(m, block);
    ClipReport report;
    for (Index k = first; k < last; ++k) {
      const Index i = batch[k];
      if (k + 1 < last) prefetch(batch[k + 1]);
      products.apply(m.measurements.col(i).data(), one.x);
      const double residual = products.inner_product(one.x) - m.labels[i];
      const double c = at.dual(residual, i);
      one.add_clipped(c, residual - c, i, limit, report, out);
    }
    return report;
  }

  ClipReport add_differences(const End& to,
                             const End& from,
                             Block block,
                             const BatchView& batch,
                             Index first,
                             Index last,
                             double limit,
                             VectorRef out) const {
    const MatrixSensingData& m = *data_;
    Contribution one(m, block);
    const std::array<const double*, 2> ends{to.product.data(), from.product.data()};
    FactorProducts products(m.rows, m.cols, m.rank);
    Vector factors(one.x.size()), residuals = Vector::Zero(2);
    // Residuals at one x cancel, and a dual that is given takes nothing from them.
    const bool cancel = to.point.has_dual() && from.point.has_dual() && to.point.x == from.point.x;
    ClipReport report;
    for (Index k = first; k < last; ++k) {
      const Index i = batch[k];
      if (k + 1 < last && (one.in_x || !cancel)) prefetch(batch[k + 1]);
      const double* A = m.measurements.col(i).data();
      if (!cancel) dot_rows(ends, m.measurements.col(i), residuals);
      const double label = cancel ? 0.0 : m.labels[i];
      const double residual_to = residuals[0] - label, residual_from = residuals[1] - label;
      const double c_to = to.dual(residual_to, i), c_from = from.dual(residual_from, i);
      if (one.in_x) {  // (A_i V, A_iᵀ U) is linear in (U, V)
        factors = c_to * to.point.x - c_from * from.point.x;
        products.set(factors);
        products.apply(A, one.x);
      }
      one.add_clipped(1.0, (residual_to - c_to) - (residual_from - c_from), i, limit, report, out);
    }
    return report;
  }

  /// What a record adds: a multiple of `x` in the primal block, an entry in the dual block.
  struct Contribution {
    Contribution(const MatrixSensingData& m, Block block)
        : in_x(block != Block::y), in_y(block != Block::x), x((m.rows + m.cols) * m.rank) {}

    // The clipped vector itself: a sum of weighted A_i, multiplied by V and U at the end, would let
    // a record whose product cancels drown the others.
    void add_clipped(
        double c, double y, Index i, double limit, ClipReport& report, VectorRef out) const {
      const double weight = report.weigh(length(c, y), limit);
      if (in_x) out.head(x.size()) += (weight * c) * x;
      if (in_y) out[(in_x ? x.size() : 0) + i] += weight * y;
    }

    /// ‖(c x, y)‖. A square that under- or overflows would lose what a large factor gives back.
    double length(double c, double y) const {
      const double of_y = in_y ? y : 0.0;
      if (!in_x) return std::abs(of_y);
      const double factor = c * c, squares = x.squaredNorm();
      constexpr double least = 1e-280, most = 1e280;
      if (std::min(factor, squares) > least && std::max(factor, squares) < most)
        return std::sqrt(factor * squares + of_y * of_y);
      return hypotenuse(std::abs(c) * x.stableNorm(), of_y);
    }

    bool in_x, in_y;
    Vector x;
  };

  std::shared_ptr<const MatrixSensingData> data_;
};
}  // namespace

std::unique_ptr<const Records> matrix_sensing_records(
    std::shared_ptr<const MatrixSensingData> data) {
  return std::make_unique<MatrixSensingRecords>(std::move(data));
}

}  // namespace dpsosp
