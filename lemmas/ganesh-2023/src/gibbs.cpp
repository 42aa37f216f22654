// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lemmas/ganesh_2023/gibbs.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/ganesh_2023/exponential_sampler.hpp"
#include "dpsosp/lemmas/ganesh_2023.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace ganesh_2023_lemma {

double OneDimension::slope() const {
  double s = 0;
  for (std::size_t k = 1; k < u.size(); ++k)
    s = std::max(s, std::abs((loss[k] - loss[k - 1]) / (u[k] - u[k - 1])));
  return s;
}

double OneDimension::mean(double beta, double mu, double tilt,
                          const std::function<double(std::size_t)>& g) const {
  double total = 0, sum = 0;
  const double least = std::ranges::min(loss);
  for (std::size_t k = 0; k < u.size(); ++k) {
    const double w = std::exp(-beta * (loss[k] - least + tilt * u[k] + 0.5 * mu * u[k] * u[k]));
    total += w;
    sum += w * g(k);
  }
  return sum / total;
}

OneDimension multi_well(std::size_t cells) {
  const Problem problem = find_problem("multi-well")->make({.records = 2, .dimension = 1});
  OneDimension f;
  f.half_width = problem.facts.domain.radius;
  Vector x(1);
  for (std::size_t k = 0; k < cells; ++k) {
    x[0] = f.half_width * ((2.0 * static_cast<double>(k) + 1.0) / static_cast<double>(cells) - 1.0);
    f.u.push_back(x[0]);
    f.loss.push_back(problem.population->value(x));
  }
  return f;
}

double least_of(const Problem& problem) {
  const auto best = std::ranges::find_if(problem.landmarks, [](const Landmark& l) {
    return l.kind == Landmark::Kind::minimiser && l.of == Landmark::Of::population;
  });
  return problem.population->value(best->point);
}

namespace {

double root_log_delta() { return std::sqrt(-std::log(run_delta)); }

}  // namespace

RegularisedMechanism::RegularisedMechanism(Index dimension, double epsilon)
    : d_(static_cast<double>(dimension)),
      epsilon_(epsilon),
      well_(multi_well(20000)),
      least_(least_of(find_problem("multi-well")->make({.records = 2, .dimension = 1}))) {
  const PublicFacts facts =
      find_problem("multi-well")->facts({.records = 100, .dimension = dimension});
  range_ = facts.constants[constant::lipschitz] * facts.domain.diameter(dimension);
  diameter_ = facts.domain.diameter(dimension);
}

double RegularisedMechanism::excess(double log_n) const {
  const double beta = epsilon_ * (log_n + std::log(d_)) / (range_ * root_log_delta());
  const double mu = ganesh_2023::printed_regularizer(beta, d_, diameter_), root = std::sqrt(d_);
  return root * well_.mean(beta / root, mu * root, 0.0,
                           [&](std::size_t k) { return well_.loss[k] - least_; });
}

double RegularisedMechanism::bound(double log_n) const {
  return range_ * d_ * std::log(log_n) * root_log_delta() / (epsilon_ * (log_n + std::log(d_)));
}

double slope_in_logarithm(const RegularisedMechanism& mechanism, double from, double to) {
  return log_slope(log_grid(from, to, 5), [&](double log_n) { return mechanism.excess(log_n); });
}

}  // namespace ganesh_2023_lemma

