// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/design.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Recovery of a positive semidefinite matrix from linear measurements, over x = vec U, U ∈
/// R^{p×r}.
///
///   f(U; A, b) = ¼ (⟨A, UUᵀ⟩ − b)²,  b = ⟨A, Y*⟩ ± s, each sign with probability ½.
///
/// Y* = Q diag(σ) Qᵀ with Q ∈ R^{p×r*} invariant under rotations and σ geometric from
/// `planted_norm` to `planted_norm`/`condition`. A has Frobenius norm L: exactly under
/// `design` = sphere, as a root mean square under gaussian; L = 1, or L = p where the record scale
/// is isotropic, and then the population objective is ¼‖UUᵀ − Y*‖_F² + s²/4.
/// \source avdiukhin-2024 notes, 6 (MF)
class MatrixSensingSymmetric final : public ProblemFamily {
 public:
  std::string_view name() const override { return "matrix-sensing-symmetric"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 2000; }
  Fields fields() override;

  Index rows = 8;
  Index rank = 2;
  Index planted_rank = 2;  ///< r* ≤ p
  double planted_norm = 1.0;
  double condition = 1.5;
  double label_noise = 0.1;
  double domain_factor = 1.5;
  double initial_spread = 0.1;
  Design design = Design::sphere;
  RecordScale record_scale = RecordScale::isotropic;
  StartOption start;

 protected:
  Index dimension(const InstanceSpec& spec) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// The records and the objective of given measurements, for tests and loaders.
struct SymmetricSensingData {
  Index rows = 0, rank = 0;
  Matrix measurements;  ///< p² × n, column i is vec A_i, symmetric
  Vector labels;        ///< b ∈ R^n
};
std::unique_ptr<const AnyRecords> symmetric_sensing_records(SymmetricSensingData data);
std::unique_ptr<const Objective> symmetric_sensing_objective(const SymmetricSensingData& data);

}  // namespace dpsosp
