// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/accountant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/pld.hpp"

#include "numeric.hpp"

// Ledgers, filters and schedules ask best_of, whose closed forms take microseconds; `account` asks
// tightest. zCDP events have no loss distribution: ρ fixes no law of the loss, and its envelope
// composes to more than the sum of ρ. The pairs of the exponential mechanism and of fixed-size
// samples are envelopes too, so from some dozens of releases on a Rényi bound can be smaller.

namespace dpsosp {
namespace {

// ε + e^{−ε} − 1; the series is exact to rounding where the difference would cancel
double laplace_rho(double x) {
  if (x < 0.01)
    return x * x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7)))));
  return x + std::expm1(-x);
}

struct Zcdp {
  using Answer = std::optional<double>;
  Answer operator()(const GaussianEvent& e) const {
    return 1 / (2 * e.noise_multiplier * e.noise_multiplier);
  }
  Answer operator()(const PoissonGaussianEvent&) const { return {}; }
  Answer operator()(const FixedSizeGaussianEvent&) const { return {}; }
  Answer operator()(const LaplaceEvent& e) const { return laplace_rho(e.epsilon); }
  Answer operator()(const PureEvent& e) const { return e.epsilon * e.epsilon / 2; }
  Answer operator()(const ExponentialEvent& e) const { return e.epsilon * e.epsilon / 8; }
  Answer operator()(const ZcdpEvent& e) const { return e.rho; }
};

// Σ count·cost(event); none if one event has no cost
template <class Cost>
std::optional<double> total(std::span<const CountedEvent> events, const Cost& cost) {
  double sum = 0;
  for (const CountedEvent& e : events) {
    const std::optional<double> one = cost(e.event);
    if (!one) return {};
    sum += static_cast<double>(e.count) * *one;
  }
  return sum;
}

[[noreturn]] void refuse(Accountant accountant, std::string_view why) {
  throw UnsupportedError(fmt::format("accountant {}: {}", name_of(accountant), why));
}

std::vector<double> composed_curve(std::span<const CountedEvent> events, Adjacency adjacency,
                                   std::span<const double> orders) {
  std::vector<double> sum(orders.size(), 0.0);
  for (const CountedEvent& e : events) {
    const std::vector<double> one = rdp_curve(e.event, orders, adjacency);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(e.count) * one[i];
  }
  return sum;
}

Guarantee by_rdp(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                 const AccountOptions& options) {
  const std::vector<double> sum = composed_curve(events, adjacency, options.orders);
  const Converted c = epsilon_from_rdp(options.orders, sum, delta, options.conversion);
  return {c.epsilon, "rdp", c.order};
}

Guarantee least_of(std::initializer_list<Accountant> accountants,
                   std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                   const AccountOptions& options);

Guarantee by(Accountant accountant, std::span<const CountedEvent> events, Adjacency adjacency,
             double delta, const AccountOptions& options) {
  switch (accountant) {
    case Accountant::zcdp: {
      const auto rho = total(events, zcdp);
      if (!rho) refuse(accountant, "a sampled event has no zCDP bound; use rdp");
      const Converted c = epsilon_from_rho(*rho, delta, options.conversion);
      return {c.epsilon, "zcdp", c.order};
    }
    case Accountant::rdp:
      return by_rdp(events, adjacency, delta, options);
    case Accountant::analytic: {
      const auto mu = gaussian_mu(events);
      if (!mu) refuse(accountant, "exact for unsampled Gaussian events only; use rdp");
      return {gaussian_epsilon(delta, *mu), "analytic", {}};
    }
    case Accountant::pure: {
      const auto epsilon = total(events, pure_epsilon);
      if (!epsilon) refuse(accountant, "needs events that are pure DP; use rdp");
      return {*epsilon, "pure", {}};
    }
    case Accountant::pld: {
      const LossBounds b = pld_bounds(events, adjacency, delta, options.tolerance);
      return {b.epsilon, "pld", {}, b.lower};
    }
    case Accountant::best_of:
      return least_of({Accountant::analytic, Accountant::pure, Accountant::zcdp, Accountant::rdp},
                      events, adjacency, delta, options);
    case Accountant::tightest:
      if (gaussian_mu(events)) return by(Accountant::analytic, events, adjacency, delta, options);
      return least_of({Accountant::pld, Accountant::best_of}, events, adjacency, delta, options);
  }
  return {};
}

// The least guarantee of the accountants that have a proof.
Guarantee least_of(std::initializer_list<Accountant> accountants,
                   std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                   const AccountOptions& options) {
  Guarantee best{std::numeric_limits<double>::infinity(), "", {}};
  std::string refusal;
  for (const Accountant each : accountants) {
    try {
      const Guarantee candidate = by(each, events, adjacency, delta, options);
      if (best.accountant.empty() || candidate.epsilon < best.epsilon) best = candidate;
    } catch (const UnsupportedError& error) {
      refusal = error.what();
    }
  }
  if (best.accountant.empty()) throw UnsupportedError(refusal);
  return best;
}

}  // namespace

std::string_view name_of(Accountant accountant) {
  switch (accountant) {
    case Accountant::zcdp:
      return "zcdp";
    case Accountant::rdp:
      return "rdp";
    case Accountant::analytic:
      return "analytic";
    case Accountant::pure:
      return "pure";
    case Accountant::pld:
      return "pld";
    case Accountant::best_of:
    case Accountant::tightest:
      return "best";
  }
  return {};
}

std::optional<double> zcdp(const Event& event) {
  check(event);
  return std::visit(Zcdp{}, event);
}

std::optional<double> pure_epsilon(const Event& event) {
  if (const auto* e = std::get_if<LaplaceEvent>(&event)) return e->epsilon;
  if (const auto* e = std::get_if<PureEvent>(&event)) return e->epsilon;
  if (const auto* e = std::get_if<ExponentialEvent>(&event)) return e->epsilon;
  return {};
}

std::optional<double> gaussian_mu(std::span<const CountedEvent> events) {
  const auto square = total(events, [](const Event& event) -> std::optional<double> {
    const auto* e = std::get_if<GaussianEvent>(&event);
    if (!e) return {};
    return 1 / (e->noise_multiplier * e->noise_multiplier);
  });
  if (!square) return {};
  return std::sqrt(*square);
}

Guarantee epsilon_of(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                     const AccountOptions& options) {
  for (const CountedEvent& e : events) check(e);
  if (options.accountant != Accountant::pure || delta != 0) expect_delta("epsilon_of", delta);
  return by(options.accountant, events, adjacency, delta, options);
}

std::vector<double> orders_that_prove(double epsilon, std::span<const CountedEvent> events,
                                      Adjacency adjacency, double delta,
                                      const AccountOptions& options) {
  for (const CountedEvent& e : events) check(e);
  const std::vector<double> sum = composed_curve(events, adjacency, options.orders);
  std::vector<double> proving;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double order = options.orders[i];
    if (epsilon_from_rdp({&order, 1}, {&sum[i], 1}, delta, options.conversion).epsilon <= epsilon)
      proving.push_back(order);
  }
  return proving;
}

}  // namespace dpsosp
