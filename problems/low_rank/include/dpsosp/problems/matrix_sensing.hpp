// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/design.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

/// How the planted matrix X* = U* V*ᵀ with N(0, 1) factors is rescaled.
enum class PlantedScale { none, frobenius, spectral, over_sqrt_rank, over_rank };

constexpr auto words_of(PlantedScale) {
  using enum PlantedScale;
  return word_list<PlantedScale>("planted scale", {{none, "none"},
                                                   {frobenius, "frobenius"},
                                                   {spectral, "spectral"},
                                                   {over_sqrt_rank, "over_sqrt_rank"},
                                                   {over_rank, "over_rank"}});
}

/// Matrix sensing as a nonconvex-strongly-concave minimax problem and as its value function.
///
/// Records (A_i, b_i), i ≤ n: A_i ∈ R^{p×q} with N(0, 1/(pq)) entries, or uniform on the unit
/// sphere; b_i = ⟨A_i, X*⟩ + N(0, s²).
/// Variables x = (vec U, vec V), U ∈ R^{p×r}, V ∈ R^{q×r}, column-major; d = (p + q) r; y ∈ R^n.
///
///   f(x, y) = (1/n) Σ_i [ y_i (⟨A_i, UVᵀ⟩ − b_i) − y_i²/2 ],   y_i*(x) = ⟨A_i, UVᵀ⟩ − b_i,
///   Φ(x) = max_y f(x, y) = (1/2n) Σ_i (⟨A_i, UVᵀ⟩ − b_i)².
///
/// The dual is per record: ∇_y f_i = (res_i − y_i) e_i involves record i alone. Records are
/// unbounded (their labels at least), so every constant is estimated from the sampling law and
/// privacy rests on clipping alone. \source xu-2026, Section 5; xu-2026 notes, 8.1.
class MatrixSensing final : public ProblemFamily {
 public:
  std::string_view name() const override { return "matrix-sensing"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 400; }
  Fields fields() override;
  int numbers_version() const override { return 2; }

  Index rows = 20;
  Index cols = 20;
  Index rank = 3;
  PlantedScale planted_scale = PlantedScale::none;
  double planted_norm = 1.0;
  double label_noise = 0.01;
  double initial_spread = 0.1;
  Design design = Design::gaussian;
  StartOption start;

 protected:
  Index dimension(const InstanceSpec& spec) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// The records and the value function of given measurements, for tests and loaders.
/// Column i of `features` is vec A_i (column-major p × q); the labels are b ∈ R^n.
struct MatrixSensingData : RecordColumns {
  Index rows = 0, cols = 0, rank = 0;
};
std::unique_ptr<const AnyRecords> matrix_sensing_records(
    std::shared_ptr<const MatrixSensingData> data);
std::unique_ptr<const Objective> matrix_sensing_value(
    std::shared_ptr<const MatrixSensingData> data);

}  // namespace dpsosp
