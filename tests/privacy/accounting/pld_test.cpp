// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/pld.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <tuple>

#include <rapidcheck.h>

#include "accounting/loss_distribution.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "near.hpp"

namespace dpsosp::pld_test {
namespace {

using Ledger = std::vector<CountedEvent>;
constexpr double kTolerance = 1e-3;

LossBounds bounds(const Ledger& ledger, Adjacency adjacency, double delta) {
  return pld_bounds(ledger, adjacency, delta, kTolerance);
}
LossBounds bounds(const Ledger& ledger, double delta) {
  return bounds(ledger, Adjacency::replace_one, delta);
}

// for the many cases of a property
constexpr double kCoarse = 1e-2;
LossBounds coarse_bounds(const Ledger& ledger, Adjacency adjacency, double delta) {
  return pld_bounds(ledger, adjacency, delta, kCoarse);
}

TEST(LossDistribution, MergesOutcomesOfTheNearestLatticePoint) {
  const PrivacyLoss loss{
      .atoms = {{0.1, -1.6}, {0.2, -0.4}, {0.1, 0.3}, {0.15, 0.7}, {0.25, 1.2}, {0.2, 3.45}}};
  const DiscreteLoss d = discretise(loss, 1.0);
  const auto mass_at = [&](std::int64_t k) {
    return d.merged.mass.at(static_cast<std::size_t>(k - d.merged.first));
  };
  EXPECT_DOUBLE_EQ(mass_at(-2), 0.1);
  EXPECT_DOUBLE_EQ(mass_at(0), 0.2 + 0.1);
  EXPECT_DOUBLE_EQ(mass_at(1), 0.15 + 0.25);
  EXPECT_DOUBLE_EQ(mass_at(3), 0.2);
}

// What is cut off is about as much as said: a wider range would be no less valid, but dearer.
TEST(PrivacyLoss, CutsTailsOfTheMassThatItStates) {
  const LossTails tails{.above = 1e-3, .below = 1e-9};
  using enum Adjacency;
  for (const auto& [event, adjacency] :
       {std::pair{Event{PoissonGaussianEvent{0.2, 1.0}}, replace_one},
        {PoissonGaussianEvent{0.2, 1.0}, add_remove},
        {PoissonGaussianEvent{0.9, 3.0}, replace_one},
        {FixedSizeGaussianEvent{0.2, 1.0}, replace_one},
        {FixedSizeGaussianEvent{0.5, 0.7}, replace_one}})
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const PrivacyLoss loss = dominating_loss(event, adjacency, direction, tails);
      constexpr int nodes = 400000;
      const PrivacyLoss::Continuous& c = *loss.continuous;
      const double width = (c.high - c.low) / nodes;
      double kept = 0;
      for (const PrivacyLoss::Atom& atom : loss.atoms) kept += atom.mass;
      for (int k = 0; k < nodes; ++k) kept += width * c.at(c.low + (k + 0.5) * width).mass;
      const double cut = 1 - kept, stated = loss.above + loss.below;
      EXPECT_LE(cut, stated + 1e-6) << event.index();
      EXPECT_GE(cut, 0.1 * stated) << event.index() << ' ' << kept;
    }
}

// lower <= exact <= epsilon, no further apart than asked; the exact value to 1e-9 of itself
testing::AssertionResult brackets(const LossBounds& b, double exact) {
  if (b.lower <= exact * (1 + 1e-9) && exact * (1 - 1e-9) <= b.epsilon && b.resolved)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << exact << " is not in [" << b.lower << ", " << b.epsilon << "], or that is too wide";
}

double tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2)); }

using Profile = std::function<double(double)>;  // ε ↦ δ, real ε

// Root of a falling profile.
double epsilon_at(const Profile& delta_at, double delta) {
  double low = 0;
  double high = 1;
  while (delta_at(high) > delta) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (delta_at(middle) > delta ? low : high) = middle;
  }
  return high;
}

// The profile of (1−q)N(0) + qN(a) and (1−q)N(0) + qN(b), each over z, a > b: the largest
// P(A) − e^ε Q(A) is at the half-line where the densities have the ratio e^ε.
Profile mixtures(double rate, double noise, double a, double b) {
  return [=](double epsilon) {
    const auto log_density = [&](double x, double shift) {  // over that of N(0)
      return std::log1p(rate * std::expm1((x * shift - shift * shift / 2) / (noise * noise)));
    };
    double low = -60 * noise - 60;
    double high = 60 * noise + 60;
    for (int i = 0; i < 70; ++i) {
      const double x = (low + high) / 2;
      (log_density(x, a) - log_density(x, b) < epsilon ? low : high) = x;
    }
    const auto mass = [&](double shift) {
      return (1 - rate) * tail(low / noise) + rate * tail((low - shift) / noise);
    };
    return mass(a) - std::exp(epsilon) * mass(b);
  };
}

Profile laplace(double e) {
  return [=](double epsilon) {
    if (epsilon >= e) return 0.0;
    return epsilon <= -e ? -std::expm1(epsilon) : -std::expm1((epsilon - e) / 2);
  };
}

TEST(Pld, BracketsExactValueForGaussians) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_mu, std::uint16_t raw_delta, std::uint8_t parts) {
    const double mu = log_uniform(raw_mu, 1e-3, 1000);
    const double delta = log_uniform(raw_delta, 1e-90, 0.3);
    Ledger ledger;
    for (int i = 0; i <= parts % 4; ++i)  // i + 1 of the total of mu²
      ledger.push_back({GaussianEvent{std::sqrt((parts % 4 + 1.0) * (i + 1)) / mu}, i + 1});
    const LossBounds b = bounds(ledger, delta);
    const double exact = gaussian_epsilon(delta, mu);
    RC_ASSERT(b.epsilon >= exact * (1 - 1e-12));
    RC_ASSERT(b.lower <= exact);
    RC_ASSERT(b.resolved);
  }));
}

TEST(Pld, BracketsExactValueForOnePoissonRelease) {
  for (const double rate : {1e-4, 0.05, 0.7})
    for (const double noise : {0.5, 2.0})
      for (const double delta : {1e-3 * rate, 1e-9 * rate}) {
        SCOPED_TRACE(testing::Message() << rate << ' ' << noise << ' ' << delta);
        const Ledger ledger{{PoissonGaussianEvent{rate, noise}}};
        const double removed = epsilon_at(mixtures(rate, noise, 1, 0), delta);
        const double added = epsilon_at(mixtures(rate, noise, 0, -1), delta);
        const double replaced = epsilon_at(mixtures(rate, noise, 1, -1), delta);
        EXPECT_TRUE(
            brackets(bounds(ledger, Adjacency::add_remove, delta), std::max(removed, added)));
        EXPECT_TRUE(brackets(bounds(ledger, Adjacency::zero_out, delta), std::max(removed, added)));
        EXPECT_TRUE(brackets(bounds(ledger, Adjacency::replace_one, delta), replaced));
      }
}

