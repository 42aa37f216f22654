// SPDX-License-Identifier: Apache-2.0
#include "replay/accounts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/math/distributions/binomial.hpp>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "noise/noise_check.hpp"

namespace dpsosp::audit {
namespace {

/// What the exchanged record and the others contribute to a sampled sum, in two data sets P and Q.
enum class Pair {
  apart,  ///< the record opposite in both: the sum moves by half of the sensitivity to either side
  onto,   ///< all others as the record of Q: only P's moves it, if it is drawn
  from    ///< all others as the record of P
};

/// Draws ln P(o)/Q(o) for o from P.
class Loss {
 public:
  Loss(Pair pair, Adjacency adjacency, Stream& stream)
      : pair_(pair), adjacency_(adjacency), stream_(stream), part_(stream.uniform()) {}

  double of(const std::vector<CountedEvent>& events) {
    double sum = 0;
    for (const CountedEvent& e : events)
      sum += std::visit([&](const auto& event) { return this->many(event, e.count); }, e.event);
    return sum;
  }

 private:
  double gaussian(double mu_squared) {
    return 0.5 * mu_squared + std::sqrt(mu_squared) * stream_.normal();
  }
  double many(const GaussianEvent& e, std::int64_t count) {
    return gaussian(static_cast<double>(count) / (e.noise_multiplier * e.noise_multiplier));
  }
  double many(const ZcdpEvent& e, std::int64_t count) {
    return gaussian(2 * e.rho * static_cast<double>(count));
  }
  template <class Sampled>
  double many(const Sampled& e, std::int64_t count) {
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += one(e);
    return sum;
  }
  double one(const PoissonGaussianEvent& e) {
    if (adjacency_ == Adjacency::replace_one) return mixtures(e.rate, e.noise_multiplier, 1, -1);
    return mixtures(e.rate, e.noise_multiplier, pair_ == Pair::from ? 0 : 1,
                    pair_ == Pair::from ? 1 : 0);
  }
  double one(const FixedSizeGaussianEvent& e) {
    switch (pair_) {
      case Pair::onto:
        return mixtures(e.rate, e.noise_multiplier, 1, 0);
      case Pair::from:
        return mixtures(e.rate, e.noise_multiplier, 0, 1);
      case Pair::apart:
        break;
    }
    return mixtures(e.rate, e.noise_multiplier, 0.5, -0.5);
  }
  double one(const LaplaceEvent& e) {
    const double x = stream_.laplace() / e.epsilon;
    return e.epsilon * (std::abs(x - 1) - std::abs(x));
  }
  double one(const PureEvent& e) {  // randomised response
    return stream_.uniform() * (1 + std::exp(-e.epsilon)) < 1 ? e.epsilon : -e.epsilon;
  }
  /// Two candidates; the losses are a part of ε and that less ε, whose e^−L has the mean 1.
  double one(const ExponentialEvent& e) {
    const double high = part_ * e.epsilon;
    const double probability = std::expm1(e.epsilon - high) / std::expm1(e.epsilon);
    return stream_.uniform() < probability * std::exp(high) ? high : high - e.epsilon;
  }
  /// (1 − q) N(0, z²) + q N(m, z²) with m of P, and of Q.
  double mixtures(double rate, double z, double of_p, double of_q) {
    const double x = z * stream_.normal() + (stream_.uniform() < rate ? of_p : 0.0);
    const auto density = [&](double m) {
      return m == 0 ? 1.0 : 1.0 + rate * std::expm1(m * (x - 0.5 * m) / (z * z));
    };
    return std::log(density(of_p) / density(of_q));
  }

