// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/calibration.hpp"

#include <utility>

#include "dpsosp/privacy/accounting/composition.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

// The least z that is enough, to relative `width`.
template <class Enough, class Width>
double least_noise(double epsilon, const Enough& enough, const Width& width) {
  expect_positive("smallest_noise_multiplier", "epsilon", epsilon);
  double yes = 1;
  while (!enough(yes)) {
    expect(yes < 1e15, "smallest_noise_multiplier", "epsilon", epsilon,
           "a target that noise up to 1e15 times the sensitivity can meet");
    yes *= 2;
  }
  double no = yes / 2;
  while (enough(no)) {
    expect(no > 1e-9, "smallest_noise_multiplier", "epsilon", epsilon,
           "a target that some noise fails to meet");
    yes = no;
    no /= 2;
  }
  return bisect(no, yes, enough, width(yes));
}

// Digits beyond the width of a numerical bound would only cost time.
double width_of(const Guarantee& g, const AccountOptions& options) {
  return g.lower ? 0.1 * options.tolerance : 1e-14;
}

}  // namespace

double smallest_noise_multiplier(const EventFamily& events, Adjacency adjacency, double epsilon,
                                 double delta, const AccountOptions& options) {
  const auto cost = [&](double z) { return epsilon_of(events(z), adjacency, delta, options); };
  AccountOptions narrowed = options;
  const auto enough = [&](double z) {
    if (options.accountant != Accountant::rdp) return cost(z).epsilon <= epsilon;
    std::vector<double> proving = orders_that_prove(epsilon, events(z), adjacency, delta, narrowed);
    if (proving.empty()) return false;
    narrowed.orders = std::move(proving);  // no other order proves it with the less noise to come
    return true;
  };
  return least_noise(epsilon, enough, [&](double z) { return width_of(cost(z), options); });
}

double smallest_noise_multiplier(const std::function<Composition(double)>& family,
                                 Adjacency adjacency, double epsilon, double delta,
                                 const AccountOptions& options) {
  const Composition any = family(1);
  if (any.laplace.empty()) {
    const double left = delta_left(any, delta, options.accountant);
    return smallest_noise_multiplier(EventFamily([&](double z) { return family(z).events; }),
                                     adjacency, epsilon, left, options);
  }
  const auto cost = [&](double z) { return epsilon_of(family(z), adjacency, delta, options); };
  return least_noise(
      epsilon, [&](double z) { return cost(z).epsilon <= epsilon; },
      [&](double z) { return width_of(cost(z), options); });
}

}  // namespace dpsosp
