// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/design.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Phase retrieval as a minimax problem with one dual coordinate a record, and its value function.
///
///   f(x, y) = (1/n) Σ_i [ y_i r_i − y_i²/2 ],  r_i = (a_iᵀx)² − b_i = y_i*(x),
///   Φ(x) = (1/2n) Σ_i r_i²,
///
/// with the records of phase-retrieval: b = (aᵀx*)² ± s. \source xu-2026 notes, 8.5
class RobustPhaseRetrieval final : public ProblemFamily {
 public:
  std::string_view name() const override { return "robust-phase-retrieval"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 1000; }
  Fields fields() override;
  int numbers_version() const override { return 1; }
  Problem make(const InstanceSpec& spec) const override;

  double signal_norm = 1.0;    ///< ‖x*‖
  double label_noise = 0.1;    ///< s
  double domain_factor = 1.5;  ///< radius of the domain over ‖x*‖
  double initial_spread = 0.1;
  Design design = Design::sphere;
  StartOption start;
};

/// \param measurements  d × n, column i is a_i.
/// \param labels        b ∈ R^n.
std::unique_ptr<const Records> robust_phase_records(Matrix measurements, Vector labels);
std::unique_ptr<const Objective> robust_phase_value(Matrix measurements, Vector labels);

}  // namespace dpsosp
