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
namespace {

using nlohmann::json;
using namespace avdiukhin_2024;

/// ηt when the double well's Hessian turns positive, from the saddle, noise by Theorem 3.1 with
/// c₂ = 1 and full batches. The other coordinates do not matter to it.
json escape_time(const json& parameters, std::uint64_t seed) {
  const double records = parameters.at("records"), dimension = parameters.at("dimension");
  const std::int64_t runs = parameters.at("runs");
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
  return {{"mean_time", sum / static_cast<double>(runs)}, {"noise", noise}};
}

/// Standard deviations of the escaping coordinate of a quadratic saddle of curvature −1 after given
/// steps, over independent runs from the saddle.
json quadratic_escape(const json& parameters, std::uint64_t seed) {
  const double step_size = parameters.at("step_times_curvature"), noise = parameters.at("noise");
  const std::int64_t runs = parameters.at("runs");
  const std::vector<std::int64_t> steps = parameters.at("steps");
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
  json deviations = json::array();
  for (const double s : squares) deviations.push_back(std::sqrt(s / static_cast<double>(runs)));
  return {{"deviations", deviations}};
}

}  // namespace

std::vector<ProbeEntry> avdiukhin_2024_probes() {
  return {{"avdiukhin-2024/escape-time", 1, escape_time},
          {"avdiukhin-2024/quadratic-escape", 1, quadratic_escape},
          {"avdiukhin-2024/clipping-apart", 1, avdiukhin_2024_clipping_apart},
          {"avdiukhin-2024/given-noise", 2, avdiukhin_2024_given_noise},
          {"avdiukhin-2024/quadratic-constants", 1, avdiukhin_2024_quadratic_constants},
          {"avdiukhin-2024/coupled-identity", 1, avdiukhin_2024_coupled_identity},
          {"avdiukhin-2024/descent-without-b", 1, avdiukhin_2024_descent_without_b},
          {"avdiukhin-2024/power-errors", 1, avdiukhin_2024_power_errors},
          {"avdiukhin-2024/gradients-with-noise", 1, avdiukhin_2024_gradients_with_noise},
          {"avdiukhin-2024/independent-tests", 1, avdiukhin_2024_independent_tests},
          {.name = std::string(avdiukhin_2024_figures::training_probe), .numbers_version = 2}};
}

}  // namespace dpsosp
