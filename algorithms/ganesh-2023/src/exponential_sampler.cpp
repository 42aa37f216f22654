// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/ganesh_2023/exponential_sampler.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/algorithms/exponential_search.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::ganesh_2023 {
namespace {

constexpr double largest_exact_exponent = 18.0;  // of GibbsMethod::exact and rejection

/// W e^W = x for x > 0, by Newton's method on W + ln W = ln x.
double lambert_w(double x) {
  double w =
      x < 1 ? x / (1 + x) : std::log1p(x) * (1 - std::log1p(std::log1p(x)) / (2 + std::log1p(x)));
  for (int k = 0; k < 100; ++k) {
    const double next = w * (1 + std::log(x) - std::log(w)) / (1 + w);
    if (std::abs(next - w) <= 1e-16 * w) break;
    w = next;
  }
  return w;
}

}  // namespace

double inverse_temperature_of(BetaMode mode, double n, double d, double G, double D,
                              const PrivacyBudget& budget, double largest_exponent) {
  const double epsilon = budget.epsilon, log_delta = -std::log(budget.delta);
  const double pure = epsilon * n / (2.0 * G * D);
  switch (mode) {
    case BetaMode::schedule:
    case BetaMode::printed:
      return epsilon * std::log(n * d) / (G * D * std::sqrt(log_delta));
    case BetaMode::lsi_solve:
      return 2.0 * lambert_w(epsilon * n * std::sqrt(d) / (4.0 * std::sqrt(1 + 2 * log_delta))) /
             (G * D);
    case BetaMode::pure:
      return pure;
    case BetaMode::compute:
      break;
  }
  return std::min(pure, largest_exponent / (G * D));
}

double printed_regularizer(double inverse_temperature, double d, double D) {
  return d / (D * D * inverse_temperature);
}

double sobolev_constant(double inverse_temperature, double regularizer, double G, double D) {
  return std::exp(inverse_temperature * G * D) / (inverse_temperature * regularizer);
}

double theorem_5_1_epsilon(double inverse_temperature, double sobolev, double G, double n,
                           double delta) {
  return 2.0 * inverse_temperature * G / n * std::sqrt(sobolev) *
         std::sqrt(1.0 - 2.0 * std::log(delta));
}

double sobolev_zcdp(double inverse_temperature, double sobolev, double G, double n) {
  return 2.0 * sobolev * std::pow(inverse_temperature * G / n, 2);
}

SamplerSteps sampler_steps(double inverse_temperature, double regularizer, double G, double D,
                           double error, double step_constant) {
  const double slope = inverse_temperature * G;
  double rounds = 1.0, step = 0.0;
  for (int k = 0; k < 100; ++k) {
    step = step_constant / (slope * slope * std::log(2.0 * rounds / error));
    const double next =
        std::max(1.0, alternating_rounds(inverse_temperature, regularizer, G * D, step, error));
    if (next == rounds) break;
    rounds = next;
  }
  return {step, rounds};
}

double gibbs_excess(double inverse_temperature, double regularizer, double d, double G, double D) {
  const double slope = G + 0.5 * regularizer * D;
  const double logarithm = std::log(std::max(1.0, inverse_temperature * slope * D / d));
  return (d + 1.0 + d * logarithm) / inverse_temperature + regularizer * D * D / 8.0;
}

const AlgorithmCard& ExponentialSampler::card() const {
  static const AlgorithmCard card{
      .key = "ganesh-2023/exponential-mechanism",
      .title = "Exponential mechanism with a regulariser",
      .paper = "Ganesh, Liu, Oh, Thakurta 2023",
      .place = "Theorems 5.6 and 5.7",
      .guarantee = "excess risk, empirical or population; Lipschitz losses only",
      .metric = Metric::excess_risk,
      .rate = "d loglog(n)/(eps log(n)) in polynomial time; no power of n",
      .empirical = {},
      .population = {},
      .sampling = {},
      .operations = "loss differences to a public centre, clamped",
      .output_rule = "one draw",
      .printed = "",
      .utility = Utility::repaired};
  return card;
}

Fields ExponentialSampler::fields() {
  using namespace range;
  ExponentialSamplerParameters& p = parameters;
  return {
      field("beta_mode", p.beta_mode, "where the schedule takes beta from"),
      field("inverse_temperature", p.inverse_temperature, positive, "beta"),
      field("regularizer", p.regularizer, not_negative, "mu; 0 = none"),
      field("lipschitz", p.lipschitz, positive, "G, per-record clamp of losses at G D/2"),
      field("domain_radius", p.domain_radius, positive, "of the ball K where the domain is R^d"),
      field("method", p.method, "one exact draw, or alternating steps, exact or by single records"),
      field("sampler_step", p.sampler_step, positive, "h"),
      field("steps", p.steps, positive, "T, rounds of alternating methods"),
      field("sampling_error", p.sampling_error, positive, "delta_s, of alternating methods"),
      field("step_constant", p.step_constant, positive, "c_h"),
      field("largest_exponent", p.largest_exponent, positive,
            "most beta G D of beta_mode = compute")};
}

