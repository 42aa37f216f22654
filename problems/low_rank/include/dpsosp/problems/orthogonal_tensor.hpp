// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Orthogonal fourth-order tensor decomposition with streaming records: a record is a component
/// j ∈ {1, …, d}, uniform, of a public orthonormal basis a_1, …, a_d, and
///
///   f(x; j) = −(d/4)(a_j·x)⁴ + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖²,
///   F(x) = −¼ Σ_j (a_j·x)⁴ + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖².
///
/// The critical points of F are 0 and, for each set of k ≥ 1 components and each choice of signs,
/// the combination with equal magnitudes √((β−1)/(βk−1)): the 2d minimisers ±a_j (k = 1), and
/// 3^d − 1 − 2d strict saddles. Batch sums depend on the components' counts alone, a multinomial.
/// \source Ge, Huang, Jin and Yuan (2015), section 4; the penalty replaces the unit sphere.
class OrthogonalTensor final : public ProblemFamily {
 public:
  enum class Basis { identity, rotated };
  friend constexpr auto words_of(Basis) {
    using enum Basis;
    return word_list<Basis>("basis", {{identity, "identity"}, {rotated, "rotated"}});
  }

  std::string_view name() const override { return "orthogonal-tensor"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;

  double penalty = 2.0;
  double radius = 1.25;
  Index saddle_components = 2;
  Basis basis = Basis::identity;
  Index basis_seed = 0;
  RecordSampling sampling = RecordSampling::balanced;
  StartOption start;

 protected:
  Index least_dimension() const override { return 2; }
  void check_settings(Index dimension) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

}  // namespace dpsosp
