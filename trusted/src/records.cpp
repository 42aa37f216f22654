// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/records.hpp"

#include <fmt/format.h>

#include "refusals.hpp"

namespace dpsosp {

Index RecordSums::longer_gradients(const Point& point,
                                   Block block,
                                   const BatchView& batch,
                                   double limit) const {
  Vector unused = Vector::Zero((block == Block::y ? 0 : point.x.size()) +
                               (block == Block::x ? 0 : point.y.size()));
  return add_gradients(point, block, batch, limit, unused).clipped;
}

ClipReport RecordSums::add_loss_differences(
    const Point&, const Point&, const BatchView&, double, double&) const {
  refuse("losses");
}

ClipReport RecordSums::add_coordinate_loss_differences(
    Index, ConstVectorRef, double, const BatchView&, double, VectorRef) const {
  refuse("losses of single coordinates");
}

ClipReport RecordSums::add_hessian_products(
    const Point&, ConstVectorRef, const BatchView&, double, VectorRef) const {
  refuse("Hessian products");
}

ClipReport RecordSums::add_hessian_difference_products(
    const Point&, const Point&, ConstVectorRef, const BatchView&, double, VectorRef) const {
  refuse("Hessian products");
}

std::unique_ptr<const Records> Records::projected(const Matrix&, double) const {
  refuse_projection();
}

std::unique_ptr<const SimulatedSums> SimulatedSums::projected(const Matrix&, double) const {
  refuse_projection();
}

void check_minimisation(std::string_view problem, Block block) {
  if (block != Block::x)
    throw InputError(fmt::format("{}: a minimisation problem has no dual block", problem));
}

}  // namespace dpsosp
