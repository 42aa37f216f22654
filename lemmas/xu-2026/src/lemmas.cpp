// SPDX-License-Identifier: Apache-2.0
#include "lemmas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/lemmas/xu_2026.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp {
namespace {

/// Pr[|e_1 + … + e_m| = |m − 2k|] for fair signs and each k ≤ m, by |m − 2k|.
std::vector<std::pair<double, double>> sign_sums(int m) {
  std::vector<std::pair<double, double>> law;
  for (int k = 0; k <= m; ++k)
    law.emplace_back(std::abs(m - 2.0 * k), std::exp(std::lgamma(m + 1.0) - std::lgamma(k + 1.0) -
                                                     std::lgamma(m - k + 1.0) - m * std::log(2.0)));
  return law;
}

/// A symmetric matrix of a random basis with eigenvalues in [least, most], both ends among them.
Matrix random_spectrum(Index size, double least, double most, Stream& stream) {
  Matrix square(size, size);
  stream.fill_normal(1.0, square.reshaped());
  const SymmetricEigen basis = symmetric_eigen(square + square.transpose());
  Vector values(size);
  for (double& value : values) value = least + (most - least) * stream.uniform();
  values[0] = least;
  if (size > 1) values[size - 1] = most;
  return basis.vectors * values.asDiagonal() * basis.vectors.transpose();
}

/// The maximiser over Y of −yᵀHy/2 + c·y, by projected ascent at 1/L until it stays.
Vector maximiser(const Matrix& h, const Vector& c, double largest, const Domain& domain) {
  Vector y = Vector::Zero(c.size());
  domain.project(y);
  for (int k = 0; k < 100000; ++k) {
    Vector next = y + (c - h * y) / largest;
    domain.project(next);
    const double moved = (next - y).norm();
    y = next;
    if (moved < 1e-15) break;
  }
  return y;
}

}  // namespace

double sign_sum_failure(int m) {
  double probability = 0;
  for (const auto& [sum, p] : sign_sums(m))
    if (sum * sum > m) probability += p;
  return probability;
}

double sign_sum_factor(int m, double failure) {
  auto law = sign_sums(m);
  std::ranges::sort(law, std::greater{});
  double above = 0;
  for (const auto& [sum, p] : law) {
    if (above + p > failure) return sum * sum / m;
    above += p;
  }
  return 0;
}

double slope_over_lemma_4(double smoothness, double steps, double period) {
  const double eta = 1 / (2 * smoothness);
  constexpr double gap = 1;  // half of it is left after the steps, for the end of the slope
  return std::sqrt(gap / (2 * steps * eta)) / std::sqrt(gap / (period * steps));
}

double saddle_over_lemma_4(double kappa, int steps) {
  const double b = std::sqrt(kappa * (kappa - 1));  // the Hessian of F has the norm κ at μ = 1
  const double eta = 1 / (2 * kappa), gap = 0.5 * b * b;
  double x = 1, y = 0, mean = 0;
  for (int t = 1; t <= steps; ++t) {
    const double in_x = b * y, in_y = b * x - y;
    x -= eta * in_x;
    y += eta * in_y;
    mean += hypotenuse(b * y, b * x - y) / steps;
  }
  return mean / std::sqrt(gap / (steps * eta));
}

double lemma_7_reach(double curvature, double hessian_lipschitz) {
  double farthest = 0;
  for (const double step : log_grid(1e-6, 1, 61)) {
    const double most = step * curvature / hessian_lipschitz;  // of r
    for (const double share : log_grid(1e-6, 1, 241)) {
      const double r0 = share * most;
      const double steps = 2 * std::log(most / r0) / step;
      farthest = std::max(farthest, (most + 0.5 * steps * r0) * 2 * step);
    }
  }
  return farthest;
}

double cocoercivity_slack(int trials, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::test});
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < trials; ++k) {
    const double mu = std::exp(stream.normal()), L = mu * (1 + std::exp(2 * stream.normal()));
    const Matrix h = random_spectrum(1 + k % 5, mu, L, stream);
    Vector s(h.rows());
    stream.fill_normal(1.0, s);
    if (k % 2 == 0 && s.size() > 1) {  // along the ends of the spectrum, where it is tight
      const SymmetricEigen eigen = symmetric_eigen(h);
      s = eigen.vectors.col(0) + stream.normal() * eigen.vectors.col(s.size() - 1);
    }
    const Vector moved = h * s;
    const double right = mu * L / (mu + L) * s.squaredNorm() + moved.squaredNorm() / (mu + L);
    least = std::min(least, (moved.dot(s) - right) / (L * s.squaredNorm()));
  }
  return least;
}

