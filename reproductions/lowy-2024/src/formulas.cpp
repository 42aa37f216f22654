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
#include "dpsosp/lowy_2024/rates.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"
#include "parts.hpp"

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
    const Index k = jl_free_dimension(
        [m](double j) { return std::pow(j, 2.0 / 3) / m; }, 1.0, 1, Index{1} << 40);
    const auto j = static_cast<double>(k);
    b.k.push_back(j);
    b.value.push_back(std::pow(j, 2.0 / 3) / m + 1 / std::sqrt(j));
  }
  return b;
}

Finding introduction_glm() {
  const std::vector<double> m = decades(4, 12);
  const double slope = log_slope(m, jl_balance(m).value);
  return {
      .verdict = holds_if(slope <= -2.0 / 7 + 0.01),
      .measured = fmt::format("exponent {:.4f} over εn = 1e4..1e12; -2/7 = -0.2857", slope),
      .reason = "the balance is at -3/7, as Corollary 8.2 has it: the introduction promises less",
      .value = slope};
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
                                  of_k,
                                  of_value,
                                  b.k.front(),
                                  b.value.front()),
          .value = of_value};
}

Finding c1_period() {
  constexpr double n = 1e4, d = 10, epsilon = 1;
  const baselines::DpSpiderPaper p = baselines::dp_spider_paper(n, d, 1, 1, 1, {epsilon, delta});
  const double rho = rho_for(epsilon, delta, Conversion::bs);
  const double unit2 = 2 * d / rho / (n * n);
  const double allowed = 1 / (unit2 * std::floor(p.steps));
  return {.verdict = holds_if(p.period > allowed),
          .measured = fmt::format("q = {:.1f}, allowed {:.1f}: {:.2f} times too long",
                                  p.period,
                                  allowed,
                                  p.period / allowed),
          .value = p.period / allowed};
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
                                  at,
                                  bound_at,
                                  mass_at,
                                  std::exp(-at)),
          .value = worst};
}

/// sqrt(2βψ) with the ψ of Lemma 6.2, logarithms dropped; L = β = γ = F₀ = 1.
Finding c18() {
  const std::vector<double> n = decades(5, 9);
  const auto slope = [&](double k) {
    std::vector<double> gradients;
    for (const double records : n)
      gradients.push_back(
          std::sqrt(2 * std::pow(std::sqrt(std::log(1 / delta)) / records * std::sqrt(2), k)));
    return log_slope(n, gradients);
  };
  const double smooth = slope(2), rough = slope(4.0 / 3);
  return {
      .verdict = holds_if(rough > -1 + slope_tolerance && std::abs(smooth + 1) <= 0.01),
      .measured = fmt::format("sqrt(2 beta psi) falls as n^{:+.3f} at k = 4/3 and n^{:+.3f} at k = "
                              "2, L a as n^-1",
                              rough,
                              smooth),
      .reason = "true of the class; at k = 2 the second stage gains in the condition number",
      .value = rough};
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
          base,
          ratio(1e-6),
          worst),
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
                              third(10),
                              fourth(10))};
}

Finding c9_privacy() {
  // radial-ripple with p = 4, a = 0.4, b = 6, c = 0.1 (k = 4/3), at n = 1e8: K and the T_j enter.
  constexpr double rho = 1;
  const baselines::KlProblem p{
      .n = 1e8, .d = 16, .L = 0.988, .beta = 3.135, .F0 = 0.05, .gamma = 2.052, .k = 4.0 / 3};
  const baselines::KlNumbers numbers = baselines::kl_numbers(
      p, rho, {.stages = 64, .floor = 32, .log_factor = [](Index) { return 1.0; }});
  const auto K = static_cast<double>(numbers.stages);
  double cost = 0, target = p.F0;
  const double e = (2 - p.k) / p.k;
  for (Index j = 1; j <= numbers.stages; ++j) {
    target = std::max(target / numbers.contraction, numbers.target);
    const double T = std::ceil(std::pow(p.F0 / target, e));
    // sensitivity²/(2 std²): anchors 2L/n at L sqrt(K/ρ)/n; T − 1 differences, root/(2γn) at
    // root sqrt(TK/ρ)/(γn), root = Φ^{1/k}
    cost += 2 * rho / K + (T - 1) * rho / (8 * T * K);
  }
  return {.verdict = holds_if(cost <= rho * (1 + rounding)),
          .measured =
              fmt::format("{:.4f} ρ over {} stages at k = 4/3; the limit of long stages is 17/8",
                          cost,
                          numbers.stages),
          .value = cost};
}

}  // namespace

std::vector<Predicate> lowy_2024_formula_predicates() {
  return {
      by_formulas("lowy-2024/introduction-glm", introduction_glm),
      by_formulas("lowy-2024/c1-period", c1_period),
      by_formulas("lowy-2024/c3-tail-printed", c3_tail_printed),
      by_formulas("lowy-2024/c9-privacy", c9_privacy),
      by_formulas("lowy-2024/section-6-example", section_6_example),
      by_formulas("lowy-2024/corollary-e.4", corollary_e4),
      by_formulas("lowy-2024/c15", c15),
      by_formulas("lowy-2024/c18", c18),
  };
}

}  // namespace dpsosp
