// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/event.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

// Wide enough for any use, narrow enough that squares and their sums stay finite.
void expect_noise(std::string_view where, double z) {
  expect(z >= 1e-100 && z <= 1e100, where, "noise_multiplier", z, "a number in [1e-100, 1e100]");
}
void expect_cost(std::string_view where, std::string_view name, double cost) {
  expect(cost >= 0 && cost <= 1e100, where, name, cost, "a number in [0, 1e100]");
}

struct Check {
  void operator()(const GaussianEvent& e) const { expect_noise("gaussian", e.noise_multiplier); }
  void operator()(const PoissonGaussianEvent& e) const {
    expect_rate("poisson gaussian", e.rate);
    expect_noise("poisson gaussian", e.noise_multiplier);
  }
  void operator()(const FixedSizeGaussianEvent& e) const {
    expect_rate("fixed-size gaussian", e.rate);
    expect_noise("fixed-size gaussian", e.noise_multiplier);
  }
  void operator()(const LaplaceEvent& e) const { expect_cost("laplace", "epsilon", e.epsilon); }
  void operator()(const PureEvent& e) const { expect_cost("pure", "epsilon", e.epsilon); }
  void operator()(const ExponentialEvent& e) const {
    expect_cost("exponential", "epsilon", e.epsilon);
  }
  void operator()(const ZcdpEvent& e) const { expect_cost("zcdp", "rho", e.rho); }
};

}  // namespace

void check(const Event& event) { std::visit(Check{}, event); }

void check(const CountedEvent& event) {
  check(event.event);
  expect(event.count >= 1, "event", "count", static_cast<double>(event.count), "at least 1");
}

std::int64_t add_counts(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    reject("events", "sum of counts", static_cast<double>(a) + static_cast<double>(b),
           "below 2^63");
  return sum;
}

std::int64_t multiply_counts(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    reject("events", "product of counts", static_cast<double>(a) * static_cast<double>(b),
           "below 2^63");
  return product;
}

}  // namespace dpsosp
