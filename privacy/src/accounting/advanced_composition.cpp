// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/advanced_composition.hpp"

#include <cmath>

#include "numeric.hpp"

namespace dpsosp {

double advanced_noise_multiplier(double epsilon, double delta, std::int64_t queries) {
  return advanced_amplified_noise_multiplier(epsilon, delta, queries, 1);
}

double advanced_amplified_noise_multiplier(double epsilon, double delta, std::int64_t queries,
                                           double rate) {
  constexpr std::string_view where = "advanced composition";
  expect_positive(where, "epsilon", epsilon);
  expect_delta(where, delta);
  expect(queries >= 1, where, "queries", static_cast<double>(queries), "at least 1");
  expect(rate > 0 && rate <= 1, where, "rate", rate, "a number in (0, 1]");
  const auto k = static_cast<double>(queries);
  const double linear = std::sqrt(2 * k * std::log(2 / delta));
  const double each =
      bisect(epsilon, 0, [&](double e) { return linear * e + k * e * std::expm1(e) <= epsilon; });
  const double base_epsilon = std::log1p(std::expm1(each) / rate);
  const double base_delta = delta / (2 * k) / rate;
  expect(base_delta < 1, where, "delta / (2 queries rate)", base_delta, "a number below 1");
  return std::sqrt(2 * std::log(1.25 / base_delta)) / base_epsilon;
}

}  // namespace dpsosp
