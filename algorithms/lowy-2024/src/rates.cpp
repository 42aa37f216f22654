// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/rates.hpp"

#include <algorithm>
#include <cmath>

namespace dpsosp::lowy_2024 {

double paper_noise_unit(const Setting& s) {
  return std::sqrt(s.d * std::log(1.0 / s.delta)) / (s.epsilon * s.n);
}

double spider_rate(const Setting& s) {
  const double a = paper_noise_unit(s);
  return std::pow(std::sqrt(s.gap * s.L * s.beta) * a, 2.0 / 3) + s.L * a;
}

double warm_rate(const Setting& s, double psi) {
  const double a = paper_noise_unit(s);
  return s.L * a + std::cbrt(s.L * s.beta * psi) * std::pow(a, 2.0 / 3);
}

double warm_second_order_rate(const Setting& s, double psi, double hessian_lipschitz) {
  // dev: 1/(εn), not 1/n (docs/errata.md, W9)
  return warm_rate(s, psi) + std::pow(s.beta, 7.0 / 6) * std::pow(s.L * psi, 1.0 / 6) *
                                 std::cbrt(paper_noise_unit(s)) /
                                 (s.epsilon * s.n * std::sqrt(hessian_lipschitz));
}

double exponential_rate(const Setting& s, double diameter) {
  const double a = paper_noise_unit(s);
  return s.L * a + std::cbrt(s.L * s.L * s.beta * diameter) * a * std::pow(s.d, 1.0 / 6);
}

double quasar_rate(const Setting& s, double distance, double quasar) {
  const double a = paper_noise_unit(s);
  // dev: q^{−1/3} (docs/errata.md, W12)
  return s.L * a + std::cbrt(s.L * s.L * s.beta * distance / quasar) * a;
}

double kl_rate(const Setting& s, double gamma, double k, double F0) {
  const double a = paper_noise_unit(s);
  return s.L * a + std::pow(a, (k + 2) / 3) *
                       std::cbrt(std::pow(s.L, k + 1) * s.beta * std::pow(gamma, k)) *
                       (1 + std::pow(gamma * std::sqrt(s.beta), k / 3) / std::pow(F0, (2 - k) / 6));
}

double population_rate(const Setting& s, double psi, double hessian_lipschitz) {
  const double first =
      std::cbrt(s.L * s.beta * psi / s.n) +
      std::pow(s.L * std::pow(s.beta * psi, 3), 1.0 / 7) * std::pow(paper_noise_unit(s), 3.0 / 7);
  const double sampling = 1 / (s.epsilon * s.n) + 1 / std::sqrt(s.n);
  return first + s.beta / std::sqrt(hessian_lipschitz) * sampling * std::sqrt(first) +
         s.L * sampling;
}

double population_excess_scale(const Setting& s) {
  return std::min(1.0, s.d / (s.epsilon * s.n) + std::sqrt(s.d / s.n));
}

}  // namespace dpsosp::lowy_2024
