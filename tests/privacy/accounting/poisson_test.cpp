// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "near.hpp"

namespace dpsosp::poisson_test {
namespace {

AccountOptions cks_on(std::vector<double> orders) {
  return {
      .accountant = Accountant::rdp, .conversion = Conversion::cks, .orders = std::move(orders)};
}

TEST(Poisson, RdpMatchesKnownValuesAtIntegerOrders) {
  struct Row {
    double rate, noise, order, rdp;
  };
  for (const Row& r : {Row{0.01, 1, 2, 0.000171813422075}, Row{0.01, 1, 8, 0.000893643907606},
                       Row{0.01, 1, 32, 11.2462759370}, Row{0.1, 2, 4, 0.00600328296449},
                       Row{0.1, 2, 16, 0.0452918390836}, Row{0.5, 4, 8, 0.0706588542384},
                       Row{0.001, 0.8, 64, 42.9825978118}})
    EXPECT_TRUE(relative(poisson_gaussian_rdp(r.order, r.rate, r.noise), r.rdp, 1e-11));
}

TEST(Poisson, RdpKeepsSeriesSignsAtFractionalOrders) {
  struct Row {
    double rate, noise, order, rdp, sign_dropped;
  };
  for (const Row& r :
       {Row{0.01, 1, 1.5, 0.000127253743327, 0.000132368513757},
        Row{0.01, 1, 2.5, 0.000217575332282, 0.000217772025291},
        Row{0.01, 1, 10.5, 0.188339691380, 0}, Row{0.1, 2, 3.7, 0.00550405302453, 0.00550709797967},
        Row{0.1, 2, 1.25, 0.00173765484950, 0.00254726333651},
        Row{0.5, 4, 6.2, 0.0531044343799, 0.0531140028675}}) {
    const double rdp = poisson_gaussian_rdp(r.order, r.rate, r.noise);
    EXPECT_TRUE(relative(rdp, r.rdp, 1e-11));
    EXPECT_FALSE(relative(rdp, r.sign_dropped, 1e-4));  // what a dropped sign would give
  }
}

// The finite sum at integers and the integral between them are separate code.
TEST(Poisson, IntegralAndFiniteSumAgreeNearIntegers) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise,
                           std::uint8_t raw_order) {
    const double rate = log_uniform(raw_rate, 1e-6, 0.999);
    const double noise = log_uniform(raw_noise, 0.3, 100);
    const int order = 2 + raw_order % 60;
    const double at = poisson_gaussian_rdp(order, rate, noise);
    const double above = poisson_gaussian_rdp(order + 1e-9, rate, noise);
    RC_ASSERT(agrees(above, at, 2e-6));  // RDP moves by at most ~ 1e-9·(1/z²)·a relative to itself
    RC_ASSERT(above >= at * (1 - 1e-11));
  }));
}

TEST(Poisson, LogMomentIsConvexInOrder) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise,
                           std::uint16_t raw_order) {
    const double rate = log_uniform(raw_rate, 1e-6, 1);
    const double noise = log_uniform(raw_noise, 0.3, 100);
    const double order = 1.1 + log_uniform(raw_order, 0.1, 1000);
    const auto moment = [&](double a) { return (a - 1) * poisson_gaussian_rdp(a, rate, noise); };
    const double chord = (moment(order - 0.05) + moment(order + 0.05)) / 2;
    RC_ASSERT(moment(order) <= chord * (1 + 1e-12));
  }));
}

TEST(Poisson, RdpFallsWithNoiseAndGrowsWithRateAndOrder) {
  EXPECT_TRUE(
      rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise, std::uint16_t raw_order) {
        const double rate = log_uniform(raw_rate, 1e-6, 0.9);
        const double noise = log_uniform(raw_noise, 0.1, 100);
        const double order = 1 + log_uniform(raw_order, 0.1, 500);
        const double rdp = poisson_gaussian_rdp(order, rate, noise);
        RC_ASSERT(rdp > 0);
        RC_ASSERT(poisson_gaussian_rdp(order, rate, noise * 1.1) < rdp);
        RC_ASSERT(poisson_gaussian_rdp(order, rate * 1.1, noise) > rdp);
        RC_ASSERT(poisson_gaussian_rdp(order * 1.1, rate, noise) > rdp);
        RC_ASSERT(rdp <= order / (2 * noise * noise) * (1 + 1e-12));
      }));
}

// Below noise 0.1 fractional orders use the chord between integers.
TEST(Poisson, ChordBoundsRdpAtVeryLowNoise) {
  for (const double order : {1.1, 2.5, 7.9}) {
    const double exact = poisson_gaussian_rdp(order, 0.01, 0.1);
    EXPECT_GT(poisson_gaussian_rdp(order, 0.01, std::nextafter(0.1, 0.0)), exact);
    EXPECT_LT(poisson_gaussian_rdp(order, 0.01, std::nextafter(0.1, 0.0)), 5 * exact + 100);
  }
  EXPECT_TRUE(relative(poisson_gaussian_rdp(3 - 1e-12, 0.01, 0.05),
                       poisson_gaussian_rdp(3, 0.01, 0.05), 1e-10));
}

