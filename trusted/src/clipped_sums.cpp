// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/detail/clipped_sums.hpp"

#include "refusals.hpp"

namespace dpsosp {

ClipReport ClippedSums::add_hessians(const Point&, const Members&, double, VectorRef) const {
  refuse("whole Hessians");
}

std::unique_ptr<const ClippedSums> ClippedSums::projected(const Matrix&, double) const {
  refuse_projection();
}

}  // namespace dpsosp
