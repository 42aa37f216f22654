// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// One scalar of an AboveThreshold session: its threshold, the scales of its noise, and their cost.
struct ThresholdTest {
  double threshold = 0;         ///< without noise
  double sensitivity = 0;       ///< that the scales are computed from
  double true_sensitivity = 0;  ///< by how much the scalar moves when one record is exchanged
  double epsilon = 0;           ///< ε of the session if the sensitivity is the true one

  double threshold_scale() const { return 2.0 * sensitivity / epsilon; }  ///< Laplace, drawn once
  double question_scale() const { return 4.0 * sensitivity / epsilon; }   ///< Laplace, each time
  double true_epsilon() const { return epsilon * (true_sensitivity / sensitivity); }
};

}  // namespace dpsosp
