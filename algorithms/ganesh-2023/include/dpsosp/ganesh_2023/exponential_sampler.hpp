// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"

namespace dpsosp::ganesh_2023 {

/// Where the inverse temperature comes from. \source ganesh-2023 notes, 3.2
enum class BetaMode {
  schedule,   ///< `printed` under paper, `compute` under practical
  printed,    ///< Theorem 5.6: β = ε ln(nd)/(GD √ln(1/δ))
  lsi_solve,  ///< Theorem 5.1 made tight: β = 2W/(GD), W e^W = εn√d/(4√(1 + 2 ln(1/δ)))
  pure,       ///< all of ε as bounded range: β = εn/(2GD)
  compute,    ///< pure, but no more than βGD = largest_exponent
};

constexpr auto words_of(BetaMode) {
  using enum BetaMode;
  return word_list<BetaMode>("beta mode", {{schedule, "schedule"},
                                           {printed, "printed"},
                                           {lsi_solve, "lsi_solve"},
                                           {pure, "pure"},
                                           {compute, "compute"}});
}

/// Symbols of the paper in the comments.
struct ExponentialSamplerParameters {
  BetaMode beta_mode = BetaMode::schedule;
  double inverse_temperature = 1.0;
  double regularizer = 0.0;
  double lipschitz = 1.0;
  double domain_radius = 1.0;
  GibbsMethod method = GibbsMethod::rejection;
  double sampler_step = 0.01;
  Index steps = 1;
  double sampling_error = 1e-8;
  double step_constant = 0.2;  ///< c_h of the schedules: h = c_h/((βG)² ln(2T/δ_s))
  double largest_exponent = 12.0;
};

/// One draw from exp(−βF − (βμ/2)‖x‖²) on the domain.
/// \source ganesh-2023, Theorem 5.6; ganesh-2023, Theorem 5.7; ganesh-2023 notes, 2.4
class ExponentialSampler final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  ExponentialSamplerParameters parameters;

 private:
  GibbsSpec spec(const PublicFacts& facts) const;
};

/// β of a mode. \param budget  ε and δ; \param largest_exponent  of `compute`
double inverse_temperature_of(BetaMode mode, double n, double d, double G, double D,
                              const PrivacyBudget& budget, double largest_exponent);
/// μ = d/(D²β). \source ganesh-2023, Theorem 5.6
double printed_regularizer(double inverse_temperature, double d, double D);
/// C_LSI ≤ e^{βGD}/(βμ). \source ganesh-2023 notes, 3.2
double sobolev_constant(double inverse_temperature, double regularizer, double G, double D);
/// ε of Theorem 5.1: (2βG/n)√C_LSI √(1 + 2 ln(1/δ)). Needs losses that are G-Lipschitz.
/// \source ganesh-2023, Theorem 5.1
double theorem_5_1_epsilon(double inverse_temperature, double sobolev, double G, double n,
                           double delta);
/// zCDP of the same: 2C_LSI(βG/n)². \source ganesh-2023 notes, 4
double sobolev_zcdp(double inverse_temperature, double sobolev, double G, double n);

/// h = c_h/((βG)² ln(2T/δ_s)) and T the rounds that h needs, solved together. T is a double, since
/// it may exceed every integer type. \source ganesh-2023 notes, 2.4 and 3.2
struct SamplerSteps {
  double step;
  double rounds;
};
SamplerSteps sampler_steps(double inverse_temperature, double regularizer, double G, double D,
                           double error, double step_constant);

/// E F(x) − min_K F ≤ (d + 1 + d ln(βG′D/d))/β + μD²/8, G′ = G + μD/2, on K around 0. Printed
/// without d + 1, and then 0 at βGD = d (docs/errata.md, G10). Where βG′D < d the logarithm is
/// taken to be 0. \source ganesh-2023, Lemma 5.3; ganesh-2023 notes, 6.10
double gibbs_excess(double inverse_temperature, double regularizer, double d, double G, double D);

}  // namespace dpsosp::ganesh_2023
