// SPDX-License-Identifier: Apache-2.0
#include "printed_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/pld.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp {
namespace {

constexpr double delta = 1e-6;

/// Deviation over C of a query on `batch` of n records, of which Algorithm 3 counts `queries`.
double deviation(double c, double epsilon, double batch, double queries, double n) {
  return c * std::sqrt(std::log(1.0 / delta)) / epsilon *
         std::max(1.0 / batch, std::sqrt(queries) / n);
}

/// Deviation over the replace-one sensitivity of a mean of `batch` contributions of norm C, of v
/// alone or of v and u.
double ratio(double deviation, double batch, bool both_streams) {
  return deviation * batch / (both_streams ? 2.0 * std::numbers::sqrt2 : 2.0);
}

}  // namespace

EpsilonInterval section_5_epsilon(const NoiseCount& count, Draw draw) {
  constexpr double n = 400, T = 400, q = 10, S1 = 200, S2 = 50, epsilon = 2;
  const double v = ratio(deviation(count.c, epsilon, S1, T / q, n), S1, count.both_streams);
  const double w = ratio(deviation(count.c, epsilon, S2, T, n), S2, count.both_streams);
  const auto refreshes = static_cast<std::int64_t>(T / q);
  const auto increments = static_cast<std::int64_t>(T * count.inner_steps);
  const bool poisson = draw == Draw::poisson;
  const auto event = [&](double rate, double z) {  // Poisson noise is counted in the clip norm
    return poisson ? Event(PoissonGaussianEvent{rate, 2 * z})
                   : Event(FixedSizeGaussianEvent{rate, z});
  };
  const std::array events{CountedEvent{event(S1 / n, v), refreshes},
                          CountedEvent{event(S2 / n, w), increments}};
  const AccountOptions tightest{.accountant = Accountant::tightest};
  return {attained_epsilon(events, Adjacency::replace_one, delta, tightest.tolerance),
          epsilon_of(events, Adjacency::replace_one, delta, tightest).epsilon};
}

double constant_needed(double records, double epsilon) {
  const xu_2026::PaperErm s = xu_2026::paper_erm(records, 120, epsilon, delta, 1, 1, 1);
  const double T = std::ceil(s.steps), q = static_cast<double>(s.period);
  const double S2 = std::min(records, std::ceil(s.increment_batch));
  const auto refreshes = static_cast<std::int64_t>(std::ceil(T / q));
  const auto cost = [&](double c) {
    const std::array events{
        CountedEvent{
            GaussianEvent{ratio(deviation(c, epsilon, records, T / q, records), records, true)},
            refreshes},
        CountedEvent{FixedSizeGaussianEvent{S2 / records,
                                            ratio(deviation(c, epsilon, S2, T, records), S2, true)},
                     static_cast<std::int64_t>(T)}};
    return epsilon_of(events, Adjacency::replace_one, delta).epsilon;
  };
  return least_constant(cost, epsilon, 8);
}

namespace {

/// One answer v of Lemma 8 that has the changed record, and the event that it exceeds half of what
/// the record adds to it.
struct ShownRecord {
  double batch;  ///< S₂
  double steps;  ///< T
  double half;   ///< of what the record adds, over the noise
  double tail;   ///< Pr[the noise alone exceeds it]
};

constexpr double lemma_8_epsilon = 2, lemma_8_inner_steps = 5;

ShownRecord shown_record(double constant, double records) {
  constexpr double kappa = 5, failure = 0.1;  // failure: δ₁
  const xu_2026::PaperPopulation s =
      xu_2026::paper_population(records, 120, lemma_8_epsilon, delta, 1.0);
  const double batch =
      std::ceil(std::pow(std::log(4.0 / failure), 2) * kappa * std::cbrt(1.0 / s.ebar));
  // Over L‖y_k − y_{k−1}‖: the noise, and half of what the record adds to an answer that has it.
  const double deviation =
      2.0 * constant * std::sqrt(std::log(1.25 / delta)) / (records * lemma_8_epsilon);
  const double half = 0.5 * std::sqrt(1.0 - 1.0 / kappa) / batch / deviation;
  return {batch, std::floor(s.steps), half, std::erfc(half / std::numbers::sqrt2) / 2};
}

}  // namespace

double lemma_8_query_delta(double constant, double records) {
  const ShownRecord r = shown_record(constant, records);
  const double sampled = r.batch / records;
  const double with = sampled * (1.0 - r.tail) + (1.0 - sampled) * r.tail;
  return with - std::exp(lemma_8_epsilon / 2) * r.tail;
}

double lemma_8_lower_epsilon(double constant, double records) {
  const ShownRecord r = shown_record(constant, records);
  const double answers = r.steps * (lemma_8_inner_steps - 1);  // the first increment leaves y
  // Some answer that has the record exceeds half of its share, with it; without it none should.
  const double with = -std::expm1(answers * std::log1p(-r.batch / records * (1.0 - r.tail)));
  const double log_tail =
      r.half > 30  // Φ(−h) <= φ(h)/h
          ? -r.half * r.half / 2 - std::log(r.half * std::sqrt(2 * std::numbers::pi))
          : std::log(r.tail);
  return std::log(std::max(with - delta, 1e-300)) - std::log(answers) - log_tail;
}

}  // namespace dpsosp
