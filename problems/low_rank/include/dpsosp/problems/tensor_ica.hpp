// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

/// Independent component analysis by the fourth cumulant, with streaming records y = A s: A
/// orthogonal, the sources s_1, …, s_d independent with E s = 0, E s² = 1 and κ = E s⁴ − 3 < 0.
///
///   f(x; y) = ((x·y)⁴ − 3‖x‖⁴)/(4|κ|) + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖².
///
/// E (x·y)⁴ = 3‖x‖⁴ + κ Σ_j (a_j·x)⁴, so the population objective is that of `orthogonal-tensor`
/// with the columns a_j of A: minimisers ±a_j, and all its saddles. Sources: signs (κ = −2, ‖y‖² =
/// d) or uniform on [−√3, √3] (κ = −6/5, ‖y‖² ≤ 3d). \source Ge, Huang, Jin and Yuan (2015),
/// section 4.1; the penalty replaces the unit sphere.
class TensorIca final : public ProblemFamily {
 public:
  enum class Source { signs, uniform };
  friend constexpr auto words_of(Source) {
    using enum Source;
    return word_list<Source>("source", {{signs, "signs"}, {uniform, "uniform"}});
  }
  enum class Mixing { planted, identity };
  friend constexpr auto words_of(Mixing) {
    using enum Mixing;
    return word_list<Mixing>("mixing", {{planted, "planted"}, {identity, "identity"}});
  }

  std::string_view name() const override { return "tensor-ica"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;

  double penalty = 2.0;
  double radius = 1.1;
  Source source = Source::signs;
  Mixing mixing = Mixing::planted;  ///< A hidden, from the data seed, or the identity
  StartOption start;

 protected:
  Index default_dimension() const override { return 6; }
  Index least_dimension() const override { return 2; }
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// Records and empirical objective of given observations, the columns of `observed` (d × n; labels
/// say nothing), for tests. f(x; y) = (x·y)⁴/(4|κ|) + (b/4)‖x‖⁴ − (γ/2)‖x‖².
struct TensorIcaLoss {
  double excess = 2;     ///< |κ| > 0
  double quartic = 0.5;  ///< b = β − 3/|κ|
  double gamma = 1;      ///< γ = β − 1
};
std::unique_ptr<const AnyRecords> tensor_ica_records(TensorIcaLoss loss,
                                                     std::shared_ptr<const RecordColumns> observed);
std::unique_ptr<const Objective> tensor_ica_objective(TensorIcaLoss loss,
                                                      std::shared_ptr<const Matrix> observed);

}  // namespace dpsosp
