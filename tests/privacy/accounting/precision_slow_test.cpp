// SPDX-License-Identifier: Apache-2.0
// 10⁴ random rows against the definitions in arbitrary precision (Boost.Multiprecision): sums with
// all their cancellation, integrals by the trapezoidal rule, roots by bisection.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "near.hpp"

namespace dpsosp::precision_slow_test {
namespace {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>>;
using Wider = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<400>>;

/// Log-uniform numbers, from one stream a test.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : stream_({.seed = seed, .purpose = Purpose::test}) {}
  double operator()(double low, double high) {
    return low * std::pow(high / low, stream_.uniform());
  }
  int whole(int low, int high) { return low + static_cast<int>(stream_.below(high - low + 1)); }

 private:
  Stream stream_;
};

template <class Number>
std::vector<Number> binomials(int n) {
  std::vector<Number> row{1};
  for (int k = 1; k <= n; ++k) row.push_back(row.back() * (n - k + 1) / k);
  return row;
}

Wide normal_tail(const Wide& x) { return boost::math::erfc(x / sqrt(Wide(2))) / 2; }

Wide gaussian_delta_by_definition(const Wide& epsilon, const Wide& mu) {
  return normal_tail(epsilon / mu - mu / 2) - exp(epsilon) * normal_tail(epsilon / mu + mu / 2);
}

// Σ_k C(a, k) (1−q)^{a−k} q^k e^{k(k−1)/(2z²)}
double poisson_by_sum(int order, double rate, double noise) {
  const std::vector<Wide> c = binomials<Wide>(order);
  const Wide q = rate, half = 1 / (2 * Wide(noise) * noise);
  Wide sum = 0;
  for (int k = 0; k <= order; ++k)
    sum += c[static_cast<std::size_t>(k)] * pow(1 - q, order - k) * pow(q, k) *
           exp(half * (k * (k - 1)));
  return static_cast<double>(Wide(log(sum) / (order - 1)));
}

// E((1−q) + qe^{(2x−1)/(2z²)})^a over N(0, z²). The integrand is analytic in a strip of width πz²
// about the real line, so that the rule with step h is off by about e^{−2π²z²/h}.
double poisson_by_integral(double order, double rate, double noise) {
  using Number = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<40>>;
  const Number a = order, q = rate, z = noise;
  const double step = std::min(noise / 6, 2 * 9.86 * noise * noise / 60);
  const int from = static_cast<int>(-12 * noise / step);
  const int to = static_cast<int>((order + 12 * noise) / step);
  Number sum = 0;
  for (int k = from; k <= to; ++k) {
    const Number x = Number(step) * k;
    sum += exp(a * log(1 + q * (exp((2 * x - 1) / (2 * z * z)) - 1)) - x * x / (2 * z * z));
  }
  sum *= step / (z * sqrt(2 * boost::math::constants::pi<Number>()));
  return static_cast<double>(Number(log(sum) / (a - 1)));
}

double fixed_size_by_alternating_sums(int order, double rate, double noise) {
  const Wider half = 1 / (2 * Wider(noise) * noise);
  std::vector<Wider> differences(static_cast<std::size_t>(order + 2));
  for (int l = 2; l <= order + 1; l += 2) {
    const std::vector<Wider> c = binomials<Wider>(l);
    for (int i = 0; i <= l; ++i)
      differences[static_cast<std::size_t>(l)] +=
          (i % 2 == 0 ? 1 : -1) * c[static_cast<std::size_t>(i)] * exp(half * (i * (i - 1)));
  }
  const auto difference = [&](int l) { return differences[static_cast<std::size_t>(l)]; };
  const std::vector<Wider> c = binomials<Wider>(order);
  const Wider e2 = exp(2 * half);
  Wider sum = Wider(rate) * rate * c[2] * std::min<Wider>(4 * (e2 - 1), 2 * e2);
  for (int j = 3; j <= order; ++j) {
    const Wider forward = 4 * sqrt(difference(j / 2 * 2) * difference((j + 1) / 2 * 2));
    const Wider closed = 2 * exp(half * (j * (j - 1)));
    sum += pow(Wider(rate), j) * c[static_cast<std::size_t>(j)] * std::min<Wider>(forward, closed);
  }
  return static_cast<double>(Wider(log(1 + sum) / (order - 1)));
}

TEST(TenThousandRows, GaussianDeltaAndEpsilonMatchTheDefinition) {  // 2 · 1500 rows
  Draw draw(1);
  for (int row = 0; row < 1500; ++row) {
    const double mu = draw(1e-4, 50), epsilon = mu * draw(1e-3, 30);
    const Wide exact = gaussian_delta_by_definition(epsilon, mu);
    if (exact > 1e-300) {
      ASSERT_TRUE(relative(gaussian_delta(epsilon, mu), static_cast<double>(exact), 1e-11))
          << epsilon << ' ' << mu;
    }
    const double delta = draw(1e-100, 0.3);
    const double least = gaussian_epsilon(delta, mu);
    if (least == 0) {
      ASSERT_LE(gaussian_delta_by_definition(0, mu), delta) << mu << ' ' << delta;
      continue;
    }
    // δ is met at the answer, to rounding, and not 10⁻¹⁰ of it below.
    ASSERT_LE(gaussian_delta_by_definition(Wide(least) * (1 + 1e-10), mu), delta) << mu;
    ASSERT_GE(gaussian_delta_by_definition(Wide(least) * (1 - 1e-10), mu), delta) << mu;
  }
}

TEST(TenThousandRows, PoissonRdpMatchesSumAtIntegerOrders) {  // 1500 rows
  Draw draw(2);
  for (int row = 0; row < 1500; ++row) {
    const int order = draw.whole(2, 256);
    const double rate = draw(1e-8, 1), noise = draw(0.05, 1000);
    ASSERT_TRUE(relative(poisson_gaussian_rdp(order, rate, noise),
                         poisson_by_sum(order, rate, noise), 1e-9))
        << order << ' ' << rate << ' ' << noise;
  }
}

TEST(TenThousandRows, PoissonRdpMatchesIntegralAtFractionalOrders) {  // 1000 rows
  Draw draw(3);
  for (int row = 0; row < 1000; ++row) {
    const double order = 1 + draw(0.01, 40), rate = draw(1e-6, 1), noise = draw(0.25, 100);
    ASSERT_TRUE(relative(poisson_gaussian_rdp(order, rate, noise),
                         poisson_by_integral(order, rate, noise), 1e-8))
        << order << ' ' << rate << ' ' << noise;
  }
}

TEST(TenThousandRows, FixedSizeRdpMatchesAlternatingSums) {  // 1000 rows
  Draw draw(4);
  for (int row = 0; row < 1000; ++row) {
    const int order = draw.whole(2, 48);
    const double rate = draw(1e-6, 1), noise = draw(0.2, 1000);
    ASSERT_TRUE(relative(fixed_size_gaussian_rdp(order, rate, noise),
                         fixed_size_by_alternating_sums(order, rate, noise), 1e-9))
        << order << ' ' << rate << ' ' << noise;
  }
}

TEST(TenThousandRows, PureRdpMatchesTheDefinitions) {  // 3 · 1000 rows
  Draw draw(5);
  for (int row = 0; row < 1000; ++row) {
    const double order = 1 + draw(1e-2, 1000), epsilon = draw(1e-6, 100);
    const Wide a = order, e = epsilon;
    const auto rdp_of = [&](const Wide& moment) {
      return static_cast<double>(Wide(log(moment) / (a - 1)));
    };
    ASSERT_TRUE(relative(
        laplace_rdp(order, epsilon),
        rdp_of(a / (2 * a - 1) * exp((a - 1) * e) + (a - 1) / (2 * a - 1) * exp(-a * e)), 1e-10))
        << order << ' ' << epsilon;
    const Wide p = 1 / (1 + exp(-e));  // randomised response
    ASSERT_TRUE(relative(pure_rdp(order, epsilon),
                         rdp_of(pow(p, a) * pow(1 - p, 1 - a) + pow(1 - p, a) * pow(p, 1 - a)),
                         1e-10))
        << order << ' ' << epsilon;
    const Wide x = e / (exp(e) - 1);
    const Wide bounded = std::min<Wide>(x - 1 - log(x) + (a - 1) * e * e / 8, e);
    ASSERT_TRUE(relative(exponential_rdp(order, epsilon), static_cast<double>(bounded), 1e-10))
        << order << ' ' << epsilon;
  }
}

TEST(TenThousandRows, ConversionOfZcdpIsTheMinimumOverOrders) {  // 1000 rows
  Draw draw(6);
  for (int row = 0; row < 1000; ++row) {
    const double rho = draw(1e-8, 100), delta = draw(1e-30, 0.1);
    const auto bound = [&](const Wide& a) {
      return Wide(a * rho + log(1 - 1 / a) - log(delta * a) / (a - 1));
    };
    // It falls and then rises in ln(a − 1).
    Wide low = log(Wide(0.01)), high = log(Wide(1e9));
    for (int k = 0; k < 250; ++k) {
      const Wide left = low + (high - low) * 0.382, right = high - (high - low) * 0.382;
      (bound(1 + exp(left)) < bound(1 + exp(right)) ? high : low) =
          bound(1 + exp(left)) < bound(1 + exp(right)) ? right : left;
    }
    const Wide least = std::max<Wide>(bound(1 + exp(low)), 0);
    ASSERT_TRUE(relative(epsilon_from_rho(rho, delta, Conversion::cks).epsilon,
                         static_cast<double>(least), 1e-9))
        << rho << ' ' << delta;
  }
}

TEST(TenThousandRows, LossDistributionsBracketOneSampledRelease) {  // 500 rows
  Draw draw(7);
  for (int row = 0; row < 500; ++row) {
    const double rate = draw(1e-3, 0.99), noise = draw(0.3, 20);
    const auto delta_at = [&](const Wide& epsilon) {  // fixed size: γ of the Gaussian's
      return Wide(
          rate * gaussian_delta_by_definition(log(1 + (exp(epsilon) - 1) / rate), 1 / Wide(noise)));
    };
    const double delta = static_cast<double>(delta_at(0)) * draw(1e-12, 0.5);
    const CountedEvent event{FixedSizeGaussianEvent{rate, noise}};
    const Guarantee g =
        epsilon_of({&event, 1}, Adjacency::replace_one, delta, {.accountant = Accountant::pld});
    ASSERT_LE(delta_at(g.epsilon), Wide(delta) * (1 + 1e-9))
        << rate << ' ' << noise << ' ' << delta;
    ASSERT_GE(delta_at(*g.lower), Wide(delta) * (1 - 1e-9)) << rate << ' ' << noise << ' ' << delta;
  }
}

}  // namespace
}  // namespace dpsosp::precision_slow_test
