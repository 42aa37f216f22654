// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/accountant.hpp"

#include <cmath>

#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/tree.hpp"
#include "near.hpp"

namespace dpsosp::accountant_test {
namespace {

using Ledger = std::vector<CountedEvent>;
constexpr auto kReplaceOne = Adjacency::replace_one;

AccountOptions with(Accountant accountant) { return {.accountant = accountant}; }

TEST(Accountant, ChargesHalfSquaredSensitivityRatioForGaussian) {
  EXPECT_DOUBLE_EQ(zcdp(GaussianEvent{0.1 / 0.02}).value(), 0.02);
}

TEST(Accountant, ChargesHalfForGoeHessianNoise) {
  const double frobenius = 2 * 1.0 * std::sqrt(4.0) / 100;  // 2M√d/b
  const double sigma = 0.5;
  const double upper = zcdp(GaussianEvent{sigma / frobenius}).value();
  EXPECT_DOUBLE_EQ(upper, 0.0032);
  EXPECT_DOUBLE_EQ(zcdp(GaussianEvent{std::sqrt(2.0) * sigma / frobenius}).value(), upper / 2);
}

TEST(Accountant, MatchesKnownValueForGaussianExponentialMixture) {
  const Ledger ledger{{GaussianEvent{1 / std::sqrt(2 * 0.02)}}, {ExponentialEvent{0.5}}};
  const Guarantee g = epsilon_of(ledger, kReplaceOne, 1e-6, with(Accountant::zcdp));
  EXPECT_TRUE(relative(g.epsilon, 1.49131833353, 1e-11));
}

TEST(Accountant, BestOfReturnsSmallestApplicableBound) {
  const Ledger gaussian{{GaussianEvent{4}, 10}};
  EXPECT_EQ(epsilon_of(gaussian, kReplaceOne, 1e-6).accountant, "analytic");
  EXPECT_EQ(epsilon_of(gaussian, kReplaceOne, 1e-6).epsilon,
            gaussian_epsilon(1e-6, std::sqrt(10.0) / 4));

  const Ledger one{{ExponentialEvent{0.5}}};
  EXPECT_EQ(epsilon_of(one, kReplaceOne, 1e-6).accountant, "pure");
  EXPECT_EQ(epsilon_of(one, kReplaceOne, 1e-6).epsilon, 0.5);

  const Ledger mixed{{GaussianEvent{4}, 10}, {LaplaceEvent{0.1}, 3}};
  const double best = epsilon_of(mixed, kReplaceOne, 1e-6).epsilon;
  EXPECT_EQ(best, std::min(epsilon_of(mixed, kReplaceOne, 1e-6, with(Accountant::zcdp)).epsilon,
                           epsilon_of(mixed, kReplaceOne, 1e-6, with(Accountant::rdp)).epsilon));

  const Ledger sampled{{PoissonGaussianEvent{0.01, 1}, 100}};
  EXPECT_EQ(epsilon_of(sampled, kReplaceOne, 1e-6).accountant, "rdp");
}

TEST(Accountant, BestOfNamesTheFirstOfEqualBounds) {
  const Ledger nothing{{GaussianEvent{1e12}}};
  for (const Accountant each : {Accountant::analytic, Accountant::zcdp, Accountant::rdp})
    ASSERT_EQ(epsilon_of(nothing, kReplaceOne, 1e-6, with(each)).epsilon, 0);
  EXPECT_EQ(epsilon_of(nothing, kReplaceOne, 1e-6).accountant, "analytic");
}

TEST(Accountant, TightestReturnsSmallerOfBestOfAndPld) {
  const auto tightest = [](const Ledger& ledger) {
    return epsilon_of(ledger, kReplaceOne, 1e-6, with(Accountant::tightest));
  };
  EXPECT_EQ(tightest({{GaussianEvent{4}, 10}}).accountant, "analytic");
  const Guarantee sampled = tightest({{PoissonGaussianEvent{0.01, 1}, 100}});
  EXPECT_EQ(sampled.accountant, "pld");
  EXPECT_LE(sampled.lower.value(), sampled.epsilon);
  const Ledger fixed{{FixedSizeGaussianEvent{0.01, 1}, 100}};
  EXPECT_EQ(tightest(fixed).accountant, "pld");
  EXPECT_LT(tightest(fixed).epsilon, 0.8 * epsilon_of(fixed, kReplaceOne, 1e-6).epsilon);
  // The envelope of the exponential mechanism costs more than its Rényi bound in the long run.
  EXPECT_EQ(tightest({{ExponentialEvent{0.1}, 1000}}).accountant, "zcdp");
}

TEST(Accountant, RejectsUnprovableCombinations) {
  const Ledger sampled{{PoissonGaussianEvent{0.01, 1}, 100}};
  const Ledger fixed{{FixedSizeGaussianEvent{0.01, 1}, 100}};
  const Ledger gaussian{{GaussianEvent{1}}};
  EXPECT_THROW(epsilon_of(sampled, kReplaceOne, 1e-6, with(Accountant::analytic)),
               UnsupportedError);
  EXPECT_THROW(epsilon_of(sampled, kReplaceOne, 1e-6, with(Accountant::zcdp)), UnsupportedError);
  EXPECT_THROW(epsilon_of(gaussian, kReplaceOne, 1e-6, with(Accountant::pure)), UnsupportedError);
  EXPECT_THROW(epsilon_of(fixed, Adjacency::add_remove, 1e-6, with(Accountant::pld)),
               UnsupportedError);
  EXPECT_THROW(epsilon_of(fixed, Adjacency::add_remove, 1e-6, with(Accountant::tightest)),
               UnsupportedError);
  EXPECT_THROW(epsilon_of(fixed, Adjacency::add_remove, 1e-6), UnsupportedError);
  const Ledger mixed{{GaussianEvent{1}}, {LaplaceEvent{0.1}}};
  EXPECT_THROW(epsilon_of(mixed, kReplaceOne, 1e-6, with(Accountant::analytic)), UnsupportedError);
}

TEST(Accountant, ChargesNothingForEmptyLedger) {
  for (const Accountant each :
       {Accountant::zcdp, Accountant::rdp, Accountant::analytic, Accountant::pure, Accountant::pld,
        Accountant::best_of, Accountant::tightest})
    EXPECT_EQ(epsilon_of({}, kReplaceOne, 1e-6, with(each)).epsilon, 0);
}

TEST(Accountant, IgnoresHowCountsAreSplit) {
  const Ledger whole{{PoissonGaussianEvent{0.02, 1.5}, 700}};
  const Ledger parts{{PoissonGaussianEvent{0.02, 1.5}, 300},
                     {PoissonGaussianEvent{0.02, 1.5}, 400}};
  EXPECT_TRUE(relative(epsilon_of(parts, kReplaceOne, 1e-6).epsilon,
                       epsilon_of(whole, kReplaceOne, 1e-6).epsilon, 1e-14));
}

TEST(Accountant, EpsilonIsMonotoneInStepsRateNoiseAndDelta) {
  EXPECT_TRUE(
      rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise, std::uint16_t raw_steps) {
        const double rate = log_uniform(raw_rate, 1e-4, 0.5);
        const double noise = log_uniform(raw_noise, 0.4, 20);
        const int steps = 1 + raw_steps % 5000;
        const auto epsilon = [&](double q, double z, int t, double delta, Adjacency adjacency) {
          const CountedEvent event{PoissonGaussianEvent{q, z}, t};
          return epsilon_of({&event, 1}, adjacency, delta, with(Accountant::rdp)).epsilon;
        };
        for (const Adjacency adjacency : {Adjacency::add_remove, Adjacency::replace_one}) {
          const double base = epsilon(rate, noise, steps, 1e-6, adjacency);
          RC_ASSERT(epsilon(rate, noise, steps * 2, 1e-6, adjacency) >= base);
          RC_ASSERT(epsilon(rate * 1.3, noise, steps, 1e-6, adjacency) >= base);
          RC_ASSERT(epsilon(rate, noise * 1.3, steps, 1e-6, adjacency) <= base);
          RC_ASSERT(epsilon(rate, noise, steps, 1e-5, adjacency) <= base);
        }
        RC_ASSERT(epsilon(rate, noise, steps, 1e-6, Adjacency::replace_one) >=
                  epsilon(rate, noise, steps, 1e-6, Adjacency::add_remove));
      }));
}

