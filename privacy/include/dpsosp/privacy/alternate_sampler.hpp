// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// How a Gibbs sampler draws.
enum class GibbsMethod {
  stochastic,  ///< alternating steps, an unbiased estimate from single records in each: inexact
  exact,       ///< alternating steps, each exact; the chain mixes by a proved rate
  rejection,   ///< one exact draw, from the regulariser's law
};

constexpr auto words_of(GibbsMethod) {
  using enum GibbsMethod;
  return word_list<GibbsMethod>(
      "Gibbs method", {{rejection, "rejection"}, {exact, "exact"}, {stochastic, "stochastic"}});
}

/// n functions f_i on a box or ball, |f_i| at most `bound`.
class SampledLoss {
 public:
  virtual ~SampledLoss() = default;
  virtual Index count() const = 0;
  virtual double one(Index i, ConstVectorRef x) = 0;
  virtual double mean(ConstVectorRef x) = 0;
};

/// The law π(x) ∝ exp(−β mean_i f_i(x) − (βμ/2)‖x‖²) on K, and how it is drawn from.
struct GibbsLaw {
  double inverse_temperature = 0;  ///< β > 0
  double regularizer = 0;          ///< μ ≥ 0
  Domain domain;                   ///< K, around 0
  double bound = 0;                ///< |f_i| ≤ bound; exact methods accept exp(−β(f + bound))
  GibbsMethod method = GibbsMethod::rejection;
  double step = 0;   ///< h, of alternating methods
  Index rounds = 0;  ///< T, of alternating methods
};

/// Counts of the stochastic method's estimates. They depend on the records: for evaluation alone.
struct EstimateCounts {
  std::int64_t estimates = 0;
  std::int64_t differences = 0;   ///< f_j(z) − f_j(x) evaluated
  std::int64_t out_of_range = 0;  ///< estimates outside [0, 2], where truncation biases the draw
};

/// AlternateSample with rejection steps: x ~ exp(−(βμ/2)‖x‖²) on K; T times y = x + √h N(0, I),
/// then x ~ exp(−βf(x) − (βμ/2)‖x‖² − ‖x − y‖²/(2h)) on K. A mathematical routine: it is private
/// only inside a mechanism that charges for it.
/// \source ganesh-2023 notes, 2.4 (Gopi, Lee and Liu 2022)
class AlternateSampler {
 public:
  /// \throws InputError on numbers out of range, R^d, or exact methods at 2β·bound > 18
  explicit AlternateSampler(const GibbsLaw& law);

  /// x ~ exp(−(βμ/2)‖x‖²) on K.
  void draw_prior(Stream& stream, VectorRef x) const;
  /// One round of the chain.
  void round(SampledLoss& loss, Stream& stream, VectorRef x);
  /// The whole method.
  void sample(SampledLoss& loss, Stream& stream, VectorRef x);
  /// r with E r = exp(β mean_i (f_i(z) − f_i(x))).
  double estimate(SampledLoss& loss, ConstVectorRef x, ConstVectorRef z, Stream& stream);

  const GibbsLaw& law() const { return law_; }
  const EstimateCounts& counts() const { return counts_; }

 private:
  void draw_step(ConstVectorRef y, Stream& stream, VectorRef x) const;
  bool accept_exactly(SampledLoss& loss, ConstVectorRef x, Stream& stream) const;

  GibbsLaw law_;
  EstimateCounts counts_;
  Vector y_, candidate_, other_;
};

/// N(mean, deviation²) restricted to [low, high], by inversion; accurate far out in the tails.
double truncated_normal(double mean, double deviation, double low, double high, Stream& stream);

}  // namespace dpsosp
