// SPDX-License-Identifier: Apache-2.0
// The intervals hold the truth about as often as they say, the tests reject a true null about as
// often as they may.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/students_t.hpp>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/fit.hpp"

namespace dpsosp::fit_stat_test {
namespace {

constexpr int data_sets = 600;
constexpr double slope = -0.5;

struct Noise {
  std::string name{};
  double (*draw)(Stream& stream) = nullptr;
  double shared = 0;   ///< part of a seed's slope and level that all its cells share
  double missing = 0;  ///< share of runs without a value
};

double normal(Stream& stream) { return 0.3 * stream.normal(); }
double heavy(Stream& stream) {
  return 0.3 * quantile(boost::math::students_t(3), stream.uniform());
}

std::vector<FitCell> noisy_cells(const Noise& noise, std::size_t seeds, Stream& stream) {
  std::vector<FitCell> cells;
  for (int c = 0; c < 5; ++c) cells.push_back({.x = 100 * std::pow(2.0, c)});
  for (std::size_t s = 0; s < seeds; ++s) {
    const double level = noise.shared * noise.draw(stream);
    const double tilt = noise.shared * noise.draw(stream);
    for (FitCell& cell : cells) {
      const double log_value = level + (slope + tilt) * std::log(cell.x) + noise.draw(stream);
      if (s >= 2 && stream.bernoulli(noise.missing)) {
        ++cell.failed;
        continue;
      }
      cell.seeds.push_back(s);
      cell.values.push_back(std::exp(log_value));
    }
  }
  return cells;
}

class FitCoverage : public testing::TestWithParam<std::tuple<Noise, std::size_t>> {};

// With 600 data sets the share has a standard deviation of 0.009; the numbers are fixed by the key.
TEST_P(FitCoverage, IntervalsCoverTruthAtNinetyFivePercent) {
  const auto& [noise, seeds] = GetParam();
  int slope_held = 0;
  int drift_held = 0;
  int ratio_held = 0;
  int bent = 0;
  for (std::uint64_t k = 0; k < data_sets; ++k) {
    Stream stream(StreamKey{.seed = k, .run = static_cast<std::uint32_t>(seeds)});
    const FitOptions options{.resamples = 499, .seed = k};
    const SlopeFit fit = fit_slope(noisy_cells(noise, seeds, stream), options);
    slope_held += fit.interval.contains(slope) ? 1 : 0;
    drift_held += fit.drift_interval.contains(0) ? 1 : 0;
    bent += fit.bent ? 1 : 0;

    std::vector<double> first(seeds);
    for (double& v : first) v = 2 * std::exp(noise.draw(stream));
    const std::vector<double> second(seeds, 1.0);
    ratio_held += compare("c", first, second, options).interval.contains(2) ? 1 : 0;
  }
  for (const auto& [name, held] :
       {std::pair{"slope", slope_held}, {"drift", drift_held}, {"ratio", ratio_held}}) {
    const double share = static_cast<double>(held) / data_sets;
    RecordProperty(name, std::to_string(share));
    EXPECT_GE(share, 0.90) << name;
    EXPECT_LE(share, 0.99) << name;
  }
  EXPECT_LE(bent, data_sets / 50);
}

INSTANTIATE_TEST_SUITE_P(
    EveryNoise, FitCoverage,
    testing::Combine(
        testing::Values(
            Noise{.name = "Lognormal", .draw = normal}, Noise{.name = "HeavyTails", .draw = heavy},
            Noise{.name = "LognormalShared", .draw = normal, .shared = 1},
            Noise{.name = "HeavyTailsShared", .draw = heavy, .shared = 1},
            Noise{.name = "LognormalMissing", .draw = normal, .shared = 0.3, .missing = 0.2}),
        testing::Values(5U, 8U, 20U)),
    [](const auto& instance) {
      return std::get<0>(instance.param).name + std::to_string(std::get<1>(instance.param));
    });

// Six true null hypotheses a family, exact and drawn p values. A share of 0.05 in 1000 families has
// a standard deviation of 0.007.
TEST(CompareStatistics, RejectsTrueNullFamiliesAtFivePercent) {
  constexpr int families = 1000;
  for (const int pairs : {12, 17}) {
    int rejected = 0;
    int rejected_alone = 0;
    for (std::uint64_t k = 0; k < families; ++k) {
      Stream stream(StreamKey{.seed = k, .run = static_cast<std::uint32_t>(pairs)});
      std::vector<PairedComparison> family;
      for (int c = 0; c < 6; ++c) {
        std::vector<double> first, second;
        for (int i = 0; i < pairs; ++i) {
          first.push_back(std::exp(heavy(stream)));
          second.push_back(std::exp(heavy(stream)));
        }
        family.push_back(compare("c", first, second, {.resamples = 39, .seed = 10 * k}));
      }
      adjust(family);
      const auto any = [&](double PairedComparison::*p) {
        return std::any_of(family.begin(), family.end(),
                           [p](const auto& c) { return c.*p <= 0.05; });
      };
      rejected += any(&PairedComparison::adjusted_p) ? 1 : 0;
      rejected_alone += any(&PairedComparison::p) ? 1 : 0;
    }
    EXPECT_NEAR(rejected / double{families}, 0.05, 0.025) << pairs;
    EXPECT_NEAR(rejected_alone / double{families}, 1 - std::pow(0.95, 6), 0.05) << pairs;
    RecordProperty("rejected_" + std::to_string(pairs),
                   std::to_string(rejected / double{families}));
  }
}

}  // namespace
}  // namespace dpsosp::fit_stat_test
