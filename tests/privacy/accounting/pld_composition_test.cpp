// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/calibration.hpp"
#include "pld_profiles.hpp"

namespace dpsosp::pld::composition_test {
namespace {

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

}  // namespace
}  // namespace dpsosp::pld::composition_test
