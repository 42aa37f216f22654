// SPDX-License-Identifier: Apache-2.0
// Named departures: each does what it says, is labelled, and is charged what it truly costs.
#include "dpsosp/privacy/unsound_curator.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/privacy/tree_stream.hpp"
#include "support.hpp"

namespace dpsosp::unsound_test {
namespace {

using namespace testing;
using Departures = UnsoundCurator::Departures;

constexpr Index n = 10;
constexpr double C = 1.0;
const GradientQuery query{C, Noise::sensitivity_ratio(1.0)};
const Places at;

Data far_records(double norm) {
  Data data(d + d2, n);
  for (Index i = 0; i < n; ++i) set_record(data, i, Vector::Unit(d + d2, 0) * norm, at);
  return data;
}
Vector ask_all(Curator& curator, const GradientQuery& q = query) {
  return ask(curator, Kind::gradient, curator.draw(BatchPolicy::all()), q);
}
double multiplier(const Curator& curator) {
  return std::get<GaussianEvent>(*curator.ledger().entries().back().event).noise_multiplier;
}

TEST(Unsound, LabelsMatchDepartures) {
  const auto label = [](const Departures& departures) {
    return UnsoundHouse(far_records(1.0), departures).curator.label();
  };
  EXPECT_EQ(label({.no_noise = true}), PrivacyLabel::none);
  EXPECT_EQ(label({.no_data = true}), PrivacyLabel::none);
  EXPECT_EQ(label({.no_clipping = true}), PrivacyLabel::conditional);
  EXPECT_EQ(label({.no_noise = true, .no_clipping = true}), PrivacyLabel::none);
  EXPECT_EQ(label({.clip_batch_mean = true}), PrivacyLabel::violated);
  EXPECT_EQ(label({.realised_divisor = true}), PrivacyLabel::violated);
  EXPECT_EQ(label({}), PrivacyLabel::violated);  // no filter: as much as is asked for
}

TEST(Unsound, MatchesSoundCuratorBitsWithoutDepartures) {
  Stream stream({.seed = 3});
  const Data data = random_data(n, C, stream);
  House sound(data);
  UnsoundHouse unsound(data, {});
  for (const BatchPolicy& policy :
       {BatchPolicy::all(), BatchPolicy::sample(3), BatchPolicy::poisson(0.4)})
    EXPECT_TRUE(
        same_bits(ask(sound.curator, Kind::gradient, sound.curator.draw(policy), query),
                  ask(unsound.curator, Kind::gradient, unsound.curator.draw(policy), query)));
}

TEST(Unsound, ReleasesClippedMeanAtInfiniteCostWithoutNoise) {
  UnsoundHouse house(far_records(5.0), {.no_noise = true});
  EXPECT_NEAR((ask_all(house.curator) - Vector::Unit(d, 0) * C).norm(), 0.0, 1e-15);
  EXPECT_EQ(house.curator.ledger().spent(1e-6).epsilon, std::numeric_limits<double>::infinity());
}

TEST(Unsound, ChargesInfiniteCostForZeroLimitWithoutNoise) {
  const Departures departures{.no_noise = true, .no_clipping = true};
  const GradientQuery unlimited{0.0, {}};
  UnsoundHouse house(far_records(5.0), departures), with_tree(far_records(5.0), departures);
  EXPECT_NEAR(ask_all(house.curator, unlimited)[0], 5.0, 1e-14);
  EXPECT_EQ(house.curator.ledger().spent(1e-6).epsilon, std::numeric_limits<double>::infinity());
  UnsoundHouse silent(far_records(5.0), {.no_clipping = true});  // 2 · 0 · ratio: no noise either
  EXPECT_EQ(ask_all(silent.curator, unlimited)[0], 5.0);
  EXPECT_EQ(silent.curator.ledger().spent(1e-6).epsilon, std::numeric_limits<double>::infinity());
  TreeStream tree(with_tree.curator, 1.0, 2);
  Vector out(d);
  tree.push_gradient(at.to(), with_tree.curator.draw(BatchPolicy::all()), unlimited, out);
  EXPECT_NEAR(out[0], 5.0, 1e-14);
  EXPECT_EQ(with_tree.curator.ledger().spent(1e-6).epsilon,
            std::numeric_limits<double>::infinity());
}

TEST(Unsound, ReleasesBareMeanAtInfiniteCostForZeroNoise) {
  UnsoundHouse house(far_records(5.0), {});
  EXPECT_NEAR(ask_all(house.curator, {C, Noise::standard_deviation(0.0)})[0], C, 1e-15);
  EXPECT_EQ(house.curator.ledger().spent(1e-6).epsilon, std::numeric_limits<double>::infinity());
}

TEST(Unsound, UsesWholeRecordsWithoutClipping) {
  UnsoundHouse house(far_records(5.0), {.no_noise = true, .no_clipping = true});
  EXPECT_NEAR((ask_all(house.curator) - Vector::Unit(d, 0) * 5.0).norm(), 0.0, 1e-14);
}

TEST(Unsound, ReadsNothingWithoutData) {
  UnsoundHouse house(far_records(5.0), {.no_noise = true, .no_data = true});
  EXPECT_EQ(ask_all(house.curator), Vector::Zero(d));
  EXPECT_TRUE(house.records.read.empty());
}

TEST(Unsound, ChargesMeanClippingForMoveOfTwiceLimit) {
  // one record of n at ±1000 C decides the direction of the mean: sensitivity 2C, not 2C/n
  Data data = far_records(1.0), neighbour = far_records(1.0);
  set_record(data, 0, Vector::Unit(d + d2, 0) * 1000.0, at);
  set_record(neighbour, 0, Vector::Unit(d + d2, 0) * -1000.0, at);
  UnsoundHouse a(data, {.clip_batch_mean = true}), b(neighbour, {.clip_batch_mean = true});
  const double moved = (ask_all(a.curator) - ask_all(b.curator)).norm();
  EXPECT_NEAR(moved, 2.0 * C, 1e-12);
  EXPECT_NEAR(multiplier(a.curator), (1.0 * 2.0 * C / n) / moved, 1e-12);  // std over what moved
  EXPECT_NEAR(a.curator.ledger().entries().back().sensitivity_high, moved, 1e-12);
}

TEST(Unsound, ChargesRealisedDivisorAsBatchOfOne) {
  const Departures departures{.realised_divisor = true};
  const BatchPolicy policy = BatchPolicy::poisson(0.1);
  UnsoundHouse house(far_records(1.0), departures), empty(Data(d + d2, n), departures);
  for (int k = 0; k < 20; ++k) {  // the mean of equal records is that record, whatever the size
    const Vector moved = ask(house.curator, Kind::gradient, house.curator.draw(policy), query) -
                         ask(empty.curator, Kind::gradient, empty.curator.draw(policy), query);
    const double size = moved.norm();
    EXPECT_TRUE(std::abs(size) < 1e-12 || std::abs(size - C) < 1e-12) << size;
  }
  // q n = 1, so the noise asked for is 2C; replacing the record of a batch of one moves 2C
  EXPECT_NEAR(multiplier(house.curator), 1.0, 1e-12);
  const GradientQuery half{C, Noise::sensitivity_ratio(1.0)};
  ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::poisson(0.5)), half);
  EXPECT_NEAR(multiplier(house.curator), 1.0 / 5.0, 1e-12);
}

