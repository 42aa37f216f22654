// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(x) = Σ_{j≤k} φ(x_j) + ½ Σ_{j>k} x_j², φ(u) = ½u² − 2 ln cosh u; every constant exact.
/// \source avdiukhin-2024 notes, 6 (DW).
class DoubleWell final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "double-well"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  Index wells = 1;  ///< k ≤ d, coordinates with two wells
  double half_width = 3;

 protected:
  Fields landscape_fields() override;
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