// γ times the Gaussian's δ at ln(1 + (e^ε − 1)/γ).
double one_fixed_size_delta(double rate, double noise, double epsilon) {
  return rate * gaussian_delta(std::log1p(std::expm1(epsilon) / rate), 1 / noise);
}

TEST(Pld, BracketsExactValueForOneFixedSizeRelease) {
  for (const double rate : {1e-4, 0.05, 0.7, 0.999})
    for (const double noise : {0.1, 0.5, 2.0, 20.0})
      for (const double share : {1e-3, 1e-9}) {
        SCOPED_TRACE(testing::Message() << rate << ' ' << noise << ' ' << share);
        const double delta = share * one_fixed_size_delta(rate, noise, 0);
        const double exact =
            epsilon_at([&](double e) { return one_fixed_size_delta(rate, noise, e); }, delta);
        EXPECT_TRUE(brackets(bounds({{FixedSizeGaussianEvent{rate, noise}}}, delta), exact));
      }
}

TEST(Pld, FixedSizeSampleOfAllRecordsIsTheGaussian) {
  const double gaussian = bounds({{GaussianEvent{3}, 7}}, 1e-6).epsilon;
  const double all = bounds({{FixedSizeGaussianEvent{1, 3}, 7}}, 1e-6).epsilon;
  const double nearly = bounds({{FixedSizeGaussianEvent{1 - 1e-12, 3}, 7}}, 1e-6).epsilon;
  EXPECT_TRUE(relative(all, gaussian, 1e-12));
  EXPECT_TRUE(relative(nearly, gaussian, 2 * kTolerance));
}

// The laws of the noisy mean of a uniform batch of b of the records, on a grid.
std::vector<double> law_of_sample(const std::vector<double>& records, int b, double std) {
  std::vector<double> law(240, 0.0);
  const int n = static_cast<int>(records.size());
  for (int members = 0; members < 1 << n; ++members) {
    if (std::popcount(static_cast<unsigned>(members)) != b) continue;
    double mean = 0;
    for (int i = 0; i < n; ++i)
      if (members >> i & 1) mean += records[static_cast<std::size_t>(i)] / b;
    for (std::size_t k = 0; k < law.size(); ++k) {
      const double x = ((static_cast<double>(k) - 119.5) / 119.5 * (1 + 6 * std) - mean) / std;
      law[k] += std::exp(-x * x / 2);
    }
  }
  double sum = 0;
  for (const double mass : law) sum += mass;
  for (double& mass : law) mass /= sum;
  return law;
}

// No data set of four records with norms of at most 1, asked twice, has a loss beyond the pair's.
// The second question depends on the first answer: the records' values, or their opposites, so that
// the neighbours change places. One direction alone would not cover that.
TEST(Pld, CoversFixedSizeSamplesOfFourRecords) {
  for (const int b : {1, 2, 3})
    for (const double noise : {0.5, 2.0}) {
      const double std = noise * 2 / b;
      const LossBounds twice = bounds({{FixedSizeGaussianEvent{b / 4.0, noise}, 2}}, 1e-3);
      double worst = 0;
      EXPECT_TRUE(rc::check([&](std::uint8_t a, std::uint8_t c, std::uint8_t d) {
        // Extreme records half of the time, where the worst lies.
        const auto value = [](std::uint8_t raw) {
          return raw % 2 == 0 ? (raw % 4 == 0 ? 1.0 : -1.0) : raw / 127.5 - 1;
        };
        const std::vector<double> with{1, value(a), value(c), value(d)};
        const std::vector<double> without{-1, value(a), value(c), value(d)};
        const std::vector<double> p = law_of_sample(with, b, std),
                                  q = law_of_sample(without, b, std);
        double delta = 0;
        const double weight = std::exp(twice.epsilon);
        for (std::size_t i = 0; i < p.size(); ++i) {
          double same = 0, exchanged = 0;
          for (std::size_t j = 0; j < p.size(); ++j) {
            same += std::max(p[i] * p[j] - weight * q[i] * q[j], 0.0);
            exchanged += std::max(p[i] * q[j] - weight * q[i] * p[j], 0.0);
          }
          delta += std::max(same, exchanged);
        }
        worst = std::max(worst, delta);
        RC_ASSERT(delta <= 1e-3 * 1.003);  // the grid's error
      }));
      EXPECT_GT(worst, 0.5e-3) << b << ' ' << noise;  // the pair is not far from attained
    }
}

// Attained pairs of one direction alone are less; the Rényi bound is more.
TEST(Pld, FixedSizeLiesBetweenOneDirectionAndRenyiBound) {
  for (const double rate : {0.001, 0.05, 0.5})
    for (const double noise : {0.6, 1.0, 5.0})
      for (const std::int64_t count : {1, 30, 1000}) {
        SCOPED_TRACE(testing::Message() << rate << ' ' << noise << ' ' << count);
        const Ledger fixed{{FixedSizeGaussianEvent{rate, noise}, count}};
        const LossBounds b = bounds(fixed, 1e-6);
        const Ledger poisson{{PoissonGaussianEvent{rate, noise}, count}};
        EXPECT_TRUE(b.resolved);
        EXPECT_GE(b.epsilon, bounds(poisson, Adjacency::add_remove, 1e-6).lower);
        EXPECT_LE(b.epsilon,
                  epsilon_of(fixed, Adjacency::replace_one, 1e-6, {.accountant = Accountant::rdp})
                          .epsilon *
                      (1 + 2 * kTolerance));
      }
}

// One record of four contributes, +1 or -1, the others nothing.
TEST(AttainedEpsilon, OfFixedSizeSamplesIsThatOfAPair) {
  for (const int b : {1, 2, 3})
    for (const double noise : {0.5, 2.0}) {
      const std::vector<double> p = law_of_sample({1, 0, 0, 0}, b, noise * 2 / b),
                                q = law_of_sample({-1, 0, 0, 0}, b, noise * 2 / b);
      const Ledger once{{FixedSizeGaussianEvent{b / 4.0, noise}}};
      const double epsilon = attained_epsilon(once, Adjacency::replace_one, 1e-3, kTolerance);
      double delta = 0, less = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        delta += std::max(p[i] - std::exp(epsilon) * q[i], 0.0);
        less += std::max(p[i] - std::exp(1.01 * epsilon) * q[i], 0.0);
      }
      EXPECT_GE(delta, 1e-3 * 0.997) << b << ' ' << noise;
      EXPECT_LE(less, 1e-3 * 1.003) << b << ' ' << noise;
      EXPECT_LE(epsilon, bounds(once, 1e-3).epsilon);
    }
}

