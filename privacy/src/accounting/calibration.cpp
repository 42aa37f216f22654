// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/calibration.hpp"

#include <utility>

#include "numeric.hpp"

namespace dpsosp {

double smallest_noise_multiplier(const EventFamily& events,
                                 Adjacency adjacency,
                                 double epsilon,
                                 double delta,
                                 const AccountOptions& options) {
  expect_positive("smallest_noise_multiplier", "epsilon", epsilon);
  AccountOptions narrowed = options;
  const auto enough = [&](double z) {
    if (options.accountant != Accountant::rdp)
      return epsilon_of(events(z), adjacency, delta, options).epsilon <= epsilon;
    std::vector<double> proving = orders_that_prove(epsilon, events(z), adjacency, delta, narrowed);
    if (proving.empty()) return false;
    narrowed.orders = std::move(proving);  // no other order proves it with the less noise to come
    return true;
  };
  double yes = 1;
  while (!enough(yes)) {
    expect(yes < 1e15,
           "smallest_noise_multiplier",
           "epsilon",
           epsilon,
           "a target that noise up to 1e15 times the sensitivity can meet");
    yes *= 2;
  }
  double no = yes / 2;
  while (enough(no)) {
    expect(no > 1e-9,
           "smallest_noise_multiplier",
           "epsilon",
           epsilon,
           "a target that some noise fails to meet");
    yes = no;
    no /= 2;
  }
  // Digits beyond the width of a numerical bound would only cost time.
  const bool numerical = epsilon_of(events(yes), adjacency, delta, options).lower.has_value();
  return bisect(no, yes, enough, numerical ? 0.1 * options.tolerance : 1e-14);
}

}  // namespace dpsosp