TEST(Poisson, RateZeroIsFreeAndRateOneEqualsGaussian) {
  for (const double order : {1.3, 2.0, 7.7, 64.0}) {
    EXPECT_EQ(poisson_gaussian_rdp(order, 0, 2), 0);
    EXPECT_DOUBLE_EQ(poisson_gaussian_rdp(order, 1, 2), order / 8);
    EXPECT_TRUE(relative(poisson_gaussian_rdp(order, 1 - 1e-12, 2), order / 8, 1e-10));
  }
}

TEST(Poisson, ComposedEpsilonMatchesKnownValues) {
  struct Row {
    double rate, noise;
    int steps;
    double epsilon, order;
  };
  for (const Row& r :
       {Row{0.01, 1, 1000, 2.10775307545, 8}, Row{0.01, 1.1, 10000, 5.65430800015, 5},
        Row{0.1, 4, 500, 2.55135847775, 8}, Row{0.01, 2, 1000, 0.686185336, 24}}) {
    const CountedEvent event{PoissonGaussianEvent{r.rate, r.noise}, r.steps};
    const Guarantee g =
        epsilon_of({&event, 1}, Adjacency::add_remove, 1e-5, cks_on(integer_orders(2, 64)));
    EXPECT_TRUE(relative(g.epsilon, r.epsilon, 1e-9));
    EXPECT_EQ(g.order, r.order);
  }
}

TEST(PoissonReplaceOne, MatchesKnownValues) {
  EXPECT_TRUE(relative(weak_triangle_rdp(2, 0.01, 2), 0.000128468159, 1e-8));
  EXPECT_TRUE(relative(weak_triangle_rdp(4, 0.01, 2), 0.000236015156, 1e-8));
  EXPECT_TRUE(relative(weak_triangle_rdp(8, 0.01, 2), 0.000476629112, 1e-8));
  const CountedEvent event{PoissonGaussianEvent{0.01, 2}, 1000};
  const Guarantee g =
      epsilon_of({&event, 1}, Adjacency::replace_one, 1e-5, cks_on(integer_orders(2, 64)));
  EXPECT_TRUE(relative(g.epsilon, 1.46497566, 1e-8));
  EXPECT_EQ(g.order, 13);
}

// D_a((1−q)N(0,z²) + qN(1,z²) ‖ (1−q)N(0,z²) + qN(−1,z²)): a record replaced by its opposite.
double opposite_records(double order, double rate, double noise) {
  const double step = noise / 64;
  double sum = 0;
  for (double x = -14 * noise - 1; x <= 14 * noise + 2 * order; x += step) {
    const auto mixture = [&](double shift) {
      const auto density = [&](double mean) {
        return std::exp(-(x - mean) * (x - mean) / (2 * noise * noise)) /
               (noise * std::sqrt(2 * M_PI));
      };
      return (1 - rate) * density(0) + rate * density(shift);
    };
    const double q = mixture(-1);
    if (q > 0) sum += step * q * std::expm1(order * std::log(mixture(1) / q));
  }
  return std::log1p(sum) / (order - 1);
}

TEST(PoissonReplaceOne, BoundsExactDivergenceOfOppositeRecords) {
  EXPECT_TRUE(relative(opposite_records(2, 0.01, 2), 0.000100726015, 1e-8));
  EXPECT_TRUE(relative(opposite_records(8, 0.01, 2), 0.000403165248, 1e-8));
  for (const double rate : {0.001, 0.01, 0.1, 0.5, 0.99})
    for (const double noise : {0.7, 1.0, 2.0, 8.0})
      for (const double order : {1.5, 2.0, 3.7, 8.0, 12.0}) {
        const Event event = PoissonGaussianEvent{rate, noise};
        const double exact = opposite_records(order, rate, noise);
        EXPECT_GE(rdp(event, order, Adjacency::replace_one), exact * (1 - 1e-9))
            << rate << ' ' << noise << ' ' << order;
      }
}

// At the same noise over clip norm the add/remove formula is too small under replace-one.
TEST(PoissonReplaceOne, ExceedsAddRemoveFormulaAtSameNoise) {
  EXPECT_LT(rdp(PoissonGaussianEvent{0.01, 2}, 2, Adjacency::add_remove),
            opposite_records(2, 0.01, 2));
}

TEST(PoissonReplaceOne, IsCappedByUnsampledGaussian) {
  for (const double order : {1.2, 2.0, 16.0, 1024.0})
    for (const double rate : {0.5, 1.0})
      EXPECT_LE(rdp(PoissonGaussianEvent{rate, 1}, order, Adjacency::replace_one), 2 * order);
  EXPECT_GT(weak_triangle_rdp(2, 0.99, 1), 4);  // the cap is needed
}

TEST(Poisson, ZeroOutEqualsAddRemove) {
  const Event event = PoissonGaussianEvent{0.02, 1.3};
  EXPECT_EQ(rdp(event, 6.5, Adjacency::zero_out), rdp(event, 6.5, Adjacency::add_remove));
}

TEST(Poisson, RejectsBadArguments) {
  EXPECT_THROW(poisson_gaussian_rdp(1, 0.1, 1), InputError);
  EXPECT_THROW(poisson_gaussian_rdp(2, -0.1, 1), InputError);
  EXPECT_THROW(poisson_gaussian_rdp(2, 1.1, 1), InputError);
  EXPECT_THROW(poisson_gaussian_rdp(2, 0.1, 0), InputError);
  EXPECT_THROW(poisson_gaussian_rdp(std::nan(""), 0.1, 1), InputError);
}

}  // namespace
}  // namespace dpsosp::poisson_test