void ExponentialSampler::set_variant(Variant) {}

Scheduled ExponentialSampler::schedule(Schedule kind, const PublicFacts& facts,
                                       const PrivacyBudget& budget, Calibrator calibrator) {
  ExponentialSamplerParameters& p = parameters;
  refuse_any_dual(card(), facts);
  const double n = static_cast<double>(facts.records), d = static_cast<double>(facts.dimension);
  const double G = facts.constants[constant::lipschitz];
  const double D = spec(facts).domain.diameter(facts.dimension);
  const bool paper = kind == Schedule::paper;
  const BetaMode mode = p.beta_mode != BetaMode::schedule ? p.beta_mode
                        : paper                           ? BetaMode::printed
                                                          : BetaMode::compute;
  p.lipschitz = G;
  // reduced by more than the rounding error, so that the filter grants 2 beta G D/n
  p.inverse_temperature =
      inverse_temperature_of(mode, n, d, G, D, budget, p.largest_exponent) * (1 - 1e-14);
  const double exponent = p.inverse_temperature * G * D;
  p.method = !paper && exponent <= largest_exact_exponent ? GibbsMethod::rejection
                                                          : GibbsMethod::stochastic;
  // The regulariser makes the chain mix; rejection has no chain.
  const bool alternates = p.method != GibbsMethod::rejection;
  p.regularizer = alternates ? printed_regularizer(p.inverse_temperature, d, D) : 0.0;
  const double delta_extra = alternates ? 0.5 * budget.delta : 0.0;
  // The rule grants all of epsilon; 2 beta G D/n of it is spent, less where compute limits beta.
  Scheduled s{.rule = filter_rule(budget, calibrator, {}, budget.epsilon, delta_extra),
              .utility = Utility::repaired};
  if (alternates) {
    p.sampling_error = s.rule.delta_extra;
    const SamplerSteps steps = sampler_steps(p.inverse_temperature, p.regularizer, G, D,
                                             p.sampling_error, p.step_constant);
    p.sampler_step = steps.step;
    p.steps = count_of(card().key, "rounds", steps.rounds);
  } else {
    p.steps = 1;
  }
  s.excess_risk = gibbs_excess(p.inverse_temperature, p.regularizer, d, G, D);
  s.alpha = s.excess_risk;
  s.note = fmt::format("beta G D = {:.4g} spends epsilon = {:.4g}", exponent, 2.0 * exponent / n);
  if (alternates) {
    const double sobolev = sobolev_constant(p.inverse_temperature, p.regularizer, G, D);
    s.add_note(fmt::format(
        "Theorem 5.1 with C_LSI = {:.4g} would print epsilon = {:.4g}; no proof bounds the "
        "stochastic method's error: privacy is conditional",
        sobolev, theorem_5_1_epsilon(p.inverse_temperature, sobolev, G, n, budget.delta)));
  }
  mark_vacuous(s, G * D, "range G D of a loss");
  return s;
}

GibbsSpec ExponentialSampler::spec(const PublicFacts& facts) const {
  const ExponentialSamplerParameters& p = parameters;
  const bool bounded = facts.domain.kind != Domain::Kind::everywhere;
  const bool alternates = p.method != GibbsMethod::rejection;
  return {.inverse_temperature = p.inverse_temperature,
          .regularizer = p.regularizer,
          .lipschitz = p.lipschitz,
          .domain = bounded ? facts.domain : Domain::ball(p.domain_radius),
          .method = p.method,
          .step = p.sampler_step,
          .rounds = p.steps,
          .sampling_error = alternates ? p.sampling_error : 0.0};
}

void ExponentialSampler::check_settings(const PublicFacts& facts) const {
  const ExponentialSamplerParameters& p = parameters;
  const std::string& key = card().key;
  refuse_any_dual(card(), facts);
  const double D = spec(facts).domain.diameter(facts.dimension);
  if (p.method != GibbsMethod::stochastic &&
      !(p.inverse_temperature * p.lipschitz * D <= largest_exact_exponent))
    reject(key, "inverse_temperature", p.inverse_temperature,
           fmt::format("at most {:.6g} for exact draws: beta G D <= {}",
                       largest_exact_exponent / (p.lipschitz * D), largest_exact_exponent));
}

Outcome ExponentialSampler::run(Curator& curator, Stream, Observer& observer) const {
  const PublicFacts& facts = curator.facts();
  Vector x = facts.initial_point;
  observer.iterate(0, x);
  GibbsSampler sampler(curator, curator.draw(BatchPolicy::all()), spec(facts));
  try {
    sampler.sample(x);
  } catch (const Refused& refusal) {
    return {x, status_of(refusal), 0, {}};
  }
  const bool alternates = parameters.method != GibbsMethod::rejection;
  return {x, Status::steps_done, 1, {{"rounds", alternates ? parameters.steps : 1}}};
}

}  // namespace dpsosp::ganesh_2023
