// SPDX-License-Identifier: Apache-2.0
#include "printed_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/query.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp {

double printed_rgda_epsilon() {
  constexpr double n = 400, T = 400, K = 5, q = 10, S1 = 200, S2 = 50, epsilon = 2, delta = 1e-6;
  const double unit = std::sqrt(std::log(1.0 / delta)) / epsilon;  // deviation over C
  const double refresh = unit * std::max(1.0 / S1, std::sqrt(T) / (std::sqrt(q) * n));
  const double increment = unit * std::max(1.0 / S2, std::sqrt(T) / n);
  const auto event = [&](double batch, double deviation) {
    return *plan_gaussian(BatchPolicy::sample(static_cast<Index>(batch)),
                          BatchUse::one_query,
                          static_cast<Index>(n),
                          1.0,
                          Noise::standard_deviation(deviation))
                .event;
  };
  const Event v = event(S1, refresh), w = event(S2, increment);
  constexpr auto refreshes = static_cast<std::int64_t>(2 * T / q);
  constexpr auto increments = static_cast<std::int64_t>(2 * T * K);
  const std::array sampled{CountedEvent{v, refreshes}, CountedEvent{w, increments}};
  const std::array open{CountedEvent{without_amplification(v), refreshes},
                        CountedEvent{without_amplification(w), increments}};
  return std::min(epsilon_of(sampled, Adjacency::replace_one, delta).epsilon,
                  epsilon_of(open, Adjacency::replace_one, delta).epsilon);
}

double lemma_8_epsilon() {
  constexpr double n = 1e6, epsilon = 2, delta = 1e-6, K = 5;
  const xu_2026::PaperPopulation s = xu_2026::paper_population(n, 120, epsilon, delta, 1.0);
  const double batch = std::ceil(s.increment_batch);
  // One query of one pass has the deviation C √ln(1/δ)/(ε S₂); the lemma multiplies by S₂/n.
  const double deviation = std::sqrt(std::log(1.0 / delta)) / (epsilon * n);
  return avdiukhin_2024::implied_epsilon(BatchPolicy::sample(static_cast<Index>(batch)),
                                         static_cast<Index>(n),
                                         static_cast<Index>(s.steps * K),
                                         deviation * batch / 2.0,
                                         delta);
}

}  // namespace dpsosp
