// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/event.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

struct Check {
  void operator()(const GaussianEvent& e) const {
    expect_positive("gaussian", "noise_multiplier", e.noise_multiplier);
  }
  void operator()(const PoissonGaussianEvent& e) const {
    expect_rate("poisson gaussian", e.rate);
    expect_positive("poisson gaussian", "noise_multiplier", e.noise_multiplier);
  }
  void operator()(const FixedSizeGaussianEvent& e) const {
    expect_rate("fixed-size gaussian", e.rate);
    expect_positive("fixed-size gaussian", "noise_multiplier", e.noise_multiplier);
  }
  void operator()(const LaplaceEvent& e) const {
    expect_nonnegative("laplace", "epsilon", e.epsilon);
  }
  void operator()(const PureEvent& e) const { expect_nonnegative("pure", "epsilon", e.epsilon); }
  void operator()(const ExponentialEvent& e) const {
    expect_nonnegative("exponential", "epsilon", e.epsilon);
  }
  void operator()(const ZcdpEvent& e) const { expect_nonnegative("zcdp", "rho", e.rho); }
};

}  // namespace

std::string_view name_of(Adjacency adjacency) {
  switch (adjacency) {
    case Adjacency::replace_one:
      return "replace_one";
    case Adjacency::add_remove:
      return "add_remove";
    case Adjacency::zero_out:
      return "zero_out";
  }
  return {};
}

void check(const Event& event) { std::visit(Check{}, event); }

void check(const CountedEvent& event) {
  check(event.event);
  expect(event.count >= 1, "event", "count", static_cast<double>(event.count), "at least 1");
}

}  // namespace dpsosp
