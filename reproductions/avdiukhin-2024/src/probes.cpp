// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/reproductions/training.hpp"
#include "gradients.hpp"
#include "parts.hpp"
#include "probes.hpp"

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

QuadraticEscape::Result quadratic_escape(const QuadraticEscape& parameters, std::uint64_t seed) {
  const double step_size = parameters.step_times_curvature, noise = parameters.noise;
  const std::int64_t runs = parameters.runs;
  const std::vector<std::int64_t> steps = parameters.steps;
  std::vector<double> squares(steps.size(), 0.0);
  const std::int64_t last = *std::max_element(steps.begin(), steps.end());
  Stream stream({.seed = seed, .purpose = Purpose::test});
  for (std::int64_t run = 0; run < runs; ++run) {
    double x = 0.0;
    for (std::int64_t t = 1; t <= last; ++t) {
      x += step_size * x - step_size * noise * stream.normal();
      for (std::size_t k = 0; k < steps.size(); ++k)
        if (steps[k] == t) squares[k] += x * x;
    }
  }
  std::vector<double> deviations;
  for (const double s : squares) deviations.push_back(std::sqrt(s / static_cast<double>(runs)));
  return {.deviations = deviations};
}

}  // namespace avdiukhin_2024_probe

std::vector<ProbeEntry> avdiukhin_2024_probes() {
  using namespace avdiukhin_2024_probe;
  using avdiukhin_2024_figures::Training;
  return {probe_entry<escape_time>(),
          probe_entry<quadratic_escape>(),
          probe_entry<clipping_apart>(),
          probe_entry<given_noise>(),
          probe_entry<quadratic_constants>(),
          probe_entry<coupled_identity>(),
          probe_entry<descent_without_b>(),
          probe_entry<power_errors>(),
          probe_entry<gradients_with_noise>(),
          probe_entry<independent_tests>(),
          {.name = std::string(Training::probe.name),
           .numbers_version = Training::probe.numbers_version}};
}

}  // namespace dpsosp
