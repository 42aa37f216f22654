// SPDX-License-Identifier: Apache-2.0
// An attacker who must tell two neighbouring data sets apart. From how often each release falls
// beyond fixed thresholds follows a lower bound on ε that holds with probability 1 − 1e-6; it must
// not exceed the ε that is charged. Each audit also meets a mechanism with a planted fault, which
// it must catch.
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <boost/math/distributions/binomial.hpp>

#include "support.hpp"

namespace dpsosp::audit_stat_test {
namespace {

using namespace testing;

constexpr Index n = 8;
constexpr double C = 1.0;
constexpr double delta = 0.01;
constexpr int runs = 100'000;
constexpr std::array thresholds{0.5, 1.0, 1.5,
                                2.0, 2.5, 3.0};  // in std from the midpoint, either side
constexpr double false_alarm = 1e-6 / (2 * 2 * 2 * thresholds.size());

using Binomial = boost::math::binomial_distribution<>;

/// ln((p − δ)/q) for events counted `high` times on one side and `low` times on the other, both
/// proportions at the ends of their Clopper-Pearson intervals.
double epsilon_from_counts(int high, int low) {
  if (high == 0) return 0.0;
  const double p = Binomial::find_lower_bound_on_p(runs, high, false_alarm);
  const double q = low == runs ? 1.0 : Binomial::find_upper_bound_on_p(runs, low, false_alarm);
  return p <= delta ? 0.0 : std::max(0.0, std::log((p - delta) / q));
}

/// Lower bound on ε at δ from `runs` scores under each data set.
template <class Score>
double audited_epsilon(Score score_a, Score score_b) {
  std::array<std::array<int, 2 * thresholds.size()>, 2> beyond{};
  for (int k = 0; k < runs; ++k)
    for (std::size_t side = 0; side < 2; ++side) {
      const double s = side == 0 ? score_a() : score_b();
      for (std::size_t j = 0; j < thresholds.size(); ++j) {
        beyond[side][2 * j] += s > thresholds[j] ? 1 : 0;
        beyond[side][2 * j + 1] += s < -thresholds[j] ? 1 : 0;
      }
    }
  double best = 0.0;
  for (std::size_t j = 0; j < 2 * thresholds.size(); ++j)
    best = std::max({best, epsilon_from_counts(beyond[0][j], beyond[1][j]),
                     epsilon_from_counts(beyond[1][j], beyond[0][j])});
  return best;
}

struct Attack {
  BatchPolicy policy = BatchPolicy::all();
  double norm = C;      ///< of the record that differs: +norm here, −norm there
  double others = 0.0;  ///< of every other record
  double ratio = 1.0;   ///< noise asked for, std over sensitivity
};

/// Releases of either data set, scored along the direction in which they differ.
template <class AnyHouse, class... Departures>
double audit(const Attack& attack, double claimed_ratio, const Departures&... departures) {
  const Places at;
  const auto data = [&](double sign) {
    Data made(d + d2, n);
    for (Index i = 1; i < n; ++i) set_record(made, i, Vector::Unit(d + d2, 0) * attack.others, at);
    set_record(made, 0, Vector::Unit(d + d2, 0) * sign * attack.norm, at);
    return made;
  };
  AnyHouse a(data(1.0), departures..., StreamKey{.seed = 21}),
      b(data(-1.0), departures..., StreamKey{.seed = 22});
  const double scale = claimed_ratio * 2.0 * C / attack.policy.divisor(n);
  const auto score = [&](AnyHouse& house) {
    return [&, batch = house.curator.draw(attack.policy)]() mutable {
      if (attack.policy.kind != BatchPolicy::Kind::all) batch = house.curator.draw(attack.policy);
      return ask(house.curator, Kind::gradient, batch,
                 {C, Noise::sensitivity_ratio(attack.ratio)})[0] /
             scale;
    };
  };
  return audited_epsilon(score(a), score(b));
}

double charged_epsilon(const BatchPolicy& policy, double ratio) {
  const GaussianPlan plan =
      plan_gaussian(policy, BatchUse::one_query, n, C, Noise::sensitivity_ratio(ratio));
  const CountedEvent event{*plan.event, 1};
  return epsilon_of({&event, 1}, Adjacency::replace_one, delta).epsilon;
}

TEST(Audit, ConfirmsFullBatchChargeAndDetectsHalvedNoise) {
  const double charged = charged_epsilon(BatchPolicy::all(), 1.0);
  const double audited = audit<House>({}, 1.0);
  EXPECT_LE(audited, charged);
  EXPECT_GE(audited, 0.7 * charged);  // and the attack has power
  EXPECT_LE((audit<House>({.norm = 100.0 * C}, 1.0)), charged);
  EXPECT_GT((audit<House>({.ratio = 0.5}, 1.0)), charged);  // planted
}

TEST(Audit, ConfirmsAmplifiedChargeAndDetectsQuarteredNoise) {
  for (const BatchPolicy& policy : {BatchPolicy::sample(4), BatchPolicy::poisson(0.5)}) {
    const double charged = charged_epsilon(policy, 1.0);
    EXPECT_LT(charged, charged_epsilon(BatchPolicy::all(), 0.7));
    EXPECT_LE((audit<House>({.policy = policy}, 1.0)), charged);
    EXPECT_GT((audit<House>({.policy = policy, .ratio = 0.25}, 1.0)), charged);  // planted
  }
}

TEST(Audit, DetectsMissingClip) {
  const double claimed = charged_epsilon(BatchPolicy::all(), 1.0);
  const Attack far{.norm = 100.0 * C};
  EXPECT_LE((audit<House>(far, 1.0)), claimed);
  EXPECT_GT((audit<UnsoundHouse>(far, 1.0, UnsoundCurator::Departures{.no_clipping = true})),
            claimed);
}

TEST(Audit, DetectsClippingOfMeanInsteadOfRecords) {
  const double claimed = charged_epsilon(BatchPolicy::all(), 1.0);
  const Attack far{.norm = 100.0 * C, .others = C};
  EXPECT_LE((audit<House>(far, 1.0)), claimed);
  EXPECT_GT((audit<UnsoundHouse>(far, 1.0, UnsoundCurator::Departures{.clip_batch_mean = true})),
            claimed);
}

}  // namespace
}  // namespace dpsosp::audit_stat_test