TEST(AttainedEpsilon, IsTheExactOneWhereALossIsKnownAndAtMostTheBoundElsewhere) {
  const Ledger gaussian{{GaussianEvent{2.0}, 9}};
  EXPECT_EQ(attained_epsilon(gaussian, Adjacency::replace_one, 1e-6, kTolerance),
            epsilon_of(gaussian, Adjacency::replace_one, 1e-6, {.accountant = Accountant::analytic})
                .epsilon);
  const Ledger poisson{{PoissonGaussianEvent{0.1, 1.0}, 30}};
  EXPECT_EQ(attained_epsilon(poisson, Adjacency::replace_one, 1e-6, kTolerance),
            bounds(poisson, 1e-6).lower);
  // ρ-zCDP is charged by a conversion; the Gaussian of that ρ needs less.
  const Ledger zcdp{{ZcdpEvent{0.1}}};
  const double attained = attained_epsilon(zcdp, Adjacency::replace_one, 1e-6, kTolerance);
  EXPECT_GT(attained, 1);
  EXPECT_LT(attained, epsilon_of(zcdp, Adjacency::replace_one, 1e-6).epsilon);
  // randomised response at ε/2: δ = (1 − e^{x−ε/2})/(1 + e^{−ε/2})
  const double e = 1, delta = 1e-3;
  const double exact = e / 2 + std::log1p(-delta * (1 + std::exp(-e / 2)));
  EXPECT_NEAR(attained_epsilon(Ledger{{ExponentialEvent{e}}}, Adjacency::replace_one, delta, 1e-4),
              exact, 2e-4);
  EXPECT_EQ(attained_epsilon(Ledger{{LaplaceEvent{0.5}, 3}}, Adjacency::replace_one, 0, kTolerance),
            1.5);
  EXPECT_THROW(attained_epsilon(Ledger{{FixedSizeGaussianEvent{0.1, 1.0}}}, Adjacency::add_remove,
                                1e-6, kTolerance),
               UnsupportedError);
}

TEST(Pld, BracketsExactValueForOnePureRelease) {
  for (const double e : {1e-4, 0.1, 1.0, 30.0, 1e3})
    for (const double share : {1e-2, 1e-6}) {
      const double delta = share * std::tanh(e / 4);  // of the total variation, about
      EXPECT_TRUE(brackets(bounds({{LaplaceEvent{e}}}, delta), e + 2 * std::log1p(-delta)));
      const double odds = std::exp(-e);  // δ = (1 − e^{ε−e})/(1 + e^{−e})
      EXPECT_TRUE(brackets(bounds({{PureEvent{e}}}, delta), e + std::log1p(-delta * (1 + odds))));
      const double root = std::sqrt(-delta * std::expm1(-e));
      EXPECT_TRUE(brackets(bounds({{ExponentialEvent{e}}}, delta), e + 2 * std::log1p(-root)));
    }
}

/// One release with its exact profile and, at epsilon 0, its total variation.
struct OneRelease {
  Event event;
  Adjacency adjacency;
  Profile profile;
};

std::vector<OneRelease> single_releases() {
  using enum Adjacency;
  std::vector<OneRelease> all;
  for (const double noise : {0.3, 2.0, 30.0, 1e3})
    all.push_back({GaussianEvent{noise}, replace_one,
                   [=](double e) { return gaussian_delta(std::max(e, 0.0), 1 / noise); }});
  for (const auto& [rate, noise] : {std::pair{1e-3, 0.5}, {0.05, 2.0}, {0.05, 50.0}, {0.7, 5.0}}) {
    all.push_back({PoissonGaussianEvent{rate, noise}, replace_one, mixtures(rate, noise, 1, -1)});
    const Profile removed = mixtures(rate, noise, 1, 0), added = mixtures(rate, noise, 0, -1);
    for (const Adjacency adjacency : {add_remove, zero_out})
      all.push_back({PoissonGaussianEvent{rate, noise}, adjacency,
                     [=](double e) { return std::max(removed(e), added(e)); }});
    all.push_back(
        {FixedSizeGaussianEvent{rate, noise}, replace_one,
         [r = rate, z = noise](double e) { return one_fixed_size_delta(r, z, std::max(e, 0.0)); }});
  }
  for (const double e : {1e-3, 0.1, 1.0, 4.0}) {
    all.push_back({LaplaceEvent{e}, replace_one, laplace(e)});
    all.push_back({PureEvent{e}, replace_one, [=](double epsilon) {
                     return std::max(0.0, -std::expm1(epsilon - e) / (1 + std::exp(-e)));
                   }});
    all.push_back({ExponentialEvent{e}, replace_one, [=](double epsilon) {
                     // δ of the best pair of two points: e + 2 log1p(−√(δ(1 − e^{−e}))) = ε
                     const double root = -std::expm1((epsilon - e) / 2);
                     return root > 0 ? -root * root / std::expm1(-e) : 0.0;
                   }});
  }
  return all;
}

// Near the total variation an accountant may take a short cut to epsilon 0; below it, never.
TEST(Pld, ProvesNoMoreThanTheProfileNearTotalVariation) {
  for (const auto& [event, adjacency, profile] : single_releases()) {
    const double total_variation = profile(0);
    for (const double share : {0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0, 1.05}) {
      const double delta = share * total_variation;
      if (delta > 0.99) continue;
      const double exact = share < 1 ? epsilon_at(profile, delta) : 0.0;
      for (const std::int64_t count : {1, 2, 5}) {
        SCOPED_TRACE(testing::Message() << event.index() << ' ' << name_of(adjacency) << ' '
                                        << total_variation << ' ' << share << ' ' << count);
        const Ledger ledger{{event, count}};
        const LossBounds b = coarse_bounds(ledger, adjacency, delta);
        EXPECT_GE(b.epsilon, exact * (1 - 1e-9));  // of many releases more than of one
        if (count == 1) {
          EXPECT_LE(b.lower, exact * (1 + 1e-6) + 1e-9);
        }
        for (const Accountant accountant : {Accountant::zcdp, Accountant::rdp, Accountant::analytic,
                                            Accountant::pure, Accountant::tightest}) {
          try {
            EXPECT_GE(epsilon_of(ledger, adjacency, delta, {.accountant = accountant}).epsilon,
                      exact * (1 - 1e-9))
                << name_of(accountant);
          } catch (const InputError&) {  // no proof
          }
        }
      }
    }
  }
}

// No loss of range e, from t − e to t, has more than the pair of the exponential mechanism.
TEST(Pld, CoversTwoPointLossesOfExponentialMechanism) {
  for (const double e : {0.1, 1.0, 4.0})
    for (const double delta : {1e-2, 1e-5}) {
      double worst = 0;
      for (int i = 1; i < 1000; ++i) {
        const double t = e * i / 1000;
        const double mass = std::expm1(t - e) / std::expm1(-e);  // P at t
        worst = std::max(worst, delta < mass ? t + std::log1p(-delta / mass) : 0);
      }
      const LossBounds b = bounds({{ExponentialEvent{e}}}, delta);
      EXPECT_GE(b.epsilon, worst);
      EXPECT_LE(b.lower, worst * (1 + 1e-5));
    }
}

