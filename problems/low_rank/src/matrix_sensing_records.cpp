// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <utility>

#include "dpsosp/core/factor_products.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/trusted/admit.hpp"

namespace dpsosp {
namespace {

/// With c_i = y_i, or res_i where the dual stays with the record,
/// ∇_x f_i = c_i (A_i V, A_iᵀ U) and ∇_y f_i = (res_i − y_i) e_i.
struct MatrixSensingLoss {
  static constexpr std::string_view problem = "matrix-sensing";
  static constexpr DenseDual dual = DenseDual::own;
  struct Facts {
    Index rows, cols, rank;
  };

  struct Gradients : DenseQuery<Facts> {
    Gradients(const Facts& f, const Point& point, const Point* previous, Block asked)
        : DenseQuery(f, point, previous, asked), factors(f.rows, f.cols, f.rank) {
      factors.set(x);
      if (!difference) return;
      cancel = y.size() > 0 && y_before.size() > 0 && x == x_before;
      product = product_of(x);
      product_before = product_of(x_before);
    }
    Vector product_of(const Vector& at) const {
      const Eigen::Map<const Matrix> U(at.data(), facts.rows, facts.rank);
      const Eigen::Map<const Matrix> V(at.data() + U.size(), facts.cols, facts.rank);
      return (U * V.transpose()).reshaped();
    }
    FactorProducts factors;
    Vector product, product_before;  // vec UVᵀ
    bool cancel = false;  // residuals at one x, from which duals that are given take nothing
  };

  static Index dimension(const Facts& f) { return (f.rows + f.cols) * f.rank; }
  static Index scratch(const Gradients& at) {
    return FactorProducts::space(at.facts.rows, at.facts.rank) +
           (at.difference ? dimension(at.facts) : 0);
  }

  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double* scratch,
                                VectorRef v) {
    if (at.difference) return change(at, z, scratch, v);
    at.factors.apply(z.column.data(), scratch, v);
    const double residual = at.factors.inner_product(v) - z.label;
    const double c = at.y.size() > 0 ? z.dual : residual;
    return {c, residual - c};
  }

  /// (A_i V, A_iᵀ U) is linear in (U, V): one product for both points.
  static DenseGradient change(const Gradients& at, const DenseRecord& z, double* scratch,
                              VectorRef v) {
    std::array<double, 2> residuals{};
    if (!at.cancel) {
      const std::array<const double*, 2> ends{at.product.data(), at.product_before.data()};
      dot_rows(ends, z.column, Eigen::Map<Vector>(residuals.data(), 2));
      for (double& residual : residuals) residual -= z.label;
    }
    const double c_to = at.y.size() > 0 ? z.dual : residuals[0];
    const double c_from = at.y_before.size() > 0 ? z.dual_before : residuals[1];
    if (at.block != Block::y) {
      Eigen::Map<Vector> factors(scratch + FactorProducts::space(at.facts.rows, at.facts.rank),
                                 v.size());
      factors = c_to * at.x - c_from * at.x_before;
      at.factors.apply(factors, z.column.data(), scratch, v);
    }
    return {1.0, (residuals[0] - c_to) - (residuals[1] - c_from)};
  }
};

}  // namespace

std::unique_ptr<const AnyRecords> matrix_sensing_records(
    std::shared_ptr<const MatrixSensingData> data) {
  const MatrixSensingLoss::Facts facts{data->rows, data->cols, data->rank};
  return admit<MatrixSensingLoss>(facts, RecordTable(std::move(data)));
}

}  // namespace dpsosp
