// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// r(x) = λ‖x‖₁ or (λ/2)‖x‖²; public, so its prox is post-processing.
struct Regulariser {
  enum class Kind { l1, l2 };
  friend constexpr auto words_of(Kind) {
    using enum Kind;
    return word_list<Kind>("regulariser", {{l1, "l1"}, {l2, "l2"}});
  }
  Kind kind = Kind::l1;
  double weight = 0.0;

  void add_fields(Fields& fields);
  /// x becomes argmin_y r(y) + ‖y − x‖²/(2 step).
  void prox(double step, VectorRef x) const;
  double value(ConstVectorRef x) const;
};

}  // namespace dpsosp::baselines
