// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <rapidcheck.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "near.hpp"

namespace dpsosp::fixed_size_test {
namespace {

TEST(FixedSize, RdpMatchesKnownValues) {
  struct Row {
    double rate, noise, order, rdp;
  };
  for (const Row& r : {Row{0.01, 1, 2, 0.000543508638109}, Row{0.01, 1, 3, 0.000834872684954},
                       Row{0.01, 1, 4, 0.00114160655654}, Row{0.01, 1, 8, 0.00268416501269},
                       Row{0.01, 2, 8, 0.000468416261072}, Row{0.01, 2, 32, 0.00207930163313},
                       Row{0.1, 2, 4, 0.0243169980097}, Row{0.1, 4, 16, 0.0223912710368},
                       Row{0.001, 1, 16, 0.678267606168}})
    EXPECT_TRUE(relative(fixed_size_gaussian_rdp(r.order, r.rate, r.noise), r.rdp, 1e-11));
}

// The same bound by its definition, the alternating sum, in 200 digits.
double by_alternating_sums(int order, double rate, double noise) {
  using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<200>>;
  const Wide half = 1 / (2 * Wide(noise) * noise);
  const auto binomial = [](int n, int k) {
    Wide c = 1;
    for (int i = 1; i <= k; ++i) c = c * (n - k + i) / i;
    return c;
  };
  std::vector<Wide> differences(static_cast<std::size_t>(order + 2));
  for (int l = 2; l <= order + 1; l += 2)
    for (int i = 0; i <= l; ++i)
      differences[static_cast<std::size_t>(l)] +=
          (i % 2 == 0 ? 1 : -1) * binomial(l, i) * exp(half * (i * (i - 1)));
  const auto difference = [&](int l) { return differences[static_cast<std::size_t>(l)]; };
  const Wide e2 = exp(2 * half);
  Wide sum = Wide(rate) * rate * binomial(order, 2) * std::min<Wide>(4 * (e2 - 1), 2 * e2);
  for (int j = 3; j <= order; ++j) {
    const Wide forward = 4 * sqrt(difference(j / 2 * 2) * difference((j + 1) / 2 * 2));
    const Wide closed = 2 * exp(half * (j * (j - 1)));
    sum += pow(Wide(rate), j) * binomial(order, j) * std::min<Wide>(forward, closed);
  }
  return static_cast<double>(Wide(log(1 + sum) / (order - 1)));
}

TEST(FixedSize, MatchesAlternatingSumsInExtendedPrecision) {
  for (const double noise : {0.25, 0.3, 1.0, 4.0, 50.0, 1000.0})
    for (const double rate : {0.001, 0.1, 1.0})
      for (const int order : {2, 3, 5, 17, 40})
        EXPECT_TRUE(relative(fixed_size_gaussian_rdp(order, rate, noise),
                             by_alternating_sums(order, rate, noise), 1e-10))
            << noise << ' ' << rate << ' ' << order;
}

TEST(FixedSize, ComposedEpsilonMatchesKnownValue) {
  const CountedEvent event{FixedSizeGaussianEvent{0.01, 1, FixedSizeBound::forward_difference},
                           1000};
  const AccountOptions options{.accountant = Accountant::rdp, .orders = integer_orders(2, 64)};
  const Guarantee g = epsilon_of({&event, 1}, Adjacency::replace_one, 1e-5, options);
  EXPECT_TRUE(relative(g.epsilon, 3.57611148, 1e-8));
  EXPECT_EQ(g.order, 6);
}

TEST(FixedSize, ClosedFormMatchesLowyValues) {
  struct Row {
    double order, rdp;
  };
  for (const Row& r : {Row{2, 1.136037e-4}, Row{4, 2.328142e-4}, Row{8, 4.883930e-4},
                       Row{16, 1.069952e-3}, Row{32, 2.517182e-3}})
    EXPECT_TRUE(relative(fixed_size_gaussian_rdp_closed_form(r.order, 0.01, 2), r.rdp, 5e-7));
  const std::vector<double> orders = integer_orders(2, 64);
  std::vector<double> thousand;
  for (const double order : orders)
    thousand.push_back(1000 * fixed_size_gaussian_rdp_closed_form(order, 0.01, 2));
  const Converted bs = epsilon_from_rdp(orders, thousand, 1e-6, Conversion::bs);
  EXPECT_TRUE(relative(bs.epsilon, 1.978381, 5e-7));
  EXPECT_EQ(bs.order, 14);
  const Converted cks = epsilon_from_rdp(orders, thousand, 1e-6, Conversion::cks);
  EXPECT_TRUE(relative(cks.epsilon, 1.698240, 5e-7));
  EXPECT_EQ(cks.order, 13);
}

TEST(FixedSize, CapsChargeAtUnsampledBound) {
  EXPECT_TRUE(relative(fixed_size_gaussian_rdp(4, 1, 2), 0.961834, 1e-6));
  for (const double order : {1.5, 2.0, 4.0, 33.0, 300.0})
    EXPECT_DOUBLE_EQ(rdp(FixedSizeGaussianEvent{1, 2}, order, Adjacency::replace_one), order / 8);
}

TEST(FixedSize, ForwardDifferencesLieBetweenPoissonAndClosedForm) {
  EXPECT_TRUE(
      rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise, std::uint8_t raw_order) {
        const double rate = log_uniform(raw_rate, 1e-5, 1);
        const double noise = log_uniform(raw_noise, 0.2, 100);
        const double order = 2 + raw_order % 150 / 2.0;
        const double forward = fixed_size_gaussian_rdp(order, rate, noise);
        RC_ASSERT(forward <= fixed_size_gaussian_rdp_closed_form(order, rate, noise) * (1 + 1e-12));
        RC_ASSERT(forward >= poisson_gaussian_rdp(order, rate, noise) * (1 - 1e-12));
      }));
}

