// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include <rapidcheck.h>

#include "accounting/loss_distribution.hpp"
#include "pld_profiles.hpp"

namespace dpsosp::pld::pld_test {
namespace {

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

}  // namespace
}  // namespace dpsosp::pld::pld_test
