// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dpsosp/problems/glm_loss.hpp"
#include "dpsosp/problems/objective.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

/// Records of a generalised linear model: f(w; x, y) = φ(⟨w, x⟩; y) + g(w).
/// ‖x_i‖ ≤ 1 for the constants to hold.
using GlmData = RecordColumns;

struct GlmModel {
  std::string problem;  ///< for messages
  std::shared_ptr<const ScalarLoss> loss;
  Penalty penalty = {};
};

/// The records one by one.
std::unique_ptr<const AnyRecords> glm_records(GlmModel model, std::shared_ptr<const GlmData> data);

/// The law of simulated records: n of them, each one of the atoms with equal probability.
struct GlmSupport {
  Index records = 0;  ///< n
  RecordSampling sampling = RecordSampling::whole;
  std::uint64_t data_seed = 0;
};

/// Simulated records with K atoms: a batch's sum is drawn from its exact law at the cost of K
/// records, for any n, and clips every record.
std::unique_ptr<const SimulatedSums> glm_atom_sums(GlmModel model,
                                                   std::shared_ptr<const GlmData> atoms,
                                                   const GlmSupport& support);

/// How often each atom occurs in records [begin, begin + size): multinomial with equal
/// probabilities.
std::vector<Index> atom_counts(Index atoms, std::uint64_t data_seed, Index begin, Index size);

/// F(w) = Σ_i weights_i f(w; x_i, y_i); equal weights 1/n where `weights` is empty.
std::unique_ptr<const Objective> glm_objective(GlmModel model, std::shared_ptr<const GlmData> data,
                                               Vector weights = {});

/// glm_constants() and a bound of F(x₀) − min F, with the share of it that is attained.
Constants glm_constants(const ScalarLoss& loss, const Penalty& penalty, const Vector& initial_point,
                        double gap_attained);

/// Features at the corners of the unit ball of R^d, beside each of the labels.
GlmData glm_extremes(Index d, const Vector& labels);

/// λ Σ_j w_j²/(1 + w_j²); its Hessian is diagonal.
double ratio_penalty(double lambda, ConstVectorRef w);
/// out += λ ∇ of it.
void add_ratio_penalty_gradient(double lambda, ConstVectorRef w, VectorRef out);
/// out += the diagonal of λ ∇² of it.
void add_ratio_penalty_curvature(double lambda, ConstVectorRef w, VectorRef out);

}  // namespace dpsosp