TEST(FixedSize, ChargesSmallestOfThreeBounds) {
  int weak = 0;
  for (const double noise : {0.5, 2.0, 8.0})
    for (const double rate : {0.01, 0.1, 0.9})
      for (const double order : {2.0, 3.5, 16.0, 100.0}) {
        const double forward = fixed_size_gaussian_rdp(order, rate, noise);
        const double triangle = weak_triangle_rdp(order, rate, noise);
        const double unsampled = order / (2 * noise * noise);
        const FixedSizeGaussianEvent event{rate, noise};
        EXPECT_DOUBLE_EQ(rdp(event, order, Adjacency::replace_one),
                         std::min({forward, triangle, unsampled}));
        FixedSizeGaussianEvent named = event;
        named.bound = FixedSizeBound::forward_difference;
        EXPECT_DOUBLE_EQ(rdp(named, order, Adjacency::replace_one), std::min(forward, unsampled));
        if (triangle < std::min(forward, unsampled)) ++weak;
      }
  EXPECT_GT(weak, 0);  // the weak triangle is the least somewhere
}

TEST(FixedSize, ChargeFallsWithNoiseAndGrowsWithRate) {
  EXPECT_TRUE(
      rc::check([](std::uint16_t raw_rate, std::uint16_t raw_noise, std::uint8_t raw_order) {
        const double rate = log_uniform(raw_rate, 1e-5, 0.9);
        const double noise = log_uniform(raw_noise, 0.2, 100);
        const double order = 1.5 + raw_order / 2.0;
        const auto charge = [&](double q, double z) {
          return rdp(FixedSizeGaussianEvent{q, z}, order, Adjacency::replace_one);
        };
        RC_ASSERT(charge(rate, noise * 1.1) < charge(rate, noise));
        RC_ASSERT(charge(rate * 1.1, noise) >= charge(rate, noise));
        RC_ASSERT(charge(0, noise) == 0);
      }));
}

TEST(FixedSize, CurveEqualsItsPoints) {
  const Event event = FixedSizeGaussianEvent{0.03, 1.7};
  const std::vector<double> orders{1.5, 2, 7.25, 63, 256, 256.5, 300};
  const std::vector<double> curve = rdp_curve(event, orders, Adjacency::replace_one);
  for (std::size_t i = 0; i < orders.size(); ++i)
    EXPECT_TRUE(relative(rdp(event, orders[i], Adjacency::replace_one), curve[i], 1e-11));
}

TEST(FixedSize, RejectsRelationsOtherThanReplaceOne) {
  const Event event = FixedSizeGaussianEvent{0.01, 1};
  EXPECT_THROW(rdp(event, 2, Adjacency::add_remove), UnsupportedError);
  EXPECT_THROW(rdp(event, 2, Adjacency::zero_out), UnsupportedError);
}

}  // namespace
}  // namespace dpsosp::fixed_size_test