TEST(Accountant, ReplaceOneCostsAtLeastAddRemoveInAnyOrder) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& raw, std::uint16_t raw_delta) {
    Ledger ledger;
    for (const std::uint32_t r : raw) {
      const double z = log_uniform(static_cast<std::uint16_t>(r), 0.3, 100);
      const std::int64_t count = 1 + (r >> 16) % 100;
      const double rate = 0.001 * static_cast<double>(1 + (r >> 20) % 1000);
      switch (r % 4) {
        case 0:
          ledger.push_back({GaussianEvent{z}, count});
          break;
        case 1:
          ledger.push_back({PoissonGaussianEvent{rate, z}, count});
          break;
        case 2:
          ledger.push_back({LaplaceEvent{1 / z}, count});
          break;
        default:
          ledger.push_back({ExponentialEvent{1 / z}, count});
      }
    }
    const double delta = log_uniform(raw_delta, 1e-15, 1e-2);
    const double replaced = epsilon_of(ledger, kReplaceOne, delta).epsilon;
    Ledger turned(ledger.rbegin(), ledger.rend());
    RC_ASSERT(agrees(epsilon_of(turned, kReplaceOne, delta).epsilon, replaced, 1e-9));
    RC_ASSERT(epsilon_of(ledger, Adjacency::add_remove, delta).epsilon <= replaced * (1 + 1e-9));
  }));
}

