// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/phase_retrieval.hpp"

namespace dpsosp {

/// Phase retrieval as a minimax problem with one dual coordinate a record, and its value function.
///
///   f(x, y) = (1/n) Σ_i [ y_i r_i − y_i²/2 ],  r_i = (a_iᵀx)² − b_i = y_i*(x),
///   Φ(x) = (1/2n) Σ_i r_i²,
///
/// with the records of phase-retrieval: b = (aᵀx*)² ± s. \source xu-2026 notes, 8.5
class RobustPhaseRetrieval final : public ProblemFamily, public PhaseSettings {
 public:
  std::string_view name() const override { return "robust-phase-retrieval"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 1000; }
  Fields fields() override;

 protected:
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// \param measurements  d × n, column i is a_i.
/// \param labels        b ∈ R^n.
std::unique_ptr<const AnyRecords> robust_phase_records(RecordColumns columns);
std::unique_ptr<const Objective> robust_phase_value(RecordColumns columns);

}  // namespace dpsosp
