// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/lemmas/avdiukhin_2024.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"

namespace dpsosp {
namespace avdiukhin_2024_probe {

using namespace avdiukhin_2024;

EscapeTime::Result escape_time(const EscapeTime& parameters, std::uint64_t seed) {
  const double records = parameters.records, dimension = parameters.dimension;
  const std::int64_t runs = parameters.runs;
  constexpr double step_size = 0.1;
  const double bound = avdiukhin_2024_exhibit::first_bound();
  const Numbers n = avdiukhin_2024_exhibit::well_numbers(records, dimension);
  const double kc = naive_kappa(records, {.epsilon = 1.0, .delta = 1e-5}) * bound;
  const ClosedForm form = practical_closed_form(n, dimension, kc);
  const double noise = kc * std::sqrt(std::ceil(form.time / step_size));  // Δ = κC√T, T = S/η
  const double inflection = std::acosh(std::sqrt(2.0));  // φ″ = 1 − 2 sech² = 0
  Stream stream({.seed = seed, .purpose = Purpose::test});
  double sum = 0.0;
  for (std::int64_t run = 0; run < runs; ++run) {
    double x = 0.0;
    std::int64_t t = 0;
    for (; std::abs(x) <= inflection; ++t)
      x -= step_size * (x - 2.0 * std::tanh(x) + noise * stream.normal());
    sum += step_size * static_cast<double>(t);
  }
  return {.mean_time = sum / static_cast<double>(runs), .noise = noise};
}

SaddleDrop::Result saddle_drop(const SaddleDrop& parameters, std::uint64_t seed) {
  constexpr double rho = 1.5, alpha = 0.05, noise = 0.05, others = 19;
  const Numbers n{
      .records = 1e7, .dimension = 1 + others, .smoothness = 1, .gap = 1, .deviation = 1};
  const double each = noise * noise * (1 + 1 / n.dimension);  // privacy and sampling, a coordinate
  const Theorem34 t =
      theorem_3_4(n, rho, alpha, n.dimension * each, noise, 1e-6, TheoremConstants::paper);
  const double gamma = std::sqrt(rho * alpha);
  // γ c² φ(x/c), φ(u) = u²/2 − 2 ln cosh u, whose third derivative is at most 8/(3√3).
  const double c = 8 / (3 * std::sqrt(3.0)) * gamma / rho;
  const auto steps = static_cast<Index>(std::ceil(t.escape_steps));
  Stream stream({.seed = seed, .purpose = Purpose::test});
  std::int64_t fallen = 0, risen = 0;
  for (std::int64_t run = 0; run < parameters.runs; ++run) {
    double x = 0;
    Vector rest = Vector::Zero(static_cast<Index>(others)), z(rest.size());
    for (Index k = 0; k < steps; ++k) {
      x -= t.step_size *
           (gamma * (x - 2 * c * std::tanh(x / c)) + std::sqrt(each) * stream.normal());
      stream.fill_normal(std::sqrt(each), z);
      rest -= t.step_size * (rest + z);
    }
    const double u = x / c;
    const double value =
        gamma * c * c * (u * u / 2 - 2 * std::log(std::cosh(u))) + rest.squaredNorm() / 2;
    fallen += value < -t.escape_drop;
    risen += value >= t.escape_drop / 100;
  }
  const auto runs = static_cast<double>(parameters.runs);
  return {.steps = steps,
          .fallen = static_cast<double>(fallen) / runs,
          .risen = static_cast<double>(risen) / runs};
}

}  // namespace avdiukhin_2024_probe

std::vector<ProbeEntry> avdiukhin_2024_lemma_probes() {
  using namespace avdiukhin_2024_probe;
  return {probe_entry<escape_time>(),          probe_entry<saddle_drop>(),
          probe_entry<given_noise>(),          probe_entry<coupled_identity>(),
          probe_entry<descent_without_b>(),    probe_entry<power_errors>(),
          probe_entry<gradients_with_noise>(), probe_entry<independent_tests>()};
}

}  // namespace dpsosp
