// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <tuple>

#include <rapidcheck.h>

#include "pld_profiles.hpp"

namespace dpsosp::pld::delta_test {
namespace {

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
}  // namespace dpsosp::pld::delta_test