namespace {

using namespace ganesh_2023_lemma;

constexpr std::array exponents{1.0, 2.0, 5.0, 10.0, 100.0};

/// E F − min F, times β, of F = G|x| on a thin sector of a ball of radius D, in d dimensions, and
/// b = βGD: d P(d + 1, b)/P(d, b), P the regularised incomplete gamma function, by its series.
double sector_excess(double d, double b) {
  const auto series = [&](double s) {
    double term = 1, sum = 1;
    for (double k = 1; term > 1e-17 * sum; ++k) sum += term *= b / (s + k);
    return sum;
  };
  return d * b / (d + 1) * series(d + 1) / series(d);
}

constexpr std::array sector_dimensions{1.0, 2.0, 4.0, 16.0};
constexpr std::array sector_exponents{1.5, 2.0, 2.4, 5.0, 10.0};

Finding gibbs_printed() {
  bool below = true;
  std::vector<std::string> words;
  for (const double d : sector_dimensions) {
    double last = 0;  // the largest βGD/d of these at which the bound fails
    for (const double c : sector_exponents)
      if (sector_excess(d, c * d) > d * std::log(c)) last = c;
    below = below && last == 0;
    const double shown = d == 1 ? 1.5 : 2.0;
    words.push_back(fmt::format("d = {:g}: {:.3f}/beta against {:.3f}/beta at beta G D = {:g}", d,
                                sector_excess(d, shown * d), d * std::log(shown), shown * d));
    if (last > 0) words.back() += fmt::format(", fails up to {:g} d or more", last);
  }
  return {.verdict = holds_if(below),
          .measured = fmt::format("{}", fmt::join(words, "; ")),
          .reason = below ? "" : "an additive (d + 1)/beta is missing"};
}

Finding gibbs_repaired() {
  double largest = 0;
  for (const double b : exponents)
    largest = std::max(largest, (1.0 - b / std::expm1(b)) / (2.0 + std::log(b)));
  for (const double d : sector_dimensions)
    for (const double c : sector_exponents)
      largest = std::max(largest, sector_excess(d, c * d) / (d + 1 + d * std::log(c)));
  const OneDimension f = multi_well(20000);
  const double least = std::ranges::min(f.loss);
  for (const double d : {1.0, 2.0, 3.0})
    for (const double b : exponents)
      for (const bool regularised : {false, true}) {
        // F = (1/sqrt d) Σ φ(x_j): the law factorises, with β/sqrt(d) on each coordinate.
        const double G = f.slope(), D = 2.0 * f.half_width * std::sqrt(d), beta = b / (G * D);
        const double mu = regularised ? d / (D * D * beta) : 0.0;
        const double root = std::sqrt(d);
        const double excess = root * f.mean(beta / root, mu * root, 0.0,
                                            [&](std::size_t k) { return f.loss[k] - least; });
        largest = std::max(largest, excess / ganesh_2023::gibbs_excess(beta, mu, d, G, D));
      }
  return {
      .verdict = holds_if(largest <= 1.0),
      .measured = fmt::format("the excess is at most {:.3f} of the bound over 55 cases", largest),
      .value = largest};
}

Finding gibbs_stability() {
  const OneDimension f = multi_well(2000);
  // Per-record losses are steeper than F by the records' own slope, 1.
  const double D = 2.0 * f.half_width, G = f.slope() + 1.0, beta = 4.0 / (G * D);
  const double mu = 1.0 / (D * D * beta);
  std::vector<double> n, gap;
  bool below = true, sharper = true;
  for (const int m : {30, 100, 300, 1000}) {
    // z̄ = 2k/m − 1 with k binomial: F_P − F_D = −z̄ x.
    double sum = 0;
    for (int k = 0; k <= m; ++k) {
      const double log_mass = std::lgamma(m + 1.0) - std::lgamma(k + 1.0) -
                              std::lgamma(m - k + 1.0) - m * std::log(2.0);
      if (log_mass < -40) continue;
      const double tilt = 2.0 * k / m - 1.0;
      sum -=
          std::exp(log_mass) * tilt * f.mean(beta, mu, tilt, [&](std::size_t i) { return f.u[i]; });
    }
    n.push_back(m);
    gap.push_back(sum);
    below = below && sum <= 2.0 * G * G * std::exp(beta * G * D) / (m * mu);
    sharper = sharper && sum <= 2.0 * beta * G * G * D * D / m;
  }
  const double slope = log_slope(n, gap);
  return {.verdict = holds_if(below && std::abs(slope + 1) <= 0.1),
          .measured = fmt::format("gap {:.3g} at n = 30, {:.3g} at n = 1000, ~ n^{:.4f}; {} below "
                                  "2 beta (G D)^2/n too",
                                  gap.front(), gap.back(), slope, sharper ? "it is" : "it is not"),
          .value = slope};
}

Finding exponential_risk_by_dimension() {
  bool good = true;
  std::vector<std::string> words;
  for (const Index d : {10, 100})
    for (const double epsilon : risk_epsilons) {
      const RegularisedMechanism mechanism(d, epsilon);
      double largest = 0;
      for (double log_n = 1e2; log_n <= 1.1e8; log_n *= 10)
        largest = std::max(largest, mechanism.excess(log_n) / mechanism.bound(log_n));
      const double slope = slope_in_logarithm(mechanism, 1e7, 1e8);
      double needed = 1e8;  // from this ln n on the bound is below G D
      while (mechanism.bound(needed / 1.01) < mechanism.range()) needed /= 1.01;
      good = good && largest <= 1 && std::abs(slope + 1) <= 0.02;
      words.push_back(
          fmt::format("d = {}, eps = {:g}: at most {:.3f} of the bound, which is below G D from "
                      "ln n = {:.0f} on; (ln n)^{:.4f} from ln n = 1e7 on",
                      d, epsilon, largest, needed, slope));
    }
  return {.verdict = holds_if(good), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

}  // namespace

std::vector<Predicate> ganesh_2023_gibbs_predicates() {
  return {
      by_formulas("ganesh-2023/11", gibbs_printed),
      by_formulas("ganesh-2023/11-repaired", gibbs_repaired),
      by_formulas("ganesh-2023/12", gibbs_stability),
      by_formulas("ganesh-2023/13-dimension", exponential_risk_by_dimension),
  };
}

}  // namespace dpsosp
