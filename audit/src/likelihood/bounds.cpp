// SPDX-License-Identifier: Apache-2.0
#include "likelihood/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>

#include "dpsosp/privacy/accounting/gaussian.hpp"

namespace dpsosp::audit {
namespace {

double upper_bound(std::size_t errors, std::size_t runs, double failure) {
  if (errors >= runs) return 1.0;
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(
      static_cast<double>(runs), static_cast<double>(errors), failure);
}

/// Number of sorted scores above the threshold.
std::size_t above(const std::vector<double>& sorted, double threshold) {
  return static_cast<std::size_t>(sorted.end() - std::ranges::upper_bound(sorted, threshold));
}

ErrorRates rates_at(double threshold, const std::vector<double>& one,
                    const std::vector<double>& two, double confidence) {
  const double failure = 0.5 * (1.0 - confidence);
  return {upper_bound(above(two, threshold), two.size(), failure),
          upper_bound(one.size() - above(one, threshold), one.size(), failure)};
}

std::vector<double> sorted(std::span<const double> scores) {
  std::vector<double> copy(scores.begin(), scores.end());
  std::ranges::sort(copy);
  return copy;
}

struct Noisier {
  double factor;
  Event operator()(GaussianEvent e) const { return GaussianEvent{factor * e.noise_multiplier}; }
  Event operator()(PoissonGaussianEvent e) const {
    return PoissonGaussianEvent{e.rate, factor * e.noise_multiplier};
  }
  Event operator()(FixedSizeGaussianEvent e) const {
    return FixedSizeGaussianEvent{e.rate, factor * e.noise_multiplier, e.bound};
  }
  Event operator()(LaplaceEvent e) const { return LaplaceEvent{e.epsilon / factor}; }
  Event operator()(PureEvent e) const { return PureEvent{e.epsilon / factor}; }
  Event operator()(ExponentialEvent e) const { return ExponentialEvent{e.epsilon / factor}; }
  Event operator()(ZcdpEvent e) const { return ZcdpEvent{e.rho / (factor * factor)}; }
};

/// A proof that no (ε', δ)-DP mechanism with ε' < ε has the rates.
struct Proof {
  double delta, epsilon;
};

/// What the rates prove at some δ, the ones that would do most against a Gaussian first.
std::vector<Proof> proofs(const ErrorRates& rates) {
  std::vector<Proof> list;
  for (const double delta : {1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7})
    if (const double epsilon = epsilon_of_rates(rates, delta); epsilon > 0)
      list.push_back({delta, epsilon});
  const auto mu = [](const Proof& p) { return gaussian_mu_for(p.epsilon, p.delta); };
  std::ranges::sort(list, std::ranges::greater(), mu);
  return list;
}

}  // namespace

ErrorRates error_rates(std::span<const double> one, std::span<const double> two,
                       double confidence) {
  const std::size_t half_one = one.size() / 2, half_two = two.size() / 2;
  const auto train_one = sorted(one.first(half_one)), train_two = sorted(two.first(half_two));
  std::vector<double> candidates = train_one;
  candidates.insert(candidates.end(), train_two.begin(), train_two.end());
  std::ranges::sort(candidates);
  double threshold = 0.0, best = -1.0;
  const std::size_t step = std::max<std::size_t>(1, candidates.size() / 200);
  for (std::size_t k = 0; k < candidates.size(); k += step) {
    const double mu = gaussian_mu_of(rates_at(candidates[k], train_one, train_two, confidence));
    if (mu <= best) continue;
    best = mu;
    threshold = candidates[k];
  }
  return rates_at(threshold, sorted(one.subspan(half_one)), sorted(two.subspan(half_two)),
                  confidence);
}

double gaussian_mu_of(const ErrorRates& rates) {
  if (rates.false_one >= 1 || rates.false_two >= 1) return 0.0;
  const boost::math::normal_distribution<> normal;
  return std::max(0.0, boost::math::quantile(boost::math::complement(normal, rates.false_one)) -
                           boost::math::quantile(normal, rates.false_two));
}

double epsilon_of_rates(const ErrorRates& rates, double delta) {
  const auto one_way = [&](double a, double b) {
    return 1.0 - delta - b > 0 ? std::log((1.0 - delta - b) / a) : 0.0;
  };
  return std::max(
      {0.0, one_way(rates.false_one, rates.false_two), one_way(rates.false_two, rates.false_one)});
}

Claim::Claim(std::vector<CountedEvent> events)
    : events_(std::move(events)), gaussian_mu_(gaussian_mu(events_)) {}

double Claim::epsilon(double delta, double noise) {
  if (events_.empty()) return 0.0;
  const auto [known, is_new] = known_.try_emplace({delta, noise});
  if (!is_new) return known->second;
  std::vector<CountedEvent> events = events_;
  for (CountedEvent& e : events) e.event = std::visit(Noisier{noise}, e.event);
  known->second =
      epsilon_of(events, Adjacency::replace_one, delta, {.accountant = Accountant::tightest})
          .epsilon;
  return known->second;
}

bool Claim::falsified_by(const ErrorRates& rates) {
  if (gaussian_mu_) return gaussian_mu_of(rates) > *gaussian_mu_;
  return std::ranges::any_of(proofs(rates),
                             [&](const Proof& p) { return p.epsilon > epsilon(p.delta); });
}

double Claim::audited_epsilon(const ErrorRates& rates, double delta) {
  if (gaussian_mu_) {
    const double mu = gaussian_mu_of(rates);
    return mu == 0 ? 0.0 : gaussian_epsilon(delta, mu);
  }
  constexpr int steps = 1 << 14;
  const auto noise = [](int k) { return std::exp(std::log(64.0) * (2.0 * k / steps - 1.0)); };
  int least = steps + 1;  // of the multiples that are too large
  for (const Proof& p : proofs(rates)) {
    const auto too_large = [&](int k) { return p.epsilon > epsilon(p.delta, noise(k)); };
    if (!too_large(std::min(least, steps))) continue;
    least = std::min(least, steps);
    for (int allowed = 0; least - allowed > 1;) {
      const int middle = (allowed + least) / 2;
      (too_large(middle) ? least : allowed) = middle;
    }
  }
  return least > steps ? 0.0 : epsilon(delta, noise(least));
}

}  // namespace dpsosp::audit