// k-fold randomised response: the loss is (2j − k)e with binomial j.
TEST(Pld, BracketsBinomialSumForPureReleases) {
  for (const auto& [e, k] :
       {std::pair{0.5, 2}, {0.1, 40}, {0.02, 1000}, {1.0, 1000}, {0.003, 20000}})
    for (const double delta : {1e-2, 1e-6, 1e-15, 1e-40}) {
      SCOPED_TRACE(testing::Message() << e << ' ' << k << ' ' << delta);
      const auto profile = [e = e, k = k](double epsilon) {
        double sum = 0;
        for (int j = k; j >= 0; --j) {
          const double loss = (2.0 * j - k) * e;
          if (loss <= epsilon) break;
          const double log_mass = std::lgamma(k + 1) - std::lgamma(j + 1) - std::lgamma(k - j + 1) -
                                  j * std::log1p(std::exp(-e)) - (k - j) * std::log1p(std::exp(e));
          sum += std::exp(log_mass) * -std::expm1(epsilon - loss);
        }
        return sum;
      };
      EXPECT_TRUE(brackets(bounds({{PureEvent{e}, k}}, delta), epsilon_at(profile, delta)));
    }
}

// δ of two releases is the mean of the second's profile at ε less the first one's loss.
TEST(Pld, BracketsExactValueForTwoDifferentReleases) {
  const double e = 0.8;
  const Profile sampled = mixtures(0.2, 0.9, 1, -1);
  const auto with_laplace = [&](const Profile& second) {
    return [=](double epsilon) {
      double sum = 0.5 * second(epsilon - e) + 0.5 * std::exp(-e) * second(epsilon + e);
      constexpr int n = 200;  // Simpson
      for (int i = 0; i <= n; ++i) {
        const double s = -e + 2 * e * i / n;
        const double weight = (i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2) * 2 * e / n / 3;
        sum += weight * 0.25 * std::exp((s - e) / 2) * second(epsilon - s);
      }
      return sum;
    };
  };
  for (const double delta : {1e-3, 1e-8}) {
    const Ledger laplaces{{LaplaceEvent{e}, 2}};
    EXPECT_TRUE(brackets(bounds(laplaces, delta), epsilon_at(with_laplace(laplace(e)), delta)));
    const Ledger mixed{{LaplaceEvent{e}}, {PoissonGaussianEvent{0.2, 0.9}}};
    EXPECT_TRUE(brackets(bounds(mixed, delta), epsilon_at(with_laplace(sampled), delta)));
  }
}

TEST(Pld, NarrowsBoundsToTolerance) {
  const Ledger ledger{{PoissonGaussianEvent{0.02, 1.1}, 500}, {LaplaceEvent{0.05}, 3}};
  LossBounds coarse{.epsilon = INFINITY, .lower = 0, .points = 0, .resolved = false};
  for (const double tolerance : {0.1, 1e-2, 1e-3, 1e-4}) {
    const LossBounds b = pld_bounds(ledger, Adjacency::replace_one, 1e-6, tolerance);
    EXPECT_TRUE(b.resolved);
    EXPECT_LE(b.epsilon - b.lower, tolerance * b.epsilon);
    EXPECT_LE(b.epsilon, coarse.epsilon * (1 + 1e-12));
    EXPECT_GE(b.lower, coarse.lower * (1 - 1e-12));
    coarse = b;
  }
}

Ledger random_ledger(const std::vector<std::uint16_t>& raw) {
  Ledger ledger;
  for (std::size_t i = 0; i + 1 < raw.size() && ledger.size() < 4; i += 2) {
    const std::int64_t count = 1 + raw[i + 1] % 50;
    switch (raw[i] % 4) {
      case 0:
        ledger.push_back({GaussianEvent{log_uniform(raw[i], 2, 50)}, count});
        break;
      case 1:
        ledger.push_back(
            {PoissonGaussianEvent{log_uniform(raw[i], 1e-3, 1), log_uniform(raw[i + 1], 0.7, 8)},
             count});
        break;
      case 2:
        ledger.push_back({LaplaceEvent{log_uniform(raw[i], 1e-3, 0.5)}, count});
        break;
      case 3:
        ledger.push_back({PureEvent{log_uniform(raw[i], 1e-3, 0.5)}, count});
        break;
    }
  }
  return ledger;
}

TEST(Pld, LiesBetweenExactGaussianAndOtherAccountants) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint16_t>& raw, std::uint16_t raw_delta) {
    const Ledger ledger = random_ledger(raw);
    const double delta = log_uniform(raw_delta, 1e-12, 1e-2);
    for (const Adjacency adjacency : {Adjacency::replace_one, Adjacency::add_remove}) {
      const LossBounds b = coarse_bounds(ledger, adjacency, delta);
      const double others = epsilon_of(ledger, adjacency, delta).epsilon;
      RC_ASSERT(b.lower <= others * (1 + 1e-9));
      RC_ASSERT(b.epsilon <= others + (b.epsilon - b.lower));
      Ledger gaussians;
      for (const CountedEvent& e : ledger)
        if (std::holds_alternative<GaussianEvent>(e.event)) gaussians.push_back(e);
      RC_ASSERT(b.epsilon >= gaussian_epsilon(delta, gaussian_mu(gaussians).value()) * (1 - 1e-12));
    }
  }));
}

TEST(Pld, IgnoresOrderAndGroupingOfSteps) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint16_t>& raw) {
    const Ledger ledger = random_ledger(raw);
    Ledger other;
    for (auto e = ledger.rbegin(); e != ledger.rend(); ++e) {
      other.push_back({e->event, (e->count + 1) / 2});
      if (e->count > 1) other.push_back({e->event, e->count / 2});
    }
    const LossBounds b = coarse_bounds(ledger, Adjacency::replace_one, 1e-6);
    const LossBounds c = coarse_bounds(other, Adjacency::replace_one, 1e-6);
    RC_ASSERT(std::abs(b.epsilon - c.epsilon) <= 1e-6 * b.epsilon);
    RC_ASSERT(std::abs(b.lower - c.lower) <= 1e-6 * b.epsilon);
  }));
}

// Monotonicity, as far as intervals show it: the larger one's upper end is not below the other's
// lower end.
TEST(Pld, IsMonotoneInStepsRateNoiseDeltaAndAdjacency) {
  EXPECT_TRUE(
      rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise, std::uint16_t raw_steps) {
        const double rate = log_uniform(raw_rate, 1e-2, 0.5);
        const double noise = log_uniform(raw_noise, 0.8, 20);
        const int steps = 1 + raw_steps % 500;
        const auto of = [&](double q, double z, int t, double delta, Adjacency adjacency) {
          return coarse_bounds({{PoissonGaussianEvent{q, z}, t}}, adjacency, delta);
        };
        for (const Adjacency adjacency : {Adjacency::add_remove, Adjacency::replace_one}) {
          const LossBounds base = of(rate, noise, steps, 1e-6, adjacency);
          RC_ASSERT(of(rate, noise, steps * 2, 1e-6, adjacency).epsilon >= base.lower);
          RC_ASSERT(of(rate * 1.3, noise, steps, 1e-6, adjacency).epsilon >= base.lower);
          RC_ASSERT(of(rate, noise * 1.3, steps, 1e-6, adjacency).lower <= base.epsilon);
          RC_ASSERT(of(rate, noise, steps, 1e-5, adjacency).lower <= base.epsilon);
        }
        const LossBounds replaced = of(rate, noise, steps, 1e-6, Adjacency::replace_one);
        RC_ASSERT(replaced.epsilon >= of(rate, noise, steps, 1e-6, Adjacency::add_remove).lower);
        // an unsampled Gaussian whose sum moves by twice the clip norm costs no less
        RC_ASSERT(replaced.lower <= gaussian_epsilon(1e-6, 2 * std::sqrt(steps) / noise));
      }));
}

