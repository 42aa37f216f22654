// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/avdiukhin_2024.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/query.hpp"

namespace dpsosp {
namespace {

/// ε at δ = 0.01 of the noise of avdiukhin-2024, Theorem 3.1, with constant c₂ for a target ε:
/// n = 50000, 2328 steps, batches of 512: by independent coins, or of fixed size under replace-one.
double theorem_3_1_epsilon(double c2, double epsilon, Adjacency adjacency,
                           bool fixed_size = false) {
  constexpr Index records = 50000, batch = 512, steps = 2328;
  constexpr double delta = 0.01;
  const double kappa =
      avdiukhin_2024::naive_kappa(records, {.epsilon = epsilon, .delta = delta}, c2);
  // Δ over 2C/B, with Δ = κ C √T
  const double ratio = 0.5 * batch * kappa * std::sqrt(static_cast<double>(steps));
  constexpr double rate = static_cast<double>(batch) / records;
  if (adjacency == Adjacency::replace_one)
    return avdiukhin_2024::implied_epsilon(
        fixed_size ? BatchPolicy::sample(batch) : BatchPolicy::poisson(rate), records, steps, ratio,
        delta);
  const CountedEvent event{PoissonGaussianEvent{.rate = rate, .noise_multiplier = 2.0 * ratio},
                           steps};
  return epsilon_of({&event, 1}, adjacency, delta).epsilon;
}
using namespace avdiukhin_2024;
using namespace avdiukhin_2024_exhibit;

struct Calls {
  double gradients;     ///< T·B
  double per_variance;  ///< T over the full variance σ²/B + dΔ² of a noisy gradient
};

/// At the smallest budget that reaches α by Theorem 3.5, with Δ² = σ²/B.
Calls oracle_calls(double alpha, double sigma, double dimension) {
  constexpr double batch = 1000.0, c_step = 1.0 / 128, k_steps = 64.0;
  Numbers n = well_numbers(1e6, dimension);
  n.deviation = sigma;
  const double X_per_kc2 = k_steps * n.gap * n.smoothness / c_step;
  const double kc = std::sqrt(std::pow(alpha, 4) / (X_per_kc2 * (dimension + 1.0)));
  const auto target = circle_for(n, alpha, batch, kc, c_step, k_steps);
  const double variance = sigma * sigma / batch + dimension * target->noise * target->noise;
  return {.gradients = target->steps * batch, .per_variance = target->steps / variance};
}

Finding theorem_1_1() {
  const double in_alpha =
      log_slope(log_grid(1e-2, 1e-1, 5), [](double a) { return oracle_calls(a, 1, 10).gradients; });
  const double in_sigma =
      log_slope(log_grid(0.25, 4, 5), [](double s) { return oracle_calls(0.05, s, 10).gradients; });
  const std::vector<double> dimensions = log_grid(4, 256, 7);
  const double in_d =
      log_slope(dimensions, [](double d) { return oracle_calls(0.05, 1, d).gradients; });
  const double of_full =
      log_slope(dimensions, [](double d) { return oracle_calls(0.05, 1, d).per_variance; });
  const auto near = [](double a, double b) { return std::abs(a - b) <= 0.05; };
  return finding(
      near(in_alpha, -4) && near(in_sigma, 2) && near(in_d, 0),
      fmt::format("exponents {:+.3f} in α, {:+.3f} in σ, {:+.3f} in d; of T over the full variance "
                  "σ²/B + dΔ² {:.3f} in d",
                  in_alpha, in_sigma, in_d, std::abs(of_full)),
      "the calls grow with the dimension, counted in the variance of the data");
}

Finding theorem_3_1() {
  constexpr double premise = 2328.0 * 512 * 512 / (50000.0 * 50000.0);  // T B²/n²
  std::vector<std::string> texts;
  bool holds = true;
  for (const double epsilon : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    const double implied = theorem_3_1_epsilon(1.0, epsilon, Adjacency::add_remove);
    if (epsilon < premise) holds = holds && implied <= epsilon;
    const auto enough = [&](bool fixed_size) {
      const auto cost = [&](double c2) {
        return theorem_3_1_epsilon(c2, epsilon, Adjacency::replace_one, fixed_size);
      };
      return least_constant(cost, epsilon, fixed_size ? 4 : 2);
    };
    texts.push_back(fmt::format(
        "ε = {:g} costs {:.3g}, {:.3g} under replace-one, where c_{{2}} = {:.3g} is enough, {:.3g} "
        "with batches of fixed size",
        epsilon, implied, theorem_3_1_epsilon(1.0, epsilon, Adjacency::replace_one), enough(false),
        enough(true)));
  }
  double full = 0;  // the c₂ that full batches need under add/remove: μ = ε/(c₂ √ln(1/δ))
  for (const double delta : {0.01, 1e-6})
    for (const double epsilon : {0.125, 1.0, 4.0})
      full = std::max(
          full, epsilon / (gaussian_mu_for(epsilon, delta) * std::sqrt(std::log(1.0 / delta))));
  return finding(holds && full <= 1.71,
                 fmt::format("within the premise ε < {:.3g} at c_{{1}} = 1, and beyond it: {}; "
                             "full batches need c_{{2}} = {:.3g} under add/remove",
                             premise, fmt::join(texts, "; "), full),
                 "c_{2} is too little noise");
}

Finding theorem_3_3() {
  const double seen = visible_event_delta(1.0, 0.01, 0.01);
  return finding(seen <= 0.02 + 1e-12,
                 fmt::format("δ = {:.4g} for 0.02 at ε = 1: the event is one of the path, which "
                             "releases may show; {:.4g} for an event that they hide",
                             seen, extremal_delta(1.0, 0.01, 0.01)),
                 "the extremal pair needs more");
}

/// Decrease that the proof's buckets add up to, over f_max.
double bucket_decrease(TheoremConstants constants) {
  constexpr double rho = 1.5, alpha = 0.05, noise = 0.05, delta = 1e-6;
  const Numbers n{.records = 1e7, .dimension = 20, .smoothness = 1, .gap = 1, .deviation = 1};
  const double total_noise = noise * noise * (1.0 + n.dimension);
  const Theorem34 t = theorem_3_4(n, rho, alpha, total_noise, noise, delta, constants);
  return t.steps / t.escape_steps / 24.0 * t.escape_drop / n.gap;
}

/// The same for the best c_R, c_F and c_I. Corollary B.5 needs c_F ≤ c_R²/(2 c c_I), Lemmas B.10
/// and B.11 c_R c_I ≤ 1/(40 c), and Lemma B.8 c_I ≥ 2; c = 1.
double best_bucket_decrease() {
  constexpr double c_I = 2.0, c_R = 1.0 / (40.0 * c_I), c_F = c_R * c_R / (2.0 * c_I);
  return 64.0 * c_F / (24.0 * c_I);  // falls with c_I
}

Finding theorem_3_4_constants() {
  const double printed = bucket_decrease(TheoremConstants::paper), best = best_bucket_decrease();
  return finding(
      std::max(printed, best) >= 1.0,
      fmt::format("{:.3g} f_{{max}} as printed, {:.2g} f_{{max}} with the best constants that the "
                  "lemmas allow, {:.3g} f_{{max}} with k_{{T}} = max(64, 32 c_{{I}}/c_{{F}})",
                  printed, best, bucket_decrease(TheoremConstants::corrected)),
      "k_{T} = 64 is too short");
}

}  // namespace

std::vector<Predicate> avdiukhin_2024_theorem_predicates() {
  return {
      by_formulas("avdiukhin-2024/theorem-1.1-gradients", theorem_1_1),
      by_formulas("avdiukhin-2024/theorem-3.1", theorem_3_1),
      by_formulas("avdiukhin-2024/theorem-3.3", theorem_3_3),
      by_formulas("avdiukhin-2024/theorem-3.4-constants", theorem_3_4_constants),
  };
}

}  // namespace dpsosp