// For Gaussians the exact value is known, and every accountant that serves them must stay above it.
TEST(Accountant, StaysAboveExactGaussian) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_mu, std::uint16_t raw_delta, std::uint8_t raw_count) {
    const double mu = log_uniform(raw_mu, 1e-4, 40);
    const double delta = log_uniform(raw_delta, 1e-30, 0.5);
    const int count = 1 + raw_count % 50;
    const Ledger ledger{{GaussianEvent{std::sqrt(count) / mu}, count}};
    const double exact = gaussian_epsilon(delta, mu);
    for (const Accountant each : {Accountant::zcdp, Accountant::rdp, Accountant::pld})
      RC_ASSERT(epsilon_of(ledger, kReplaceOne, delta, with(each)).epsilon >= exact * (1 - 1e-12));
  }));
}

// Laplace noise is one pure mechanism, so whatever is proved for all of them costs at least as
// much.
TEST(Accountant, ChargesLaplaceAtMostAsPureMechanism) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_epsilon, std::uint16_t raw_count) {
    const double epsilon = log_uniform(raw_epsilon, 1e-3, 3);
    const int count = 1 + raw_count % 300;
    for (const Accountant each :
         {Accountant::zcdp, Accountant::rdp, Accountant::pure, Accountant::pld}) {
      const double of_laplace =
          epsilon_of(Ledger{{LaplaceEvent{epsilon}, count}}, kReplaceOne, 1e-6, with(each)).epsilon;
      const double of_pure =
          epsilon_of(Ledger{{PureEvent{epsilon}, count}}, kReplaceOne, 1e-6, with(each)).epsilon;
      RC_ASSERT(of_laplace <= of_pure * (1 + 2e-3));  // the width of pld
      if (each == Accountant::pld) RC_ASSERT(of_pure <= count * epsilon * (1 + 1e-3));
    }
  }));
}

TEST(Accountant, StaysFiniteAtExtremes) {
  for (const double rate : {1e-8, 1e-3, 1.0})
    for (const double noise : {0.03, 1.0, 1e4})
      for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{1000000000}})
        for (const double delta : {1e-15, 1e-2})
          for (const Adjacency adjacency : {Adjacency::replace_one, Adjacency::add_remove}) {
            const Ledger ledger{{PoissonGaussianEvent{rate, noise}, steps}};
            const double epsilon = epsilon_of(ledger, adjacency, delta).epsilon;
            EXPECT_TRUE(std::isfinite(epsilon) && epsilon >= 0)
                << rate << ' ' << noise << ' ' << steps << ' ' << delta;
          }
}

TEST(Accountant, RejectsBadInput) {
  const Ledger ledger{{GaussianEvent{1}}};
  EXPECT_THROW(epsilon_of(ledger, kReplaceOne, 0), InputError);
  EXPECT_THROW(epsilon_of(ledger, kReplaceOne, 1), InputError);
  EXPECT_THROW(epsilon_of(ledger, kReplaceOne, std::nan("")), InputError);
  EXPECT_THROW(epsilon_of(Ledger{{GaussianEvent{0}}}, kReplaceOne, 1e-5), InputError);
  EXPECT_THROW(epsilon_of(Ledger{{GaussianEvent{std::nan("")}}}, kReplaceOne, 1e-5), InputError);
  EXPECT_THROW(epsilon_of(Ledger{{GaussianEvent{1}, 0}}, kReplaceOne, 1e-5), InputError);
  EXPECT_THROW(epsilon_of(Ledger{{PoissonGaussianEvent{1.5, 1}}}, kReplaceOne, 1e-5), InputError);
  EXPECT_THROW(epsilon_of(Ledger{{ZcdpEvent{-1}}}, kReplaceOne, 1e-5), InputError);
  EXPECT_THROW(
      epsilon_of(ledger, kReplaceOne, 1e-5, {.accountant = Accountant::rdp, .orders = {1.0}}),
      InputError);
}

TEST(Tree, DepthCountsNodesAboveLeaf) {
  for (const auto& [leaves, depth] :
       {std::pair{1, 1}, {2, 2}, {3, 2}, {4, 3}, {7, 3}, {8, 4}, {100000, 17}})
    EXPECT_EQ(tree_depth(leaves), depth) << leaves;
  EXPECT_DOUBLE_EQ(tree_rho(8, 5), 4 / 50.0);
  EXPECT_THROW(tree_depth(0), InputError);
}

}  // namespace
}  // namespace dpsosp::accountant_test
