// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/design.hpp"

#include <cmath>

namespace dpsosp {

Field design_field(Design& value) {
  return field("design", value,
               "law of a measurement: normal entries, or uniform on a sphere (bounded)");
}

void draw_design(Design design, double norm, Stream stream, Matrix& measurements) {
  stream.fill_normal(norm / std::sqrt(static_cast<double>(measurements.rows())),
                     measurements.reshaped());
  if (design == Design::sphere)
    for (auto column : measurements.colwise()) column *= norm / column.norm();
}

Field record_scale_field(RecordScale& value) {
  return field("record_scale", value,
               "unit: a record weighs as little as its measurement; isotropic: E a a' = I");
}

}  // namespace dpsosp
