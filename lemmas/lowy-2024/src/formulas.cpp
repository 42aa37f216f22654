// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/jl.hpp"
#include "dpsosp/baselines/dp_spider.hpp"
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/lowy_2024.hpp"
#include "dpsosp/lowy_2024/rates.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"

namespace dpsosp {
namespace {

constexpr double delta = 1e-6;

/// exp(k ln 10) for k in steps of one decade.
std::vector<double> decades(int first, int last) {
  std::vector<double> x;
  for (int k = first; k <= last; ++k) x.push_back(std::pow(10.0, k));
  return x;
}

struct JlBalance {
  std::vector<double> k, value;
};
/// The minimiser over real j > 0 of j^{2/3}/m + j^{−1/2}, m = εn, is (3m/4)^{6/7}; its integer
/// neighbours are compared by the schedule's own solver.
JlBalance jl_balance(const std::vector<double>& eps_n) {
  JlBalance b;
  for (const double m : eps_n) {
    const Index k = jl_free_dimension([m](double j) { return std::pow(j, 2.0 / 3) / m; }, 1.0, 1,
                                      Index{1} << 40);
    const auto j = static_cast<double>(k);
    b.k.push_back(j);
    b.value.push_back(std::pow(j, 2.0 / 3) / m + 1 / std::sqrt(j));
  }
  return b;
}

Finding introduction_glm() {
  const std::vector<double> m = decades(4, 12);
  const double slope = log_slope(m, jl_balance(m).value);
  // exponents of 1/(εn) at r = (εn)^x; the rate is better than the prior one where its is larger
  double margin = 1, printed_at = 0, prior_at = 0, worst = 0;
  for (const double x : {0.5, 0.9, 0.95, 0.99}) {
    const double printed = std::max(1 - 2 * x / 3, 2.0 / 7);
    const double prior = std::max((2 - x) / 3, 2.0 / 5);
    if (printed - prior >= margin) continue;
    margin = printed - prior;
    printed_at = printed;
    prior_at = prior;
    worst = x;
  }
  return {.verdict = holds_if(slope <= -2.0 / 7 + 0.01 && margin >= -rounding),
          .measured = fmt::format("the balance has the exponent {:.4f} over εn = 1e4..1e12, -2/7 = "
                                  "-0.2857; at r = (εn)^{:g} the printed rate has {:.3f} and the "
                                  "prior {:.3f}",
                                  slope, worst, printed_at, prior_at),
          .reason =
              "true as an upper bound; with 2/7 it is not better than the prior for all r < "
              "εn, with the 3/7 of Corollary 8.2 it is",
          .value = slope};
}

double normal_tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

/// Proposition D.1 with its printed T, noise and batch: P − e^ε Q of the event "the output is w₂,
/// its noise along v beyond c σ towards the changed record". A batch holds the record with
/// probability q; then its mean moves by 2L/b or more. c is where the densities' ratio is e^ε.
Finding c6_privacy() {
  struct Setting {
    double epsilon, d, delta, T, C;
  };
  bool kept = true;
  std::vector<std::string> cells;
  double first = 0;
  for (const Setting& s : {Setting{1e-3, 1e3, 1e-10, 4, 1}, Setting{1e-5, 1e3, 1e-13, 4, 10},
                           Setting{1e-7, 1e7, 1e-18, 4, 100}}) {
    const double n = std::ceil(std::sqrt(s.T * s.d * std::log(1 / s.delta)) / s.epsilon);
    const double b = std::max(1.0, std::ceil(s.C * std::sqrt(s.d * s.epsilon) - 1e-9));
    const double sigma = std::sqrt(1000 / s.d);  // over L, with the printed T
    const double q = -std::expm1(b * std::log1p(-1 / n));
    const double mu = 2 / (b * sigma);
    const double c = std::log1p(std::expm1(s.epsilon) / q) / mu + mu / 2;
    const double event =
        (q * normal_tail(c - mu) - (std::expm1(s.epsilon) + q) * normal_tail(c)) / s.T;
    kept = kept && event <= s.delta;
    if (first == 0) first = event / s.delta;
    cells.push_back(
        fmt::format("eps = {:g}, C = {:g}: n = {:.3g}, b = {:g}, beyond {:.2f} sigma "
                    "{:.3g} = {:.3g} delta",
                    s.epsilon, s.C, n, b, c, event, event / s.delta));
  }
  return {.verdict = holds_if(kept),
          .measured = fmt::format("{}", fmt::join(cells, "; ")),
          .reason =
              "the printed noise is sqrt(1000/d) L whatever eps is, so that batches of "
              "C sqrt(d eps) records hide one less and less as eps falls",
          .value = first};
}

Finding c15() {
  const std::vector<double> m = decades(4, 10);
  const JlBalance b = jl_balance(m);
  const double of_k = log_slope(m, b.k), of_value = log_slope(m, b.value);
  return {.verdict = holds_if(
              std::abs(of_k - 6.0 / 7) <= 0.01 && std::abs(of_value + 3.0 / 7) <= 0.01 &&
              std::abs(b.k.front() - 2096) <= 1 && std::abs(b.value.front() - 0.0382206) <= 1e-6),
          .measured = fmt::format("exponents {:.4f} of k and {:.4f} of the value; k = {:.0f}, "
                                  "value {:.7f} at εn = 1e4",
                                  of_k, of_value, b.k.front(), b.value.front()),
          .value = of_value};
}

Finding c3_tail_printed() {
  // Definition 4.1 on the midpoints of `points` cells of [0, D], all records' loss being
  // L(√(w² + s²) − s); L = D = 1. The lemma allows N <= 2εn/d points of radius D d/(εn).
  constexpr int points = 20;
  constexpr double eps_n = 20, s = 1e-3, lambda = eps_n / 4;
  std::vector<double> excess, mass;
  double sum = 0;
  for (int k = 0; k < points; ++k) {
    const double w = (k + 0.5) / points;
    excess.push_back(std::sqrt(w * w + s * s) - s);
    mass.push_back(std::exp(-lambda * excess.back()));
    sum += mass.back();
  }
  double worst = 0, at = 0, bound_at = 0, mass_at = 0;
  for (const double t : {0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0}) {
    const double bound = std::log(2 * eps_n + t) / lambda + 2 / eps_n;
    double above = 0;
    for (std::size_t k = 0; k < points; ++k)
      if (excess[k] > bound) above += mass[k] / sum;
    if (above / std::exp(-t) > worst) {
      worst = above / std::exp(-t);
      at = t;
      bound_at = bound;
      mass_at = above;
    }
  }
  return {.verdict = holds_if(worst <= 1),
          .measured = fmt::format("at t = {:g} the bound is {:.3f} LD; the excess is above it with "
                                  "probability {:.2g}, e^(-t) = {:.2g}",
                                  at, bound_at, mass_at, std::exp(-at)),
          .value = worst};
}

Finding section_6_example() {
  const auto ratio = [](double a) {
    constexpr double k = 2;
    const double gamma2 = 1 / (2 * a);  // β = L = 1, β/μ = 1/a
    // d = 1 and n such that the noise unit is a
    const lowy_2024::Setting s{.n = std::sqrt(std::log(1 / delta)) / a,
                               .d = 1,
                               .epsilon = 1,
                               .delta = delta,
                               .L = 1,
                               .beta = 1,
                               .gap = 1};
    return lowy_2024::kl_rate(s, std::sqrt(gamma2), k, 1) / a - 1;
  };
  const double base = ratio(1e-2);
  double worst = 1;
  for (const double a : {1e-3, 1e-4, 1e-6}) worst = std::max(worst, ratio(a) / base);
  return {
      .verdict = holds_if(worst <= 10),
      .measured = fmt::format(
          "second term over the first: {:.3g} at a = 1e-2, {:.3g} at 1e-6, {:.3g} times as much",
          base, ratio(1e-6), worst),
      .value = worst};
}

Finding corollary_e4() {
  const auto third = [](double u) { return u / std::sqrt(u) * std::pow(u * u, 1.0 / 6) * u; };
  const auto fourth = [](double u) {
    return u / std::sqrt(u) * std::pow(u * u * u * u, 0.25) * std::pow(u, 3.0 / 14);
  };
  return {
      .verdict = holds_if(std::abs(third(10) - 10) <= rounding * 10 &&
                          std::abs(fourth(10) - 10) <= rounding * 10),
      .measured = fmt::format("in a unit ten times smaller the terms grow {:.1f} and {:.1f} times",
                              third(10), fourth(10))};
}

/// SGD with subgradients on f(w, x) = h(|w|) + xw/2, x = ±1 with equal probability, h a staircase
/// whose slope is `low` and 1 in turns: D = 1, L = 3/2, η = D/(L√T). All moves are multiples of
/// η/4, so the law of an iterate is a vector of probabilities.
struct SubgradientDescent {
  double excess;   ///< E F(ŵ) − F*, ŵ uniform among w_1, …, w_T
  double escaped;  ///< probability that left the lattice
};

SubgradientDescent subgradient_descent(int root_of_steps, double low) {
  const int start = 6 * root_of_steps;  // D = 4L√T units of η/4
  const int reach = start + 400, states = 2 * reach + 1;
  const double unit = 1.0 / start;
  std::vector<double> value(static_cast<std::size_t>(states));  // of h
  std::vector<int> descent(value.size());                       // −4 times the subgradient
  const auto at = [&](int k) { return static_cast<std::size_t>(k + reach); };
  for (int k = 1; k <= reach; ++k) {
    const bool flat = (k - 1) / root_of_steps % 2 == 0;
    const double slope = flat ? low : 1.0;
    value[at(k)] = value[at(-k)] = value[at(k - 1)] + slope * unit;
    descent[at(-k)] = static_cast<int>(4 * slope);
    descent[at(k)] = -descent[at(-k)];
  }
  std::vector<double> law(value.size()), next(value.size());
  law[at(start)] = 1;
  SubgradientDescent result{0, 0};
  const int steps = root_of_steps * root_of_steps;
  for (int t = 0; t < steps; ++t) {
    std::ranges::fill(next, 0.0);
    for (int k = 0; k < states; ++k) {
      const auto from = static_cast<std::size_t>(k);
      if (law[from] == 0) continue;
      result.excess += law[from] * value[from] / steps;
      for (const int noise : {-2, 2}) {
        const int to = k + descent[from] + noise;
        if (to < 0 || to >= states)
          result.escaped += law[from] / 2;
        else
          next[static_cast<std::size_t>(to)] += law[from] / 2;
      }
    }
    law.swap(next);
  }
  return result;
}

Finding non_smooth_quasar() {
  constexpr double L = 1.5;
  bool holds = true;
  std::vector<std::string> losses;
  for (const double low : {0.25, 1.0}) {  // q of the loss
    std::vector<double> steps, excess;
    double share = 0, escaped = 0;
    for (const int root : {10, 20, 40, 80}) {
      const SubgradientDescent run = subgradient_descent(root, low);
      steps.push_back(root * root);
      excess.push_back(run.excess);
      share = std::max(share, run.excess * low * root / L);
      escaped = std::max(escaped, run.escaped);
    }
    const double slope = log_slope(steps, excess);
    holds = holds && share <= 1 && escaped < 1e-9 && std::abs(slope + 0.5) <= slope_tolerance;
    losses.push_back(fmt::format("q = {:g}: exponent {:+.3f} in T, at most {:.3f} of LD/(q√T)", low,
                                 slope, share));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(losses, "; "))};
}

Finding c9_privacy() {
  // radial-ripple with p = 4, a = 0.4, b = 6, c = 0.1 (k = 4/3), at n = 1e8: K and the T_j enter.
  constexpr double rho = 1;
  const baselines::KlProblem p{
      .n = 1e8, .d = 16, .L = 0.988, .beta = 3.135, .F0 = 0.05, .gamma = 2.052, .k = 4.0 / 3};
  const baselines::KlNumbers numbers = baselines::kl_numbers(
      p, rho, {.stages = 64, .floor = 32, .log_factor = [](Index) { return 1.0; }});
  const auto K = static_cast<double>(numbers.stages);
  // sensitivity²/(2 std²): anchors 2L/n at L sqrt(K/ρ)/n, all attained by gradients ±L v of the
  // changed record; T − 1 differences, at most root/(2γn) at root sqrt(TK/ρ)/(γn), root = Φ^{1/k}
  const double sensitivity = 2 * p.L / p.n, deviation = p.L * std::sqrt(K / rho) / p.n;
  const double anchors = K * sensitivity * sensitivity / (2 * deviation * deviation);
  double differences = 0, target = p.F0;
  const double e = (2 - p.k) / p.k;
  for (Index j = 1; j <= numbers.stages; ++j) {
    target = std::max(target / numbers.contraction, numbers.target);
    const double T = std::ceil(std::pow(p.F0 / target, e));
    differences += (T - 1) * rho / (8 * T * K);
  }
  return {.verdict = holds_if(anchors <= rho * (1 + rounding)),
          .measured = fmt::format("anchors {:.4f} ρ, attained by one pair; with the differences at "
                                  "most {:.4f} ρ over {} stages at k = 4/3",
                                  anchors, anchors + differences, numbers.stages),
          .value = anchors};
}

}  // namespace

std::vector<Predicate> lowy_2024_formula_predicates() {
  return {
      by_formulas("lowy-2024/introduction-glm", introduction_glm),
      by_formulas("lowy-2024/c3-tail-printed", c3_tail_printed),
      by_formulas("lowy-2024/c6-privacy", c6_privacy),
      by_formulas("lowy-2024/non-smooth-quasar", non_smooth_quasar),
      by_formulas("lowy-2024/c9-privacy", c9_privacy),
      by_formulas("lowy-2024/section-6-example", section_6_example),
      by_formulas("lowy-2024/corollary-e.4", corollary_e4),
      by_formulas("lowy-2024/c15", c15),
  };
}

}  // namespace dpsosp
