// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/design.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

enum class PhaseLoss {
  intensity,  ///< ¼ (t² − b)²
  amplitude,  ///< ½ (√(t² + e²) − √(b + e²))²
};

constexpr auto words_of(PhaseLoss) {
  using enum PhaseLoss;
  return word_list<PhaseLoss>("phase loss", {{intensity, "intensity"}, {amplitude, "amplitude"}});
}

/// What problems of phase retrieval have in common: x*, uniform on a sphere, labels, and the start.
struct PhaseSettings {
  double signal_norm = 1.0;
  double label_noise = 0.1;
  double domain_factor = 1.5;
  double initial_spread = 0.1;
  Design design = Design::sphere;
  StartOption start;

  double radius() const { return domain_factor * signal_norm; }
};

/// Recovery of x* ∈ R^d up to its sign from b = (aᵀx*)² ± s, each sign with probability ½.
///
///   f(x; a, b) = ¼ (t² − b)²  or  ½ (√(t² + e²) − √(b + e²))²,  t = aᵀx.
///
/// a has N(0, 1) entries or is uniform on the sphere ‖a‖ = √d; x* is uniform on the sphere of
/// radius `signal_norm`.
class PhaseRetrieval final : public ProblemFamily, public PhaseSettings {
 public:
  std::string_view name() const override { return "phase-retrieval"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 2000; }
  Fields fields() override;

  PhaseLoss loss = PhaseLoss::intensity;
  double smoothing = 0.5;

 protected:
  void check_settings(Index dimension) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// Measurements, labels and a loss φ(aᵀx; b), multiplied by `scale`.
struct PhaseData {
  RecordColumns
      columns;  ///< column i is a_i ∈ R^d, with the label b_i ≥ −e² for the amplitude loss
  PhaseLoss loss = PhaseLoss::intensity;
  double smoothing = 0.5;
  double scale = 1.0;
};
std::unique_ptr<const AnyRecords> phase_records(std::shared_ptr<const PhaseData> data);
std::unique_ptr<const Objective> phase_objective(std::shared_ptr<const PhaseData> data);

}  // namespace dpsosp
