// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/composition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/pld.hpp"

#include "numeric.hpp"
#include "privacy_loss.hpp"

namespace dpsosp {
namespace {

constexpr double kLeastLogDelta = -690;  // about 1e-300

// ε falls in δ for every accountant here, so the least δ is found by bisection in its logarithm.
DeltaGuarantee by_bisection(std::span<const CountedEvent> events, Adjacency adjacency,
                            double epsilon, const AccountOptions& options) {
  const auto at = [&](double log_delta) {
    return epsilon_of(events, adjacency, std::exp(log_delta), options);
  };
  const auto met = [&](double log_delta) { return at(log_delta).epsilon <= epsilon; };
  constexpr double most = -1e-15;
  const Guarantee loosest = at(most);
  if (loosest.epsilon > epsilon) return {1, loosest.accountant, loosest.order};
  const double least = met(kLeastLogDelta) ? kLeastLogDelta : bisect(kLeastLogDelta, most, met);
  const Guarantee g = at(least);
  return {std::exp(least), g.accountant, g.order};
}

DeltaGuarantee by_pld(const Composition& c, Adjacency adjacency, double epsilon,
                      const AccountOptions& options) {
  const DeltaBounds b = pld_delta(c, adjacency, epsilon, options.tolerance);
  return {b.delta, "pld", {}, b.lower};
}

// of the composition without its coins
DeltaGuarantee delta_intact(const Composition& c, Adjacency adjacency, double epsilon,
                            const AccountOptions& options) {
  const std::vector<CountedEvent> events = with_pure_laplace(c, adjacency);
  const Accountant accountant = options.accountant;
  const auto total = pure_total(events);
  const bool asks_all = accountant == Accountant::tightest || accountant == Accountant::best_of;
  if ((asks_all || accountant == Accountant::pure) && total && is_at_most(*total, epsilon))
    return {0, "pure", {}, 0};
  if (accountant == Accountant::pure)
    throw UnsupportedError(
        total ? fmt::format("accountant pure: delta is 0 from epsilon = {:g} on, and below it is "
                            "not pure DP; use pld",
                            *total)
              : "accountant pure: needs events that are pure DP; use pld");
  const auto mu = gaussian_mu(events);
  if (mu && (asks_all || accountant == Accountant::analytic))
    return {gaussian_delta(epsilon, *mu), "analytic", {}};
  if (accountant == Accountant::pld) return by_pld(c, adjacency, epsilon, options);
  if (accountant != Accountant::tightest) return by_bisection(events, adjacency, epsilon, options);
  AccountOptions closed_forms = options;
  closed_forms.accountant = Accountant::best_of;
  DeltaGuarantee best = by_bisection(events, adjacency, epsilon, closed_forms);
  try {
    const DeltaGuarantee loss = by_pld(c, adjacency, epsilon, options);
    if (loss.delta <= best.delta) best = loss;
  } catch (const UnsupportedError&) {  // the closed form stands
  }
  return best;
}

}  // namespace

void Composition::append(const Composition& more) {
  events.insert(events.end(), more.events.begin(), more.events.end());
  laplace.insert(laplace.end(), more.laplace.begin(), more.laplace.end());
  log_intact += more.log_intact;
}

Composition approximate_releases(double epsilon, double delta, std::int64_t count) {
  expect(delta >= 0 && delta < 1, "approximate", "delta", delta, "a number in [0, 1)");
  Composition all{.log_intact = static_cast<double>(count) * std::log1p(-delta)};
  if (epsilon != 0) all.events = {{PureEvent{epsilon}, count}};
  return all;
}

std::optional<double> pure_total(std::span<const CountedEvent> events) {
  double sum = 0;
  for (const CountedEvent& e : events) {
    const auto one = pure_epsilon(e.event);
    if (!one) return {};
    sum += static_cast<double>(e.count) * *one;
  }
  return sum;
}

double delta_of_coins(const Composition& c) { return 0.0 - std::expm1(c.log_intact); }

double delta_left(const Composition& c, double delta, Accountant accountant) {
  const double f = delta_of_coins(c);
  const bool pure = accountant == Accountant::pure;
  if (f == 0) return pure ? 0 : delta;
  const double rounding = 8 * std::numeric_limits<double>::epsilon();
  const double left = (delta * (1 - rounding) - f) / (1 - f);
  if (!(left > 0 || (pure && delta >= f)))
    throw InputError(
        fmt::format("account: delta = {:g}, expected {} {:g}, which the deltas of releases come to",
                    delta, pure ? "at least" : "more than", f));
  return pure ? 0 : left;
}

std::vector<CountedEvent> with_pure_laplace(const Composition& c, Adjacency adjacency) {
  std::vector<CountedEvent> events = c.events;
  for (const CountedLaplace& laplace : c.laplace) {
    const SampledLaplaceEvent& e = laplace.event;
    expect_rate("sampled laplace", e.rate);
    check(LaplaceEvent{1 / e.noise_multiplier});
    if (e.sample == SampledLaplaceEvent::Sample::fixed_size && adjacency != Adjacency::replace_one)
      throw UnsupportedError(
          "sampled laplace: a fixed-size sample is accounted under replace_one only");
    events.push_back({PureEvent{largest_loss(e, adjacency)}, laplace.count});
  }
  return events;
}

Guarantee epsilon_of(const Composition& c, Adjacency adjacency, double delta,
                     const AccountOptions& options) {
  const std::vector<CountedEvent> events = with_pure_laplace(c, adjacency);
  if (options.accountant != Accountant::pure || delta != 0) expect_delta("epsilon_of", delta);
  const double left = delta_left(c, delta, options.accountant);
  const bool asks_pld =
      options.accountant == Accountant::pld || options.accountant == Accountant::tightest;
  if (c.laplace.empty() || !asks_pld) return epsilon_of(events, adjacency, left, options);
  const auto by_losses = [&]() -> Guarantee {
    const LossBounds b = pld_epsilon(c, adjacency, left, options.tolerance);
    return {b.epsilon, "pld", {}, b.lower};
  };
  if (options.accountant == Accountant::pld) return by_losses();
  AccountOptions closed_forms = options;
  closed_forms.accountant = Accountant::best_of;
  const Guarantee best = epsilon_of(events, adjacency, left, closed_forms);
  try {
    const Guarantee loss = by_losses();
    return loss.epsilon <= best.epsilon ? loss : best;
  } catch (const UnsupportedError&) {
    return best;
  }
}

DeltaGuarantee delta_of(const Composition& c, Adjacency adjacency, double epsilon,
                        const AccountOptions& options) {
  expect_nonnegative("delta_of", "epsilon", epsilon);
  for (const CountedEvent& e : c.events) check(e);
  DeltaGuarantee g = delta_intact(c, adjacency, epsilon, options);
  const double f = delta_of_coins(c);
  if (f == 0) return g;
  const double rounding = 1 + 8 * std::numeric_limits<double>::epsilon();
  g.delta = std::min((f + (1 - f) * g.delta) * rounding, 1.0);
  if (g.lower) g.lower = (f + (1 - f) * *g.lower) / rounding;
  return g;
}

}  // namespace dpsosp