  Pair pair_;
  Adjacency adjacency_;
  Stream& stream_;
  double part_;
};

/// Probability of so many passes and more if each has at most this probability.
double at_least(std::int64_t passes, int draws, double probability) {
  if (passes == 0 || probability >= 1) return 1.0;
  const boost::math::binomial_distribution<> law(draws, probability);
  return boost::math::cdf(boost::math::complement(law, static_cast<double>(passes - 1)));
}

Finding contradiction(const std::vector<double>& losses, double epsilon, double delta,
                      Stream& stream, std::string_view whose) {
  if (!(epsilon >= 0)) return {0.0, fmt::format("{} {}", whose, epsilon)};
  std::int64_t passes = 0;
  for (const double loss : losses) passes += stream.uniform() < -std::expm1(epsilon - loss) ? 1 : 0;
  const int draws = static_cast<int>(losses.size());
  return {at_least(passes, draws, delta),
          fmt::format("{} {:.4g} at delta {:g}, where {} of {} losses exceed it", whose, epsilon,
                      delta, passes, draws)};
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : stream_({.seed = seed, .purpose = Purpose::statistics}) {}

  Stream& stream() { return stream_; }
  template <class Word, std::size_t n>
  Word one_of(const std::array<Word, n>& words) {
    return words[static_cast<std::size_t>(stream_.below(n))];
  }
  double between(double least, double most) {
    return std::exp(std::log(least) + stream_.uniform() * std::log(most / least));
  }
  static constexpr int kinds = 7;
  /// Up to 60 equal events that a Gaussian mechanism of μ would cost about as much as.
  CountedEvent event(double mu) { return event(static_cast<int>(stream_.below(kinds)), mu); }
  CountedEvent event(int kind, double mu) {
    const auto count = static_cast<std::int64_t>(std::lround(between(1, 60)));
    const double root = std::sqrt(static_cast<double>(count)), each = mu / root;
    const double rate = between(0.02, 1);
    switch (kind) {
      case 0:
        return {GaussianEvent{1 / each}, count};
      case 1:
        return {PoissonGaussianEvent{rate, std::max(0.5, 2 * rate / each)}, count};
      case 2:
        return {FixedSizeGaussianEvent{rate, std::max(0.4, rate / each)}, count};
      case 3:
        return {LaplaceEvent{each}, count};
      case 4:
        return {PureEvent{each}, count};
      case 5:
        return {ExponentialEvent{2 * each}, count};
      default:
        return {ZcdpEvent{0.5 * each * each}, count};
    }
  }

 private:
  Stream stream_;
};

std::string named(const Event& event) {
  struct Name {
    std::string operator()(const GaussianEvent& e) const {
      return fmt::format("Gaussian {:.3g}", e.noise_multiplier);
    }
    std::string operator()(const PoissonGaussianEvent& e) const {
      return fmt::format("Poisson {:.3g} of {:.3g}", e.rate, e.noise_multiplier);
    }
    std::string operator()(const FixedSizeGaussianEvent& e) const {
      return fmt::format("samples {:.3g} of {:.3g}", e.rate, e.noise_multiplier);
    }
    std::string operator()(const LaplaceEvent& e) const {
      return fmt::format("Laplace {:.3g}", e.epsilon);
    }
    std::string operator()(const PureEvent& e) const {
      return fmt::format("pure {:.3g}", e.epsilon);
    }
    std::string operator()(const ExponentialEvent& e) const {
      return fmt::format("exponential {:.3g}", e.epsilon);
    }
    std::string operator()(const ZcdpEvent& e) const { return fmt::format("zCDP {:.3g}", e.rho); }
  };
  return std::visit(Name{}, event);
}

std::string named(const std::vector<CountedEvent>& events) {
  std::vector<std::string> each;
  for (const CountedEvent& e : events)
    each.push_back(fmt::format("{} {}", e.count, named(e.event)));
  return fmt::format("{}", fmt::join(each, ", "));
}

std::vector<double> losses_of(const std::vector<CountedEvent>& events, Pair pair,
                              Adjacency adjacency, int draws, Stream& stream) {
  Loss loss(pair, adjacency, stream);
  std::vector<double> losses(static_cast<std::size_t>(draws));
  for (double& one : losses) one = loss.of(events);
  return losses;
}

constexpr std::array deltas{0.3, 0.1, 0.03, 0.01, 0.003};

/// Those whose losses have different laws.
std::vector<Pair> pairs_of(const std::vector<CountedEvent>& events, Adjacency adjacency) {
  const bool differ = std::ranges::any_of(events, [&](const CountedEvent& e) {
    return std::holds_alternative<FixedSizeGaussianEvent>(e.event) ||
           (adjacency == Adjacency::add_remove &&
            std::holds_alternative<PoissonGaussianEvent>(e.event));
  });
  if (!differ) return {Pair::apart};
  return {Pair::apart, Pair::onto, Pair::from};
}

}  // namespace

std::optional<double> account_of(std::span<const CountedEvent> events, Adjacency adjacency,
                                 double delta, Accountant accountant) {
  try {
    return epsilon_of(events, adjacency, delta, {.accountant = accountant}).epsilon;
  } catch (const UnsupportedError&) {
    return {};
  }
}

std::string complaint_of_accountants(std::uint64_t seed, const AccountSizes& sizes,
                                     const AccountOf& account) {
  Random random(seed);
  std::vector<Finding> findings;
  for (int k = 0; k < sizes.compositions; ++k) {
    std::vector<CountedEvent> events{random.event(k % Random::kinds, random.between(0.5, 2))};
    while (events.size() < 3 && random.stream().below(2) == 0)
      events.push_back(random.event(random.between(0.5, 2)));
    const Adjacency adjacency =
        random.stream().below(3) == 0 ? Adjacency::add_remove : Adjacency::replace_one;
    for (const Pair pair : pairs_of(events, adjacency)) {
      const std::vector<double> losses =
          losses_of(events, pair, adjacency, sizes.draws, random.stream());
      for (const Accountant accountant :
           {Accountant::zcdp, Accountant::rdp, Accountant::analytic, Accountant::pure,
            Accountant::best_of, Accountant::tightest})
        for (const double delta : deltas)
          if (const auto epsilon = account(events, adjacency, delta, accountant))
            findings.push_back(
                contradiction(losses, *epsilon, delta, random.stream(),
                              fmt::format("{} under {}: {} says epsilon", named(events),
                                          name_of(adjacency), name_of(accountant))));
    }
  }
  if (findings.empty()) return "no accountant answers";
  return complaint_of(findings);
}

FilterRule rule_of(const PrivacyBudget& budget, Calibrator calibrator, std::optional<double> order,
                   double pure_epsilon) {
  return filter_rule(budget, calibrator, order, pure_epsilon);
}

bool is_accepted(const FilterRule& rule, const PrivacyBudget& budget) {
  try {
    check(rule, budget);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::string complaint_of_filters(std::uint64_t seed, const AccountSizes& sizes,
                                 const RuleOf& rule_for, const Accepts& accepts) {
  constexpr Index records = 12;
  Random random(seed);
  std::vector<Finding> findings;
  int filled = 0;
  for (int k = 0; k < sizes.compositions; ++k) {
    const PrivacyBudget budget{random.between(0.5, 4), random.one_of(std::array{0.1, 0.03, 0.01})};
    const Calibrator calibrator = random.one_of(std::array{
        Calibrator::bun_steinke, Calibrator::cks, Calibrator::exact_gaussian, Calibrator::rdp});
    const bool renyi = calibrator == Calibrator::rdp;
    const bool with_pure =
        calibrator != Calibrator::exact_gaussian && random.stream().below(2) == 0;
    const bool of_guest = with_pure && random.stream().below(2) == 0;
    const double pure_epsilon = with_pure ? (of_guest ? 1.0 : 0.5) * budget.epsilon : 0.0;
    const auto order = renyi ? std::optional(random.between(4, 30)) : std::nullopt;
    FilterRule rule;
    std::optional<double> charge;
    CountedEvent of;
    try {
      rule = rule_for(budget, calibrator, order, of_guest ? 0.0 : pure_epsilon);
      if (of_guest) rule.pure_capacity = pure_epsilon;
      if (of_guest && !accepts(rule, budget)) continue;
      of = random.event(random.between(0.1, 0.5) * budget.epsilon);
      charge = rule.charge(of.event);
    } catch (const InputError&) {  // not by this rule
    }
    if (!charge || *charge <= 0) continue;

    RangeFilter filter({0, records}, rule.capacity, rule.pure_capacity);
    std::array<std::int64_t, records> charges{}, pure_charges{};
    constexpr int most = 3000, refusals_in_a_row = 40;
    for (int asked = 0, refused = 0; asked < most && refused < refusals_in_a_row; ++asked) {
      const Index begin = random.stream().below(records);
      const RecordRange range{begin, begin + 1 + random.stream().below(records - begin)};
      const bool pure = with_pure && random.stream().below(2) == 0;
      // Beyond the pure account, a pure mechanism is refused here, not charged to the other one.
      const bool granted =
          pure ? filter.try_pure({range, std::numeric_limits<double>::infinity()}, pure_epsilon)
                     .has_value()
               : filter.try_charge({{range, *charge}});
      refused = granted ? 0 : refused + 1;
      for (Index i = range.begin; granted && i < range.end; ++i)
        ++(pure ? pure_charges : charges)[static_cast<std::size_t>(i)];
    }
    const auto most_charged = std::ranges::max_element(charges);
    std::vector<CountedEvent> spent;
    if (*most_charged > 0) spent.push_back({of.event, *most_charged});
    if (const auto granted = pure_charges[static_cast<std::size_t>(most_charged - charges.begin())];
        granted > 0)
      spent.push_back({PureEvent{pure_epsilon}, granted});
    if (spent.empty()) continue;
    ++filled;
    for (const Pair pair : pairs_of(spent, Adjacency::replace_one))
      findings.push_back(contradiction(
          losses_of(spent, pair, Adjacency::replace_one, sizes.draws, random.stream()),
          budget.epsilon, budget.delta, random.stream(),
          fmt::format("{}: granted by {} for epsilon", named(spent), to_string(calibrator))));
  }
  if (filled < sizes.compositions / 5)
    return fmt::format("only {} of {} rules could be charged", filled, sizes.compositions);
  return complaint_of(findings);
}

}  // namespace dpsosp::audit
