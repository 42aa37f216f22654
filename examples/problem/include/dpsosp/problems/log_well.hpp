// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(x) = Σ_j φ(x_j), φ(u) = ½u² − ln(1 + u²); every constant exact.
/// \source an example, 2027
class LogWell final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "log-well"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  double half_width = 3;

 protected:
  Fields landscape_fields() override;
  Index default_dimension() const override { return 4; }
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
