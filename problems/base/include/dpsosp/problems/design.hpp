// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// Law of a measurement vector a ∈ R^m with E a aᵀ = (norm²/m) I.
enum class Design {
  gaussian,  ///< independent N(0, norm²/m) entries; unbounded
  sphere,    ///< uniform on the sphere ‖a‖ = norm
};

constexpr auto words_of(Design) {
  using enum Design;
  return word_list<Design>("design", {{gaussian, "gaussian"}, {sphere, "sphere"}});
}

Field design_field(Design& value);

/// Fills each column of `measurements` (m × n) with an independent draw.
void draw_design(Design design, double norm, Stream stream, Matrix& measurements);

/// Scale by which a record's own Frobenius norm is 1, or the second moment the identity, which
/// makes the population objective one of the unknown matrix itself.
enum class RecordScale { unit, isotropic };

constexpr auto words_of(RecordScale) {
  using enum RecordScale;
  return word_list<RecordScale>("record scale", {{unit, "unit"}, {isotropic, "isotropic"}});
}

Field record_scale_field(RecordScale& value);

}  // namespace dpsosp
