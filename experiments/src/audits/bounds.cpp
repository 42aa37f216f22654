// SPDX-License-Identifier: Apache-2.0
#include "bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

ErrorRates rates_at(double threshold,
                    const std::vector<double>& one,
                    const std::vector<double>& two,
                    double confidence) {
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

constexpr std::array deltas{1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7};

}  // namespace

ErrorRates error_rates(std::span<const double> one,
                       std::span<const double> two,
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
  return rates_at(
      threshold, sorted(one.subspan(half_one)), sorted(two.subspan(half_two)), confidence);
}

double gaussian_mu_of(const ErrorRates& rates) {
  if (rates.false_one >= 1 || rates.false_two >= 1) return 0.0;
  const boost::math::normal_distribution<> normal;
  return std::max(0.0,
                  boost::math::quantile(boost::math::complement(normal, rates.false_one)) -
                      boost::math::quantile(normal, rates.false_two));
}

double epsilon_of_rates(const ErrorRates& rates, double delta) {
  const auto one_way = [&](double a, double b) {
    return 1.0 - delta - b > 0 ? std::log((1.0 - delta - b) / a) : 0.0;
  };
  return std::max(
      {0.0, one_way(rates.false_one, rates.false_two), one_way(rates.false_two, rates.false_one)});
}

double Claim::epsilon(double delta, double noise) const {
  if (events_.empty()) return 0.0;
  std::vector<CountedEvent> events = events_;
  for (CountedEvent& e : events) e.event = std::visit(Noisier{noise}, e.event);
  return epsilon_of(events, Adjacency::replace_one, delta, {.accountant = Accountant::tightest})
      .epsilon;
}

bool Claim::allows(const ErrorRates& rates, double noise) const {
  if (const auto mu = gaussian_mu(events_)) return gaussian_mu_of(rates) <= *mu / noise;
  return std::ranges::all_of(deltas, [&](double delta) {
    const double audited = epsilon_of_rates(rates, delta);
    return audited == 0 || audited <= epsilon(delta, noise);
  });
}

double Claim::audited_epsilon(const ErrorRates& rates, double delta) const {
  if (gaussian_mu(events_)) {
    const double mu = gaussian_mu_of(rates);
    return mu == 0 ? 0.0 : gaussian_epsilon(delta, mu);
  }
  double low = std::log(1.0 / 64), high = std::log(64.0);
  if (allows(rates, std::exp(high))) return 0.0;
  for (int k = 0; k < 14; ++k) {
    const double middle = 0.5 * (low + high);
    (allows(rates, std::exp(middle)) ? low : high) = middle;
  }
  return epsilon(delta, std::exp(high));
}

}  // namespace dpsosp::audit