TEST(Pld, ReplaceOneIsTighterThanRenyiBound) {
  const Ledger ledger{{PoissonGaussianEvent{0.01, 2}, 1000}};
  const LossBounds b = bounds(ledger, 1e-5);
  const double rdp =
      epsilon_of(ledger, Adjacency::replace_one, 1e-5, {.accountant = Accountant::rdp}).epsilon;
  EXPECT_LT(b.epsilon, 0.83 * rdp);
  EXPECT_GT(b.lower, 0.8 * rdp);
}

TEST(Pld, HandlesExtremesInBoundedTime) {
  struct Case {
    Event event;
    std::int64_t count;
    double delta, low, high;  // where epsilon is
  };
  const auto sampled = [](double rate, double noise) { return PoissonGaussianEvent{rate, noise}; };
  for (const Case& c :
       {Case{GaussianEvent{2e5}, 1, 1e-6, 2e-6, 3e-6},
        Case{GaussianEvent{0.025}, 1, 1e-15, 1000, 1200},
        Case{GaussianEvent{31623 * 4}, 1000000000, 1e-15, 1.9, 2.2},
        Case{sampled(1, 1e3), 1000000, 1e-15, 8, 8.5}, Case{sampled(1e-8, 1), 1, 1e-15, 1e-6, 5e-6},
        Case{sampled(1e-8, 1), 1000000, 1e-15, 5e-5, 1e-4},
        Case{sampled(1e-5, 1), 1000000000, 1e-5, 1, 3},
        Case{sampled(0.5, 0.02), 1, 1e-15, 1000, 1e4},
        Case{PureEvent{1e-4}, 1000000000, 1e-6, 19, 20},
        Case{LaplaceEvent{1e3}, 1, 1e-15, 999, 1000},
        Case{LaplaceEvent{1e-9}, 1, 1e-15, 9e-10, 1e-9}}) {
    SCOPED_TRACE(testing::Message() << c.event.index() << ' ' << c.count << ' ' << c.delta);
    const auto start = std::chrono::steady_clock::now();
    const LossBounds b = bounds({{c.event, c.count}}, Adjacency::add_remove, c.delta);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(std::isfinite(b.epsilon));
    EXPECT_LE(b.lower, b.epsilon);
    EXPECT_GE(b.epsilon, c.low);
    EXPECT_LE(b.epsilon, c.high);
    EXPECT_LT(took.count(), 120);  // seconds in a release build, more under sanitizers
  }
}

TEST(Pld, ReportsUnresolvedBoundsAtGridCap) {
  const LossBounds b = bounds({{PoissonGaussianEvent{1e-8, 0.5}, 1000000000}}, 1e-5);
  EXPECT_FALSE(b.resolved);
  EXPECT_GT(b.epsilon, b.lower);
  EXPECT_LT(b.epsilon, 0.1);  // of the RDP accountant: 1.07
}

// Losses so wide that a sketch of them sees nothing: the largest loss is nearly epsilon.
TEST(Pld, NeverReturnsZeroForWideLosses) {
  for (const auto& [event, delta, exact] :
       {std::tuple<Event, double, double>{ExponentialEvent{40000}, 1e-6, 39999.998},
        {ExponentialEvent{12000}, 0.1, 11999.24},
        {ExponentialEvent{2300}, 0.9, 2294.06},
        {LaplaceEvent{12000}, 0.6, 11998.17},
        {LaplaceEvent{5000}, 0.9, 4995.39}}) {
    const CountedEvent once{event};
    for (const Accountant each : {Accountant::pld, Accountant::tightest}) try {
        const double epsilon =
            epsilon_of({&once, 1}, Adjacency::replace_one, delta, {.accountant = each}).epsilon;
        EXPECT_GE(epsilon, exact * (1 - 1e-6)) << delta;
      } catch (const UnsupportedError&) {
        EXPECT_EQ(each, Accountant::pld);  // the only one that may refuse
      }
  }
}

TEST(Pld, TightestAnswersWhenPldNeedsTooManyPoints) {
  const Ledger ledgers[] = {{{LaplaceEvent{1.24588e-09}, 149385456}},
                            {{LaplaceEvent{9.6e-22}, 3}},
                            {{GaussianEvent{1}}, {PureEvent{1e-6}}},
                            {{LaplaceEvent{1e5}, 1000000000}}};
  for (const Ledger& ledger : ledgers) {
    const double best =
        epsilon_of(ledger, Adjacency::replace_one, 1e-6, {.accountant = Accountant::tightest})
            .epsilon;
    EXPECT_TRUE(std::isfinite(best) && best >= 0);
  }
}

TEST(Pld, RecoversFromTooCoarseFirstStep) {
  const Ledger ledger{{PoissonGaussianEvent{0.9, 0.5}, 500}};
  EXPECT_LT(pld_bounds(ledger, Adjacency::replace_one, 1e-6, 0.01).epsilon, 2200);
}