TEST(Unsound, TreeFollowsDepartures) {
  const auto leaf = [](const Departures& departures) {
    UnsoundHouse house(far_records(5.0), departures);
    TreeStream tree(house.curator, 1.0, 2);
    Vector out(d);
    tree.push_gradient(at.to(), house.curator.draw(BatchPolicy::all()), {C, {}}, out);
    const auto event = house.curator.ledger().entries().back().event;
    return std::pair(out[0], event ? std::get<GaussianEvent>(*event).noise_multiplier : 0.0);
  };
  EXPECT_NEAR(leaf({.no_noise = true}).first, C, 1e-14);
  EXPECT_NEAR(leaf({.no_noise = true, .no_clipping = true}).first, 5.0, 1e-14);
  EXPECT_EQ(leaf({.no_noise = true, .no_data = true}).first, 0.0);
  EXPECT_NEAR(leaf({}).second, n / (2.0 * C), 1e-12);
  EXPECT_NEAR(leaf({.clip_batch_mean = true}).second, 1.0 / (2.0 * C), 1e-12);
}

TEST(Unsound, NeverRefusesForBudget) {
  UnsoundHouse house(far_records(1.0), {});
  Curator child = house.curator.child({"c", 0.5});
  for (int k = 0; k < 1000; ++k)
    ASSERT_NO_THROW(ask_all(child, {C, Noise::sensitivity_ratio(1e-3)}));
  EXPECT_GT(house.curator.ledger().spent(1e-6).epsilon, 1e6);
  EXPECT_EQ(child.label(), PrivacyLabel::violated);
}

}  // namespace
}  // namespace dpsosp::unsound_test