double mapping_ratio(double share, int trials, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::test});
  const std::array domains{Domain::simplex(), Domain::ball(1), Domain::box(0.7), Domain{}};
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < trials; ++k) {
    const double mu = 0.5, L = mu * (1 + 9 * stream.uniform());
    const auto size = static_cast<Index>(1 + k % 4);
    const Matrix h = random_spectrum(size, mu, L, stream);
    const Domain& domain = domains[static_cast<std::size_t>(k / 4) % domains.size()];
    if (domain.kind == Domain::Kind::simplex && size == 1) continue;  // a single point
    Vector c(size), y(size);
    stream.fill_normal(2.0, c);
    stream.fill_normal(1.0, y);
    domain.project(y);
    const Vector best = maximiser(h, c, L, domain);
    const double distance = (y - best).norm(), lambda = share / L;
    if (distance < 1e-6) continue;
    Vector next = y + lambda * (c - h * y);
    domain.project(next);
    least = std::min(least, (y - next).norm() / lambda / (0.5 * mu * distance));
  }
  return least;
}

namespace {

Finding lemma_1() {
  constexpr double failure = 0.01;
  bool holds = true;
  double worst = 0, factor = 0;
  int at = 0;
  for (int m = 2; m <= 65; ++m) {  // the refresh and up to 64 increments
    const double missed = sign_sum_failure(m);
    holds = holds && missed <= m * failure;
    factor = std::max(factor, sign_sum_factor(m, failure));
    if (missed > worst) {
      worst = missed;
      at = m;
    }
  }
  return finding(
      holds,
      fmt::format(
          "errors of a fixed length with a fair sign, which meet the hypotheses surely: the "
          "bound is missed with probability {:.3g} at {} terms and {:.3g} at 65, for δ₁ = "
          "{:g}; a factor of {:.3g} is enough up to 65 terms, 2 ln(2/δ₁) = {:.3g} always. "
          "Gaussian errors meet it with probability 1 − δ₁",
          worst, at, sign_sum_failure(65), failure, factor, 2 * std::log(2 / failure)),
      "a logarithm is missing: the square of a sum is not the sum of squares with that "
      "probability");
}

Finding lemma_4() {
  constexpr double allowed = 100, steps = 1000;
  std::vector<std::string> stated, proved;
  bool stated_holds = true, proof_holds = true;
  for (const double L : {1.0, 1e2, 1e4, 1e6}) {
    const double ratio = slope_over_lemma_4(L, steps, 1);
    stated_holds = stated_holds && ratio <= allowed;
    stated.push_back(fmt::format("{:.3g}", ratio));
  }
  for (const double kappa : {2.0, 3.0, 5.0, 10.0}) {
    const double ratio = saddle_over_lemma_4(kappa, steps);
    proof_holds = proof_holds && ratio <= allowed;
    proved.push_back(fmt::format("{:.2g}", ratio));
  }
  return finding(
      stated_holds || proof_holds,
      fmt::format("the gradient over the stated bound on a slope is {} at L = 1, 1e2, "
                  "1e4, 1e6, q = 1; over the proof's, by descent ascent on a bilinear "
                  "saddle, {} at κ = 2, 3, 5, 10 after {:g} steps",
                  fmt::join(stated, ", "), fmt::join(proved, ", "), steps),
      "the statement has q where its proof has η, and the proof descends where y ascends");
}

/// Lemma 7 with α = ē^{2/3} and Lemma 10 with α = ē^{1/2}.
Finding lemma_7() {
  bool possible = true;
  std::vector<std::string> words;
  for (const auto& [name, exponent] :
       {std::pair{"Lemma 7", 2.0 / 3.0}, std::pair{"Lemma 10", 0.5}}) {
    std::vector<std::string> reached;
    for (const double ebar : {1e-4, 1e-6, 1e-8}) {
      const double reach = lemma_7_reach(std::pow(ebar, exponent / 2), 1);
      possible = possible && reach >= 1;
      reached.push_back(fmt::format("{:.2g}", reach));
    }
    words.push_back(
        fmt::format("{} R at ē = 1e-4, 1e-6, 1e-8 ({})", fmt::join(reached, ", "), name));
  }
  return finding(
      possible,
      fmt::format("L_Φ = ρ_Φ = 1: within t_thres steps of at most r₀/2 a sequence gets at "
                  "most {} from the anchor, over all η_H ≤ 1/L_Φ and r₀ ≤ r that are "
                  "allowed",
                  fmt::join(words, ", ")),
      "t_thres lacks 1/α_H, and R does not shrink with α (errata X15, X16)");
}

Finding lemma_12() {
  constexpr int trials = 4000;
  const double least = mapping_ratio(1.0 / 6, trials, 1);
  return finding(
      least >= 1,
      fmt::format("|G_λ| is at least {:.3g} times (μ/2)|y − y*| at λ = 1/(6L) in {} trials "
                  "on simplex, ball, box and the whole space; {:.3g} times at λ = 1/L, "
                  "{:.2g} times at λ = 100/L, which the lemma does not exclude",
                  least, trials, mapping_ratio(1, trials, 1), mapping_ratio(100, trials, 1)),
      "a counter-example");
}

}  // namespace

std::vector<Predicate> xu_2026_lemma_predicates() {
  return {by_formulas("xu-2026/lemma-1", lemma_1), by_formulas("xu-2026/lemma-4", lemma_4),
          by_formulas("xu-2026/lemma-7", lemma_7), by_formulas("xu-2026/lemma-12", lemma_12)};
}

}  // namespace dpsosp