TEST(Pld, ReturnsSameResultFromManyThreads) {
  const auto answer = [](int k) {
    return coarse_bounds({{PoissonGaussianEvent{0.1 + 0.01 * k, 2.0}, 10 + k}, {LaplaceEvent{0.5}}},
                         Adjacency::replace_one, 1e-5)
        .epsilon;
  };
  constexpr int count = 8;
  std::array<double, count> alone{}, together{};
  for (int k = 0; k < count; ++k) alone[static_cast<std::size_t>(k)] = answer(k);
  std::vector<std::thread> threads;
  for (int k = 0; k < count; ++k)
    threads.emplace_back([&, k] {
      for (int again = 0; again < 10; ++again) together[static_cast<std::size_t>(k)] = answer(k);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alone, together);
}

// delta is below the probability of the largest loss, so epsilon is nearly their sum.
TEST(Pld, ChargesFewPureReleasesAtMostSumOfEpsilons) {
  const double e = 1e-3 * std::pow(3000, 3786 / 65535.0);
  EXPECT_TRUE(brackets(bounds({{PureEvent{e}, 11}}, 1e-6),
                       11 * e + std::log1p(-1e-6 * std::pow(1 + std::exp(-e), 11))));
  for (const double delta : {1e-6, 1e-30}) {
    const LossBounds b = bounds({{PureEvent{0.7}, 5}, {PureEvent{0.0123}, 4}}, delta);
    EXPECT_LE(b.epsilon, 5 * 0.7 + 4 * 0.0123);
    EXPECT_TRUE(b.resolved);
  }
}

// dp_accounting 0.6.0 (Google; connect-the-dots, interval 1e-4) bounds from above, as pld does;
// prv_accountant 0.2.0 (Microsoft; error 0.01) on both sides. Both were run on these events.
TEST(Pld, AgreesWithOtherNumericalAccountants) {
  struct Row {
    double rate, noise;
    std::int64_t count;
    double delta, google, google_replace_one, microsoft_low, microsoft_high;
  };
  for (const Row& r :
       {Row{0.005, 0.8, 1000, 1e-6, 2.004111734, 2.402410224, 1.993920997, 2.014295386},
        Row{256.0 / 60000, 1.1, 14062, 1e-5, 2.381685998, 4.221357803, 2.371455527, 2.391743724},
        Row{0.01, 1, 1000, 1e-5, 1.828243646, 2.843445813, 1.818107636, 1.838371636},
        Row{0.001, 0.6, 100000, 1e-6, 6.961157452, 9.517247486, 6.950489054, 6.971211863},
        Row{0.02, 4, 4000, 1e-6, 1.402793161, 2.920750140, 1.392678644, 1.412821404}}) {
    SCOPED_TRACE(testing::Message() << r.rate << ' ' << r.noise << ' ' << r.count);
    const Ledger ledger{{PoissonGaussianEvent{r.rate, r.noise}, r.count}};
    const LossBounds added = pld_bounds(ledger, Adjacency::add_remove, r.delta, 1e-4);
    const LossBounds replaced = pld_bounds(ledger, Adjacency::replace_one, r.delta, 1e-4);
    EXPECT_LE(added.lower, r.google);
    EXPECT_LE(added.epsilon, 1.0002 * r.google);
    EXPECT_LE(replaced.lower, r.google_replace_one);
    EXPECT_LE(replaced.epsilon, 1.0002 * r.google_replace_one);
    EXPECT_LE(r.microsoft_low, added.epsilon);
    EXPECT_LE(added.lower, r.microsoft_high);
  }
  const Ledger mixed{
      {PoissonGaussianEvent{0.005, 0.8}, 100}, {GaussianEvent{8}, 200}, {LaplaceEvent{0.1}, 100}};
  const LossBounds b = pld_bounds(mixed, Adjacency::add_remove, 1e-6, 1e-4);
  EXPECT_LE(b.lower, 11.149201199);
  EXPECT_LE(b.epsilon, 1.0002 * 11.149201199);
}

TEST(Pld, ChargesNothingForFreeEvents) {
  EXPECT_EQ(bounds({}, 1e-6).epsilon, 0);
  const Ledger free{{LaplaceEvent{0}, 5}, {PoissonGaussianEvent{0, 1}, 7}, {PureEvent{0}}};
  EXPECT_EQ(bounds(free, 1e-6).epsilon, 0);
  EXPECT_EQ(bounds({{GaussianEvent{1e6}}}, 1e-3).epsilon, 0);  // total variation below delta
}

TEST(Pld, RejectsUnsupportedAndUnresolvableEvents) {
  const auto refuses = [](const Event& event, std::int64_t count, double delta) {
    EXPECT_THROW(bounds({{event, count}}, delta), UnsupportedError);
  };
  EXPECT_THROW(bounds({{FixedSizeGaussianEvent{0.01, 1}, 10}}, Adjacency::add_remove, 1e-6),
               UnsupportedError);
  refuses(ZcdpEvent{0.1}, 1, 1e-6);
  refuses(GaussianEvent{1}, 1, 1e-101);
  refuses(GaussianEvent{1e-6}, 1, 1e-6);
  refuses(LaplaceEvent{1e8}, 1, 1e-6);
  refuses(PoissonGaussianEvent{0.1, 1}, 2000000000000, 1e-6);
  EXPECT_THROW(bounds({{GaussianEvent{1}}}, 0), InputError);
  EXPECT_THROW(bounds({{GaussianEvent{-1}}}, 1e-6), InputError);
  EXPECT_THROW(pld_bounds({}, Adjacency::add_remove, 1e-6, 0), InputError);
}

TEST(Pld, RejectsCountsWhoseSumOverflows) {
  // The sum wraps round to 2: epsilon would be 0.065 and is about 2e15.
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const PoissonGaussianEvent event{0.01, 1.0};
  const std::vector<CountedEvent> events{{event, largest}, {event, largest}, {event, 4}};
  EXPECT_THROW(epsilon_of(events, Adjacency::add_remove, 1e-5, {.accountant = Accountant::pld}),
               InputError);
  EXPECT_GT(
      epsilon_of(events, Adjacency::add_remove, 1e-5, {.accountant = Accountant::rdp}).epsilon,
      1e14);
}

TEST(Pld, CalibratedNoiseBarelyMeetsTarget) {
  for (const double epsilon : {0.3, 2.0, 20.0}) {
    const EventFamily family = [](double z) {
      return Ledger{{PoissonGaussianEvent{0.02, z}, 300}, {GaussianEvent{10 * z}, 2}};
    };
    const AccountOptions options{.accountant = Accountant::pld};
    const double z =
        smallest_noise_multiplier(family, Adjacency::replace_one, epsilon, 1e-6, options);
    EXPECT_LE(epsilon_of(family(z), Adjacency::replace_one, 1e-6, options).epsilon, epsilon);
    EXPECT_GT(epsilon_of(family(z * 0.99), Adjacency::replace_one, 1e-6, options).epsilon, epsilon);
  }
}

using Sample = SampledLaplaceEvent::Sample;

Composition sampled_laplace(Sample sample, double rate, double noise, std::int64_t count = 1) {
  return {.laplace = {{{sample, rate, noise}, count}}};
}

DeltaBounds delta_bounds(const Composition& c, Adjacency adjacency, double epsilon) {
  return pld_delta(c, adjacency, epsilon, kTolerance);
}

// lower <= exact <= delta, the exact value to 1e-9 of itself
testing::AssertionResult brackets_delta(const DeltaBounds& b, double exact) {
  if (b.lower <= exact * (1 + 1e-9) && exact * (1 - 1e-9) <= b.delta && b.resolved)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << exact << " is not in [" << b.lower << ", " << b.delta << "], or that is too wide";
}

// δ(ε) of (1−q)Lap(0) + qLap(a) against (1−q)Lap(0) + qLap(b) by its definition: the mass of
// (p − e^ε q)₊, constant up to a factor beyond the centres.
Profile laplace_mixtures(double rate, double scale, double a, double b) {
  return [=](double epsilon) {
    const auto density = [&](double x, double shift) {
      const auto one = [&](double centre) {
        return std::exp(-std::abs(x - centre) / scale) / (2 * scale);
      };
      return (1 - rate) * one(0) + rate * one(shift);
    };
    const auto excess = [&](double x) {
      return std::max(density(x, a) - std::exp(epsilon) * density(x, b), 0.0);
    };
    double delta = scale * (excess(1) + excess(-1));  // beyond ±1 everything falls like e^{−|x|/b}
    constexpr int cells = 100000;
    for (int k = 0; k < cells; ++k) delta += 2.0 / cells * excess(-1 + 2 * (k + 0.5) / cells);
    return delta;
  };
}

// Values of mpmath, 40 digits: the same integral by quadrature between the centres.
TEST(Pld, BracketsDeltaOfOneSampledLaplaceRelease) {
  struct Case {
    double rate, scale, epsilon, removed, added, replaced;
  };
  for (const Case& c :
       {Case{0.01, 1, 0.005, 0.00256844714455244, 7.21911551699422e-4, 0.00435579954239842},
        Case{0.1, 2, 0.02, 0.0146151078557976, 0.0106653605732318, 0.0303160213755725},
        Case{0.3, 0.5, 0.4, 0.120699844063905, 0, 0.171793158063053},
        Case{0.9, 1, 0.7, 0.103992934134303, 0.0689178183456815, 0.395703219806556}}) {
    SCOPED_TRACE(testing::Message() << c.rate << ' ' << c.scale);
    EXPECT_NEAR(laplace_mixtures(c.rate, c.scale, 1, 0)(c.epsilon), c.removed, 1e-8);
    EXPECT_NEAR(laplace_mixtures(c.rate, c.scale, 0, -1)(c.epsilon), c.added, 1e-8);
    EXPECT_NEAR(laplace_mixtures(c.rate, c.scale, 1, -1)(c.epsilon), c.replaced, 1e-8);
    const Composition once = sampled_laplace(Sample::poisson, c.rate, c.scale);
    const double dearer = std::max(c.removed, c.added);
    EXPECT_TRUE(brackets_delta(delta_bounds(once, Adjacency::add_remove, c.epsilon), dearer));
    EXPECT_TRUE(brackets_delta(delta_bounds(once, Adjacency::zero_out, c.epsilon), dearer));
    EXPECT_TRUE(brackets_delta(delta_bounds(once, Adjacency::replace_one, c.epsilon), c.replaced));
  }
}

TEST(Pld, BracketsEpsilonOfOneSampledLaplaceRelease) {
  for (const double rate : {1e-3, 0.2, 0.9})
    for (const double scale : {0.3, 1.0, 5.0})
      for (const double share : {0.5, 1e-2}) {
        SCOPED_TRACE(testing::Message() << rate << ' ' << scale << ' ' << share);
        const Composition once = sampled_laplace(Sample::poisson, rate, scale);
        const auto removed = laplace_mixtures(rate, scale, 1, 0),
                   added = laplace_mixtures(rate, scale, 0, -1),
                   replaced = laplace_mixtures(rate, scale, 1, -1);
        const auto is_between = [&](const LossBounds& b, double exact) {
          EXPECT_LE(b.lower, exact * (1 + 1e-5) + 1e-9);  // of the sum's rounding
          EXPECT_GE(b.epsilon, exact * (1 - 1e-5) - 1e-9);
          EXPECT_TRUE(b.resolved);
        };
        const double delta = share * removed(0), of_pair = share * replaced(0);
        is_between(pld_epsilon(once, Adjacency::add_remove, delta, kTolerance),
                   std::max(epsilon_at(removed, delta),
                            added(0) > delta ? epsilon_at(added, delta) : 0.0));
        is_between(pld_epsilon(once, Adjacency::replace_one, of_pair, kTolerance),
                   epsilon_at(replaced, of_pair));
      }
}

// 1000 releases, discretised with NumPy by rounding all losses up and down.
TEST(Pld, AgreesWithDiscretisedSampledLaplace) {
  const Composition c = sampled_laplace(Sample::poisson, 0.01, 1, 1000);
  for (const auto& [adjacency, low, high] :
       {std::tuple{Adjacency::add_remove, 1.12029217, 1.12601422},
        {Adjacency::replace_one, 1.98974329, 1.99546535}}) {
    const LossBounds b = pld_epsilon(c, adjacency, 1e-5, kTolerance);
    EXPECT_GE(b.epsilon, low) << name_of(adjacency);
    EXPECT_LE(b.lower, high) << name_of(adjacency);
    EXPECT_LE(b.epsilon - b.lower, 2 * kTolerance * b.epsilon) << name_of(adjacency);
    // by Rényi bounds of the pure release that it also is
    EXPECT_LT(b.epsilon, epsilon_of(with_pure_laplace(c, adjacency), adjacency, 1e-5).epsilon);
  }
}

// γ times the δ of the whole batch's Laplace noise at ln(1 + (e^ε − 1)/γ).
TEST(Pld, BracketsDeltaOfOneFixedSizeLaplaceRelease) {
  for (const double rate : {1e-3, 0.2, 0.9})
    for (const double noise : {0.3, 1.0, 5.0})
      for (const double share : {0.1, 0.9}) {
        SCOPED_TRACE(testing::Message() << rate << ' ' << noise << ' ' << share);
        const Composition once = sampled_laplace(Sample::fixed_size, rate, noise);
        const double epsilon = share * std::log1p(rate * std::expm1(1 / noise));
        const double exact = rate * laplace(1 / noise)(std::log1p(std::expm1(epsilon) / rate));
        EXPECT_TRUE(brackets_delta(delta_bounds(once, Adjacency::replace_one, epsilon), exact));
        EXPECT_THROW(delta_bounds(once, Adjacency::add_remove, epsilon), UnsupportedError);
      }
}

TEST(Pld, SampledLaplaceOfAllRecordsIsLaplace) {
  const Composition all = sampled_laplace(Sample::poisson, 1, 4, 10);
  const auto same = [](double a, double b) { EXPECT_TRUE(relative(a, b, 1e-12)); };
  same(pld_epsilon(all, Adjacency::add_remove, 1e-6, kTolerance).epsilon,
       bounds({{LaplaceEvent{0.25}, 10}}, 1e-6).epsilon);
  same(pld_epsilon(all, Adjacency::replace_one, 1e-6, kTolerance).epsilon,
       bounds({{LaplaceEvent{0.5}, 10}}, 1e-6).epsilon);
  const Composition nearly = sampled_laplace(Sample::poisson, 1 - 1e-12, 4, 10);
  EXPECT_TRUE(relative(pld_epsilon(nearly, Adjacency::replace_one, 1e-6, kTolerance).epsilon,
                       bounds({{LaplaceEvent{0.5}, 10}}, 1e-6).epsilon, 2 * kTolerance));
}

TEST(PldDelta, BracketsExactValueForGaussians) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_mu, std::uint16_t raw_epsilon) {
    const double mu = log_uniform(raw_mu, 1e-2, 30);
    const double epsilon = mu * log_uniform(raw_epsilon, 1e-2, 15);
    const double exact = gaussian_delta(epsilon, mu);
    if (exact < 1e-95) return;
    const DeltaBounds b =
        delta_bounds({.events = {{GaussianEvent{1 / mu}}}}, Adjacency::replace_one, epsilon);
    RC_ASSERT(b.delta >= exact * (1 - 1e-9));
    RC_ASSERT(b.lower <= exact * (1 + 1e-9));
    RC_ASSERT(b.resolved);
  }));
}

