// SPDX-License-Identifier: Apache-2.0
// The noise of every query and of every tree node is N(0, s²) with the s that is charged. Streams
// are fixed, so each test is deterministic; bounds are set for a false-alarm rate of 1e-6.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/privacy/tree_stream.hpp"
#include "support.hpp"

namespace dpsosp::noise_stat_test {
namespace {

using namespace testing;

constexpr Index n = 10;
constexpr double C = 1.5;
constexpr double kolmogorov_1e6 = 2.7;  // sqrt(N) D exceeds this with probability 9e-7
constexpr double normal_1e6 = 4.9;      // |Z| exceeds this with probability 1e-6

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
  const double z = (squares - count) / std::sqrt(2.0 * count);
  return std::sqrt(count) * distance < kolmogorov_1e6 && std::abs(z) < normal_1e6;
}

void expect_normal_and_half_of_it_caught(const std::vector<double>& sample, double s) {
  EXPECT_TRUE(is_normal(sample, s));
  std::vector<double> planted = sample;
  for (double& x : planted) x *= 0.5;
  EXPECT_FALSE(is_normal(planted, s));
  for (double& x : planted) x *= 1.9;  // 5 % too little
  EXPECT_FALSE(is_normal(planted, s));
}

/// Standard deviation that the listed charge pays for, for a batch of 4 (or n) of n records: the
/// event's multiplier times 2C/b, or for Poisson times C over the sum's divisor.
double deviation_charged(const LedgerEntry& entry) {
  const double size = entry.policy.kind == BatchPolicy::Kind::all ? 10.0 : 4.0;
  if (const auto* e = std::get_if<GaussianEvent>(&*entry.event))
    return e->noise_multiplier * 2.0 * C / size;
  if (const auto* e = std::get_if<FixedSizeGaussianEvent>(&*entry.event))
    return e->noise_multiplier * 2.0 * C / size;
  return std::get<PoissonGaussianEvent>(*entry.event).noise_multiplier * C / size;
}

TEST(NoiseStatistics, QueriesDrawChargedNoise) {
  const std::array policies{BatchPolicy::all(), BatchPolicy::fresh(4), BatchPolicy::sample(4),
                            BatchPolicy::poisson(0.4)};
  std::uint64_t seed = 100;
  for (const Kind kind : {Kind::gradient, Kind::difference})
    for (const BatchPolicy& policy : policies)
      for (const BatchUse use : {BatchUse::one_query, BatchUse::several_queries})
        for (const Block block : {Block::x, Block::y, Block::joint}) {
          House house(Data(d + d2, n), {.seed = ++seed});
          const GradientQuery query{
              C, seed % 2 == 0 ? Noise::sensitivity_ratio(1.7) : Noise::standard_deviation(0.3),
              block};
          const bool again =
              use == BatchUse::several_queries || policy.kind == BatchPolicy::Kind::fresh;
          const Batch kept = house.curator.draw(policy, use);
          std::vector<double> sample;
          while (sample.size() < 20'000) {
            const Vector out =
                ask(house.curator, kind, again ? kept : house.curator.draw(policy, use), query);
            sample.insert(sample.end(), out.begin(), out.end());
          }
          for (const LedgerEntry& entry : house.curator.ledger().entries())
            expect_normal_and_half_of_it_caught(sample, deviation_charged(entry));
        }
}

TEST(NoiseStatistics, ChildDrawsChargedNoise) {
  House house(Data(d + d2, n), {.seed = 7});
  Curator child = house.curator.child({"c", 0.5, RecordRange{2, 6}});
  const Batch batch = child.draw(BatchPolicy::all());
  std::vector<double> sample;
  while (sample.size() < 20'000) {
    const Vector out = ask(child, Kind::gradient, batch, {C, Noise::sensitivity_ratio(2.0)});
    sample.insert(sample.end(), out.begin(), out.end());
  }
  expect_normal_and_half_of_it_caught(sample, 2.0 * 2.0 * C / 4.0);
}

TEST(NoiseStatistics, FreeReleaseIsStillNoisy) {
  House house(Data(d + d2, n), {.seed = 8});
  const Places at;
  const Batch batch = house.curator.draw(BatchPolicy::all());
  std::vector<double> sample;
  Vector out(d);
  while (sample.size() < 20'000) {
    house.curator.gradient_difference(at.to(), at.to(), batch, {C, Noise::sensitivity_ratio(2.0)},
                                      out);
    sample.insert(sample.end(), out.begin(), out.end());
  }
  expect_normal_and_half_of_it_caught(sample, 2.0 * 2.0 * C / n);
}

constexpr std::size_t leaves = 8;
constexpr double sigma = 1.3;

/// TREE(1), …, TREE(8) of many trees, every coordinate a sample.
std::array<std::vector<double>, leaves + 1> tree_noise(std::size_t trees) {
  House house(Data(d + d2, n), {.seed = 9}, zcdp_rule(1e12));
  TreeStream tree(house.curator, sigma, leaves);
  const Places at;
  const Batch batch = house.curator.draw(BatchPolicy::all());
  std::array<std::vector<double>, leaves + 1> noise;
  noise[0].assign(trees * d, 0.0);
  Vector out(d);
  for (std::size_t k = 0; k < trees; ++k) {
    tree.restart();
    for (std::size_t t = 1; t <= leaves; ++t) {
      tree.push_gradient(at.to(), batch, {C, {}}, out);
      noise[t].insert(noise[t].end(), out.begin(), out.end());
    }
  }
  return noise;
}

TEST(NoiseStatistics, TreeNodesHaveStatedDeviation) {
  const auto noise = tree_noise(10'000);
  for (std::size_t t = 1; t <= leaves; ++t) {
    const auto first =
        static_cast<std::size_t>(tree_nodes(static_cast<std::int64_t>(t)).back().first);
    std::vector<double> node = noise[t];  // the other nodes of NODE(t) are those of NODE(first − 1)
    for (std::size_t k = 0; k < node.size(); ++k) node[k] -= noise[first - 1][k];
    expect_normal_and_half_of_it_caught(node, sigma);
  }
}

TEST(NoiseStatistics, PrefixesHaveCovarianceOfSharedNodes) {
  const auto noise = tree_noise(20'000);
  const auto count = static_cast<double>(noise[1].size());
  const auto z_score = [&](std::size_t s, std::size_t t, double shared) {
    double sum = 0.0;
    for (std::size_t k = 0; k < noise[s].size(); ++k)
      sum += noise[s][k] * noise[t][k] / (sigma * sigma);
    const auto var_s = static_cast<double>(std::popcount(s));
    const auto var_t = static_cast<double>(std::popcount(t));
    return (sum - count * shared) / std::sqrt(count * (var_s * var_t + shared * shared));
  };
  for (std::size_t s = 1; s <= leaves; ++s)
    for (std::size_t t = s; t <= leaves; ++t) {
      double shared = 0.0;
      for (const auto& a : tree_nodes(static_cast<std::int64_t>(s)))
        for (const auto& b : tree_nodes(static_cast<std::int64_t>(t))) shared += a == b ? 1.0 : 0.0;
      EXPECT_LT(std::abs(z_score(s, t, shared)), normal_1e6) << s << ", " << t;
      EXPECT_GT(std::abs(z_score(s, t, shared + 1.0)), normal_1e6);  // a wrong count is seen
      EXPECT_GT(std::abs(z_score(s, t, shared - 1.0)), normal_1e6);
    }
}

}  // namespace
}  // namespace dpsosp::noise_stat_test
