// SPDX-License-Identifier: Apache-2.0
#include "risk_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/ganesh_2023.hpp"

// Bumps: a maximal set of points of the unit ball at distances of 2r or more has K ≥ (2r)^{−d}
// points c_j. A record is 0, or signs s ∈ {−1, 1}^K with f(x; s) = −Σ_j s_j max(0, r − ‖x − c_j‖),
// which is 1-Lipschitz. Let it be signs of means p_j with probability m/n. With u_j = max(0, 1 −
// ‖x − c_j‖/r), of which at most one is not 0, the excess is (m/n) r (max_j p_j⁺ − ⟨u, p⟩).
//
// Tracing: let the p_j have density in proportion to (1 − p²)^{β−1}. As ∂E g/∂p_j = E[g Σ_i (s_ij −
// p_j)]/(1 − p_j²), by parts Σ_i E⟨u, s_i − p⟩ = 2β E⟨u, p⟩. With record i drawn anew ⟨u′, s_i − p⟩
// has mean 0 and mean size at most Σ_j u′_j (1 − p_j²) ≤ 1, and |⟨u, s_i − p⟩| ≤ 2; so by privacy
// E⟨u, p⟩ ≤ m (sinh ε + 4δ)/(2β), and sup E excess ≥ (m r/n) (E max_j p_j − that).
//
// Two points: f(x; z) = −z⟨e, x⟩, z = ±1 with probability m/n; the data sets differ in a binomial
// number of records of mean m, and by convexity of 1/(e^x + 1) the outputs' laws overlap by
// 2/(e^{mε} + 1) − 2δ/(e^ε − 1) or more. Without privacy: signs of mean h at one of the K points,
// by Fano's inequality, and two signs of mean ±h.

namespace dpsosp {
namespace ganesh_2023 {
namespace {

/// Radii of the bumps; a maximal set of points of the unit ball at distances of 2r has (2r)^{−d}
/// points or more.
std::vector<double> radii() {
  std::vector<double> all;
  for (int k = 4; k < 19; ++k) all.push_back(0.025 * k);
  return all;
}

/// At most E max of K independent p with density in proportion to (1 − p²)^{β−1} on [−1, 1]: a p
/// exceeds t with probability (1 − t²)^β Γ(β + 1/2)/(2β √π Γ(β)) or more.
double expected_maximum(double log_points, double prior) {
  const double log_tail = std::lgamma(prior + 0.5) - std::lgamma(prior) - std::log(2 * prior) -
                          0.5 * std::log(std::numbers::pi);
  double best = 0;
  for (int k = 2; k < 50; ++k) {
    const double t = 0.02 * k;
    const double log_many = log_points + log_tail + prior * std::log1p(-t * t);
    const double none = std::exp(-std::exp(std::min(log_many, 6.0)));
    best = std::max(best, t * (1 - none) - none);
  }
  return best;
}

}  // namespace

double traced_mean(double traced, double prior, double epsilon, double delta) {
  return traced * (std::sinh(epsilon) + 4 * delta) / (2 * prior);
}

double traced_risk(double records, double dimension, double epsilon, double delta) {
  double best = 0;
  for (const double r : radii()) {
    const double log_points = -dimension * std::log(2 * r);
    for (const double share : {0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0}) {
      const double prior = share * log_points;
      const double maximum = expected_maximum(log_points, prior);
      if (maximum <= 0) continue;
      // m (maximum − m cost/(2 prior)) is largest at this m.
      const double traced = std::min(records, prior * maximum / (std::sinh(epsilon) + 4 * delta));
      best = std::max(
          best, traced * r / records * (maximum - traced_mean(traced, prior, epsilon, delta)));
    }
  }
  return best;
}

double two_point_risk(double records, double epsilon, double delta) {
  // m/(e^{mε} + 1) is largest at m ε = 1.278.
  const double moved = std::min(records, 1.278 / epsilon);
  const double overlap = 2 / (std::exp(moved * epsilon) + 1) - 2 * delta / std::expm1(epsilon);
  return std::max(0.0, moved / records * overlap);
}

double statistical_risk(double records, double dimension) {
  const double half = 0.5 / std::sqrt(records);
  double best = half * (1 - std::sqrt(records * half * std::log((1 + half) / (1 - half)) / 2));
  for (const double r : radii()) {
    const double log_points = -dimension * std::log(2 * r);
    for (const double share : {0.5, 0.7, 0.8, 0.9, 1.0}) {
      const double h = share * std::sqrt(log_points / records);
      if (h >= 1) continue;
      const double divergence = ((1 + h) * std::log1p(h) + (1 - h) * std::log1p(-h)) / 2;
      best = std::max(best, h * r * (1 - (records * divergence + std::numbers::ln2) / log_points));
    }
  }
  return best;
}

}  // namespace ganesh_2023

namespace {

Finding risk_lower_bound() {
  double least = 1e300, least_private = 1e300, least_statistical = 1e300;
  for (double n = 1e3; n <= 1.1e9; n *= 10)
    for (const double d : {1.0, 3.0, 10.0, 30.0, 100.0, 1000.0, 10000.0})
      for (const double epsilon : {0.01, 0.1, 1.0}) {
        const double sampled = std::sqrt(d / n), noised = d / (n * epsilon);
        if (sampled + noised > 0.1) continue;
        const double failure = 1 / (n * n);
        const double of_noise = std::max(ganesh_2023::traced_risk(n, d, epsilon, failure),
                                         ganesh_2023::two_point_risk(n, epsilon, failure));
        const double of_sampling = ganesh_2023::statistical_risk(n, d);
        least = std::min(least, std::max(of_noise, of_sampling) / (sampled + noised));
        least_private = std::min(least_private, of_noise / noised);
        least_statistical = std::min(least_statistical, of_sampling / sampled);
      }
  return {.verdict = holds_if(least >= 0.04),
          .measured = fmt::format("at least {:.3f} (d/(n eps) + sqrt(d/n)) for n = 1e3 to 1e9, d = "
                                  "1 to 1e4, eps = 0.01 to 1; the private part at least {:.3f} "
                                  "d/(n eps), the statistical one {:.3f} sqrt(d/n)",
                                  least, least_private, least_statistical),
          .value = least};
}

Finding printed_risk_lower_bound() {
  // d = ε = 1, GD = 2, δ = exp(−n^0.9), constants 1.
  const auto lower = [](double n) { return std::pow(n, 0.9) / n; };
  const auto upper = [](double n) { return 2 * (std::log(n) / n + std::sqrt(std::log(n) / n)); };
  std::vector<double> n, ratio;
  for (double x = 1e4; x <= 1.1e16; x *= 10) {
    n.push_back(x);
    ratio.push_back(lower(x) / upper(x));
  }
  const double slope = log_slope(n, ratio);
  return {.verdict = holds_if(slope <= 0.02),
          .measured = fmt::format("lower bound over upper bound {:.3g} at n = 1e6, {:.3g} at 1e16, "
                                  "~ n^{:.3f}",
                                  lower(1e6) / upper(1e6), ratio.back(), slope),
          .reason = slope <= 0.02 ? "" : "an eps-DP algorithm is (eps, delta)-DP for every delta",
          .value = slope};
}

}  // namespace

std::vector<Predicate> ganesh_2023_bound_predicates() {
  return {
      by_formulas("ganesh-2023/lower-bound-risk", risk_lower_bound),
      by_formulas("ganesh-2023/lower-bound-risk-printed", printed_risk_lower_bound),
  };
}

}  // namespace dpsosp