// What epsilon proves at delta, delta proves at epsilon, whatever is composed.
TEST(PldDelta, IsTheInverseOfEpsilon) {
  const Composition mixed{.events = {{LaplaceEvent{0.1}, 3},
                                     {PoissonGaussianEvent{0.02, 1.0}, 200},
                                     {GaussianEvent{4}, 2},
                                     {ExponentialEvent{0.2}}},
                          .laplace = {{{Sample::poisson, 0.05, 2}, 30}}};
  for (const Adjacency adjacency : {Adjacency::replace_one, Adjacency::add_remove})
    for (const double delta : {1e-5, 1e-40}) {
      SCOPED_TRACE(testing::Message() << name_of(adjacency) << ' ' << delta);
      const LossBounds e = pld_epsilon(mixed, adjacency, delta, kTolerance);
      EXPECT_LE(delta_bounds(mixed, adjacency, e.epsilon).lower, delta * (1 + 1e-6));
      const DeltaBounds dearer = delta_bounds(mixed, adjacency, e.lower);
      EXPECT_GE(dearer.delta, delta * (1 - 1e-6));
      EXPECT_LE(dearer.delta - dearer.lower, 0.02 * dearer.delta);
    }
}

// The same discretisation, of compositions: 2²¹ points, rounded up and down.
TEST(PldDelta, AgreesWithDiscretisedCompositions) {
  struct Case {
    Composition composition;
    Adjacency adjacency;
    double epsilon, low, high;
  };
  const Composition laplace = sampled_laplace(Sample::poisson, 0.01, 1, 1000);
  const Composition gaussian{.events = {{PoissonGaussianEvent{0.01, 2.0}, 1000}}};
  const Composition less_noise{.events = {{PoissonGaussianEvent{0.01, 1.0}, 1000}}};
  const Composition few{.events = {{PoissonGaussianEvent{0.2, 1.0}, 10}}};
  const Composition mixed{.events = {{LaplaceEvent{0.1}, 2},
                                     {PoissonGaussianEvent{0.01, 2.0}, 1000},
                                     {PoissonGaussianEvent{0.004, 1.0}, 300}}};
  using enum Adjacency;
  for (const Case& c :
       {Case{laplace, add_remove, 0.5, 0.00675470, 0.00705775},
        Case{laplace, replace_one, 0.5, 0.05200719, 0.05300460},
        Case{gaussian, add_remove, 1, 3.648136e-10, 4.368081e-10},
        Case{gaussian, replace_one, 1, 1.120671e-4, 1.193661e-4},
        Case{less_noise, add_remove, 2, 2.568116e-6, 2.766655e-6},
        Case{less_noise, replace_one, 2, 8.129264e-4, 8.488419e-4},
        Case{few, add_remove, 5, 9.596469e-6, 9.605916e-6},
        Case{few, replace_one, 5, 2.825087e-4, 2.827385e-4},
        Case{mixed, replace_one, 1.5, 5.194657e-6, 5.659255e-6},
        Case{{.events = {{LaplaceEvent{0.2}, 10}}}, replace_one, 1.5, 0.001994752, 0.001995286}}) {
    SCOPED_TRACE(testing::Message() << name_of(c.adjacency) << ' ' << c.epsilon << ' ' << c.low);
    const DeltaBounds b = delta_bounds(c.composition, c.adjacency, c.epsilon);
    EXPECT_GE(b.delta, c.low);
    EXPECT_LE(b.lower, c.high);
    EXPECT_LE(b.delta - b.lower, 0.01 * b.delta);
  }
}

