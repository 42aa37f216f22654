// SPDX-License-Identifier: Apache-2.0
// The noise of Hessians, products, combinations and threshold sessions is that which is charged.
// Streams are fixed; bounds are set for a false-alarm rate of 1e-6.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "second_order_support.hpp"

namespace dpsosp::second_order_stat_test {
namespace {

using namespace testing;

constexpr Index n = 10;
constexpr Index dim = 4;

/// Kolmogorov-Smirnov against N(0, s²), and the variance against s².
bool is_normal(std::vector<double> sample, double s) {
  std::ranges::sort(sample);
  const auto count = static_cast<double>(sample.size());
  double distance = 0.0, squares = 0.0;
  for (std::size_t k = 0; k < sample.size(); ++k) {
    const double p = 0.5 * std::erfc(-sample[k] / (s * std::sqrt(2.0)));
    distance = std::max(
        {distance, p - static_cast<double>(k) / count, static_cast<double>(k + 1) / count - p});
    squares += sample[k] * sample[k] / (s * s);
  }
  return std::sqrt(count) * distance < 2.7 &&
         std::abs(squares - count) / std::sqrt(2.0 * count) < 4.9;
}
void expect_normal_and_five_percent_less_caught(std::vector<double> sample, double s) {
  EXPECT_TRUE(is_normal(sample, s));
  for (double& x : sample) x *= 0.95;
  EXPECT_FALSE(is_normal(sample, s));
}

Quadratics nothing() {
  Quadratics data;
  data.hessians.assign(static_cast<std::size_t>(n), Matrix::Zero(dim, dim));
  data.slopes.assign(static_cast<std::size_t>(n), Vector::Zero(dim));
  return data;
}
/// √2 s of GOE, s of vectors: what the listed charge pays for.
double charged_deviation(const Curator& curator) {
  const LedgerEntry entry = curator.ledger().entries().front();
  return std::get<GaussianEvent>(*entry.event).noise_multiplier * entry.sensitivity_high;
}

TEST(SecondOrderNoise, HessianDrawsChargedGoe) {
  for (const Noise& noise : {Noise::sensitivity_ratio(1.7), Noise::standard_deviation(0.3)}) {
    QuadraticHouse house(nothing(), {.seed = 21});
    const Batch all = house.curator.draw(BatchPolicy::all());
    std::vector<double> diagonal, above;
    double across = 0;  // an entry with its neighbour: they are independent
    Matrix out(dim, dim);
    while (diagonal.size() < 20'000) {
      house.curator.hessian(Point(Vector::Zero(dim)), all, {1.5, 0, noise}, out);
      for (Index j = 0; j < dim; ++j)
        for (Index i = 0; i <= j; ++i) (i == j ? diagonal : above).push_back(out(i, j));
      across += out(0, 1) * out(0, 0);
    }
    const double isotropic = charged_deviation(house.curator);
    const double s = isotropic / std::numbers::sqrt2;
    expect_normal_and_five_percent_less_caught(diagonal, isotropic);
    expect_normal_and_five_percent_less_caught(above, s);
    const auto matrices = static_cast<double>(diagonal.size()) / dim;
    EXPECT_LT(std::abs(across) / (std::sqrt(matrices) * s * isotropic), 4.9);
  }
}

TEST(SecondOrderNoise, ProductAndCombinationDrawChargedNoise) {
  const Vector x = Vector::Ones(dim), y = Vector::Zero(dim);
  for (const Noise& noise : {Noise::sensitivity_ratio(1.7), Noise::standard_deviation(0.3)})
    for (const bool product : {true, false}) {
      QuadraticHouse house(nothing(), {.seed = 22});
      const Batch all = house.curator.draw(BatchPolicy::all());
      std::vector<double> sample;
      Vector out(dim);
      while (sample.size() < 20'000) {
        if (product)
          house.curator.hessian_product(Point(x), 3.0 * x, all, {1.5, noise}, out);
        else
          house.curator.gradient_combination(0.3, Point(x), Point(y), all, {1.5, 0.2, noise}, out);
        sample.insert(sample.end(), out.begin(), out.end());
      }
      expect_normal_and_five_percent_less_caught(sample, charged_deviation(house.curator));
    }
}

/// P(Lap(narrow) + Lap(wide) > t).
double tail(double t, double narrow, double wide) {
  if (t < 0) return 1 - tail(-t, narrow, wide);
  return (wide * wide * std::exp(-t / wide) - narrow * narrow * std::exp(-t / narrow)) /
         (2 * (wide * wide - narrow * narrow));
}
constexpr int runs = 20'000;
void expect_frequency(int yes, double expected) {
  const double error = std::sqrt(expected * (1 - expected) / runs);
  EXPECT_NEAR(static_cast<double>(yes) / runs, expected, 6 * error);
}

TEST(SecondOrderNoise, LineSearchDrawsChargedScales) {
  for (const double decrease : {-0.5, 0.2, 1.5}) {
    int yes = 0;
    double s = 0;
    for (int run = 0; run < runs; ++run) {
      QuadraticHouse house(nothing(), {.seed = static_cast<std::uint64_t>(run)});
      LineSearch search(house.curator, house.curator.draw(BatchPolicy::all()), Vector::Zero(dim),
                        {.epsilon = 2, .loss_limit = 1.5, .reach = 1});
      s = search.sensitivity();
      yes += search.decreases(0.5 * Vector::Unit(dim, 0), decrease) ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(s, 0.3);
    expect_frequency(yes, tail(decrease, 2 * s / 2, 4 * s / 2));
  }
}

// At Hessian and gradient zero: both thresholds are met but for the noise, each with its own.
TEST(SecondOrderNoise, PrintedSelectionsDrawChargedScales) {
  for (const SelectionForm form : {SelectionForm::two_tests, SelectionForm::independent})
    for (const SelectionScales scales : {SelectionScales::zero_out, SelectionScales::replace_one}) {
      const StationaritySpec spec{.epsilon = 8,
                                  .gradient_scale = 0.05,
                                  .curvature_scale = 0.02,
                                  .gradient_limit = 1,
                                  .hessian_limit = 0.7,
                                  .slack = 1.5,
                                  .form = form,
                                  .scales = scales,
                                  .candidates = 1,
                                  .failure = 0.9};
      int yes = 0;
      for (int run = 0; run < runs; ++run) {
        QuadraticHouse house(nothing(), {.seed = static_cast<std::uint64_t>(run)});
        StationarityTest test(house.curator, house.curator.draw(BatchPolicy::all()), spec);
        yes += test.accepts(Vector::Zero(dim)) ? 1 : 0;
      }
      double expected = 1;
      for (const auto& [limit, threshold] : {std::pair{1.0, 0.05}, std::pair{0.7, 0.02}}) {
        const double s = (scales == SelectionScales::zero_out ? 1 : 2) * limit / n;
        if (form == SelectionForm::two_tests)
          expected *= 1 - tail(threshold + 16 * std::log(2 / 0.9) * s / 8, 4 * s / 8, 8 * s / 8);
        else
          expected *= 1 - 0.5 * std::exp(-1.5 * threshold / (s / 8));
      }
      expect_frequency(yes, expected);
    }
}

}  // namespace
}  // namespace dpsosp::second_order_stat_test
