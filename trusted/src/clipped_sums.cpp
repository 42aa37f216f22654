// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/clipped_sums.hpp"

#include "refusals.hpp"

namespace dpsosp {

ClipReport ClippedSums::add_losses(
    const Point&, const Point&, const Members&, double, double&) const {
  refuse("losses");
}

ClipReport ClippedSums::add_coordinate_losses(
    Index, ConstVectorRef, double, const Members&, double, VectorRef) const {
  refuse("losses of single coordinates");
}

ClipReport ClippedSums::add_products(
    const Point&, const Point*, ConstVectorRef, const Members&, double, VectorRef) const {
  refuse("Hessian products");
}

std::unique_ptr<const ClippedSums> ClippedSums::projected(const Matrix&, double) const {
  refuse_projection();
}

}  // namespace dpsosp
