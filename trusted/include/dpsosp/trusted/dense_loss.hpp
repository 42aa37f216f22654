// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string_view>

#include "dpsosp/core/point.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A record as a dense loss is given it. Its own y_i is 0 where a point has no dual.
struct DenseRecord {
  Eigen::Map<const Vector> column;
  double label;
  double dual, dual_before;  ///< y_i at the point of a sum, and at the one that it is compared with
};

/// A record's gradient (scale · v, dual e_i), of which the function wrote v.
struct DenseGradient {
  double scale = 1.0;
  double dual = 0.0;
};

/// Where the dual variables of a dense loss are.
enum class DenseDual {
  none,
  own,    ///< one for each record, which its gradient alone involves
  shared  ///< behind x in v
};

/// How ‖(scale · v, dual)‖ is added up. All are right; stored runs have the bits of one of them.
enum class DenseLength {
  whole,     ///< √(scale²‖v‖² + dual²), where a loss states nothing
  by_block,  ///< √(‖v_x‖² + ‖v_y‖²), of a shared dual
  by_factor  ///< |scale|‖v‖ first
};

/// What a query of a dense loss may be: the facts, one or two points, the block, and the direction
/// of a Hessian product.
template <class FactsType>
struct DenseQuery {
  DenseQuery(const FactsType& f, const Point& point, const Point* previous, Block asked = Block::x)
      : facts(f), block(asked), difference(previous != nullptr), x(point.x), y(point.y) {
    if (!difference) return;
    x_before = previous->x;
    y_before = previous->y;
  }
  DenseQuery(const FactsType& f, const Point& point, const Point& centre)
      : DenseQuery(f, point, &centre) {}
  DenseQuery(const FactsType& f, const Point& point, const Point* previous, ConstVectorRef v)
      : DenseQuery(f, point, previous) {
    direction = v;
  }

  FactsType facts;
  Block block;
  bool difference;
  Vector x, y;                ///< y is empty where there is no dual
  Vector x_before, y_before;  ///< of the point to compare with
  Vector direction;
};

/// A loss that is no row: static functions of one record, so that there is no object that could
/// keep another. What depends on points is computed before, in a `Gradients` of the facts, the
/// point, the one to compare with or null, and the block. `scratch` has `scratch(query)` numbers,
/// or none; these and v are zero at every call. v has d entries, or those of the block if the dual
/// is shared, of which there are `dual_dimension(facts)`.
///
/// A loss may have more, with the same kinds of functions:
///   - `Losses(facts, point, centre)` and `loss`, f(point; z) − f(centre; z);
///   - `Products(facts, point, previous, direction)` and `product`, which writes ∇²f·direction, or
///     its difference, and returns a bound of the matrix's norm; or, of `Gradients`, `curvature`,
///     which writes u and returns c where ∇²f, or its difference, is c u uᵀ;
///   - `Coordinates(facts, j, values, centre)` and `coordinate_loss(query, z_j, k)`, the change of
///     the term of coordinate j from the centre to values_k, where a term depends on one entry;
///   - `reads_record(block, difference)`, false where v is the same for all records; no loss with
///     duals of the records' own has it;
///   - `length`, a DenseLength.
template <class L>
concept DenseLoss = requires(const typename L::Facts& facts, const typename L::Gradients& query,
                             const DenseRecord& record, double* scratch, VectorRef v) {
  requires std::constructible_from<typename L::Gradients, const typename L::Facts&, const Point&,
                                   const Point*, Block>;
  { L::problem } -> std::convertible_to<std::string_view>;
  requires std::same_as<decltype(L::dual), const DenseDual>;
  { L::dimension(facts) } -> std::same_as<Index>;
  { L::gradient(query, record, scratch, v) } -> std::same_as<DenseGradient>;
};

}  // namespace dpsosp