TEST(PldDelta, IsZeroFromTheSumOfPureEpsilonsOn) {
  const Composition pure{.events = {{LaplaceEvent{0.1}, 3}}};
  EXPECT_EQ(delta_bounds(pure, Adjacency::replace_one, 0.3).delta, 0);
  const DeltaBounds below = delta_bounds(pure, Adjacency::replace_one, 0.29);
  EXPECT_GT(below.lower, 0);
  // thrice the largest loss, and more
  EXPECT_GE(below.delta, -std::expm1(-0.01) / 8);
}

// Randomised response twice, with coins: the pair of Kairouz, Oh & Viswanath written out.
TEST(Composition, OfApproximateReleasesHasTheDeltaOfItsPair) {
  const double e0 = 0.7, d0 = 1e-4, p = 1 / (1 + std::exp(-e0));
  const Composition twice = approximate_releases(e0, d0, 2);
  for (const double epsilon : {0.1, 0.6, 1.2}) {
    const double intact = p * p * -std::expm1(epsilon - 2 * e0);  // the loss 0 is below
    const double exact = 1 - (1 - d0) * (1 - d0) * (1 - intact);
    const DeltaGuarantee g =
        delta_of(twice, Adjacency::replace_one, epsilon, {.accountant = Accountant::pld});
    EXPECT_GE(g.delta, exact * (1 - 1e-9));
    EXPECT_LE(*g.lower, exact * (1 + 1e-9));
    EXPECT_LE(g.delta, exact * (1 + 2e-3));
  }
  const double coins = 1 - (1 - d0) * (1 - d0);
  const AccountOptions tightest{.accountant = Accountant::tightest};
  EXPECT_TRUE(relative(delta_of(twice, Adjacency::replace_one, 1.4, tightest).delta, coins, 1e-9));
  EXPECT_THROW(epsilon_of(twice, Adjacency::replace_one, 0.9 * coins, tightest), InputError);
  const Guarantee g = epsilon_of(twice, Adjacency::replace_one, 2 * coins, tightest);
  EXPECT_LT(g.epsilon, 1.4);
  EXPECT_GT(g.epsilon, 1.39);
}

// Every accountant's delta is one at which its epsilon is met, and no smaller one is.
TEST(Composition, DeltaOfEachAccountantIsTheLeastThatItProves) {
  const Composition c{.events = {{GaussianEvent{3}, 4}, {LaplaceEvent{0.2}}}};
  for (const Accountant accountant : {Accountant::zcdp, Accountant::rdp, Accountant::best_of}) {
    const AccountOptions options{.accountant = accountant};
    const double delta = delta_of(c, Adjacency::replace_one, 2, options).delta;
    const auto epsilon = [&](double d) {
      return epsilon_of(c, Adjacency::replace_one, d, options).epsilon;
    };
    EXPECT_LE(epsilon(delta), 2) << name_of(accountant);
    EXPECT_GT(epsilon(delta * (1 - 1e-9)), 2) << name_of(accountant);
    EXPECT_LT(delta_of(c, Adjacency::replace_one, 2, {.accountant = Accountant::tightest}).delta,
              delta);
  }
}

}  // namespace
}  // namespace dpsosp::pld_test
