// SPDX-License-Identifier: Apache-2.0
#include "noise/noise_check.hpp"

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::audit::noise_check_test {
namespace {

Stream stream_of(std::uint64_t seed) { return Stream({.seed = seed, .purpose = Purpose::test}); }

/// The noise of draw k of a run, from standard numbers.
using Spoil = std::function<void(std::size_t k, Vector& noise)>;

NoiseCheck after_runs(const Spoil& spoil) {
  NoiseCheck check;
  for (std::uint64_t run = 0; run < 100; ++run) {
    Stream stream = stream_of(run);
    Transcript transcript;
    for (std::size_t k = 0; k < 40; ++k) {
      Exchange e;
      e.what.deviation = 0.3;
      LedgerEntry entry;
      entry.query = "gradient";
      e.charges = {entry};
      Vector noise(5);
      stream.fill_normal(1.0, noise);
      spoil(k, noise);
      e.answer = Vector::Constant(5, 0.7);
      e.noisy = e.answer + 0.3 * noise;
      transcript.push_back(e);
    }
    check.see(transcript, stream_of(1000 + run));
  }
  return check;
}

TEST(NoiseCheck, PassesIndependentStandardNoise) {
  EXPECT_EQ(after_runs([](std::size_t, Vector&) {}).complaint(), "");
}

TEST(NoiseCheck, DetectsWhatIsNotFinite) {
  for (const double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    EXPECT_NE(after_runs([&](std::size_t k, Vector& z) {
                if (k == 7) z[2] = wrong;
              }).complaint(),
              "");
}

TEST(NoiseCheck, DetectsNoiseWhoseSquaresOverflow) {
  NoiseCheck check;
  Exchange e;
  e.what.deviation = 0.3;
  e.answer = Vector::Zero(3);
  e.noisy = Vector{{0.2, -1e200, 0.1}};
  check.see({e}, stream_of(1));
  EXPECT_NE(check.complaint(), "");
}

/// A leaf's node is what is new in its sum, so a sum that is lost leaves later ones without.
TEST(NoiseCheck, DetectsLeavesThatAreNotFinite) {
  Transcript transcript;
  for (std::int64_t leaf = 1; leaf <= 4; ++leaf) {
    Exchange e;
    e.what = {.kind = AuditedAnswer::Kind::prefix, .deviation = 1.0, .index = leaf};
    e.answer = Vector::Zero(3);
    e.noisy = Vector::Constant(3, leaf == 2 ? std::nan("") : 0.5);
    transcript.push_back(e);
  }
  NoiseCheck check;
  check.see(transcript, stream_of(1));
  EXPECT_NE(check.complaint().find("not finite"), std::string::npos) << check.complaint();
}

TEST(Complaint, IsOfAProbabilityThatIsNoNumber) {
  EXPECT_NE(complaint_of({{std::nan(""), "lost"}, {0.5, "usual"}}), "");
  EXPECT_NE(complaint_of({{0.5, "usual"}, {std::nan(""), "lost"}}), "");
}

TEST(NoiseCheck, DetectsFaultsThatKeepTotalVariance) {
  Vector last = Vector::Zero(5), before = last;
  const std::vector<Spoil> faults{
      [&](std::size_t, Vector& z) {  // a mean of two draws
        const Vector own = z;
        z = (z + last) / std::numbers::sqrt2;
        last = own;
      },
      [&](std::size_t, Vector& z) {  // every other draw of a mean
        const Vector own = z;
        z = (z - before) / std::numbers::sqrt2;
        before = last;
        last = own;
      },
      [&](std::size_t, Vector& z) {  // overlapping draws
        z[0] = last[4];
        last = z;
      },
      [](std::size_t, Vector& z) { z[1] = -z[0]; },  // half as many numbers
      [](std::size_t, Vector& z) {                   // a coordinate that is nearly bare
        z[0] *= 0.5;
        z[4] *= std::sqrt(1.75);
      },
      [](std::size_t k, Vector& z) {  // a bold first draw, among forty
        if (k == 0) z *= 0.5;
      }};
  for (std::size_t k = 0; k < faults.size(); ++k) {
    last = before = Vector::Zero(5);
    EXPECT_NE(after_runs(faults[k]).complaint(), "") << "fault " << k;
  }
}

/// Runs of matrices of GOE noise, of which one triangle is changed.
TEST(NoiseCheck, DetectsTrianglesWithNoiseOfTheirOwn) {
  for (const bool symmetric : {true, false}) {
    NoiseCheck check;
    Stream stream = stream_of(8);
    Transcript transcript;
    for (int k = 0; k < 50; ++k) {
      Matrix noise = Matrix::Zero(4, 4);
      for (Index j = 0; j < 4; ++j)
        for (Index i = 0; i <= j; ++i) {
          noise(i, j) = (i == j ? std::numbers::sqrt2 : 1.0) * stream.normal();
          noise(j, i) = symmetric || i == j ? noise(i, j) : stream.normal();
        }
      Exchange e;
      e.what = {.kind = AuditedAnswer::Kind::matrix, .deviation = 1.0};
      e.answer = Vector::Zero(16);
      e.noisy = Eigen::Map<const Vector>(noise.data(), 16);
      transcript.push_back(e);
    }
    check.see(transcript, stream_of(1000));
    EXPECT_EQ(check.complaint().empty(), symmetric) << check.complaint();
  }
}

TEST(NoiseCheck, DetectsGridOfTenDigits) {
  for (const bool fine : {true, false}) {
    NoiseCheck check;
    for (std::uint64_t run = 0; run < 10; ++run) {
      Stream stream = stream_of(run);
      Exchange e;
      e.what.deviation = 0.3;
      Vector noise(100'000);
      stream.fill_normal(1.0, noise);
      if (!fine)
        for (double& z : noise) z = std::nearbyint(z * 0x1p33) * 0x1p-33;
      e.answer = Vector::Constant(noise.size(), 0.7);
      e.noisy = e.answer + 0.3 * noise;
      check.see({e}, stream_of(1000 + run));
    }
    EXPECT_EQ(check.complaint().empty(), fine) << check.complaint();
  }
}

/// Choices among six candidates, numbered with gaps, drawn at a multiple of the temperature.
ChoiceCheck after_choices(int choices, double multiple) {
  ChoiceCheck check;
  Stream stream = stream_of(5);
  for (int k = 0; k < choices; ++k) {
    Transcript race;
    std::vector<double> up_to;
    double total = 0;
    for (int candidate = 0; candidate < 6; ++candidate) {
      Exchange e;
      e.what = {.kind = AuditedAnswer::Kind::score, .deviation = 0.5, .index = 2 * candidate + 1};
      e.answer = Vector::Constant(1, candidate == 3 ? 0.0 : stream.uniform());
      up_to.push_back(total += std::exp(-e.answer[0] / (0.5 * multiple)));
      race.push_back(e);
    }
    const auto chosen = std::ranges::lower_bound(up_to, total * stream.uniform()) - up_to.begin();
    race.back().noisy = Vector::Constant(1, static_cast<double>(2 * chosen + 1));
    check.see(race);
  }
  return check;
}

TEST(ChoiceCheck, DetectsWrongTemperature) {
  for (const int choices : {1, 10, 20'000})
    EXPECT_EQ(after_choices(choices, 1.0).complaint(), "") << choices;
  EXPECT_NE(after_choices(20'000, 1 / 1.25).complaint(), "");
  EXPECT_NE(after_choices(20'000, 1.25).complaint(), "");
  EXPECT_NE(after_choices(500, 1e-3).complaint(), "");
}

/// Runs of `batches` batches from `records`; \param draw  members of the next one
BatchCheck after_batches(int runs, int batches, Index records, const BatchPolicy& policy,
                         const Event& event,
                         const std::function<std::vector<Index>(int batch, Stream&)>& draw) {
  BatchCheck check;
  for (int run = 0; run < runs; ++run) {
    Stream stream = stream_of(static_cast<std::uint64_t>(run));
    Transcript transcript;
    for (int k = 0; k < batches; ++k) {
      Exchange e;
      LedgerEntry entry;
      entry.policy = policy;
      entry.event = event;
      entry.charged = {0, records};
      e.charges = {entry};
      e.asked.secret = draw(k, stream);
      transcript.push_back(e);
    }
    check.see(transcript);
  }
  return check;
}

TEST(BatchCheck, DetectsWrongFixedSizeSampling) {
  const BatchPolicy policy = BatchPolicy::sample(4);
  const Event event = FixedSizeGaussianEvent{0.2, 1.0, {}};
  const auto after = [&](int runs, int batches, const auto& draw) {
    return after_batches(runs, batches, 20, policy, event, draw).complaint();
  };
  const auto sound = [](int, Stream& s) { return s.subset(20, 4); };
  for (const int batches : {1, 2, 5, 60}) EXPECT_EQ(after(200, batches, sound), "") << batches;
  const auto first_ones = [](int, Stream&) { return std::vector<Index>{0, 1, 2, 3}; };
  const auto cut_up = [](int batch, Stream&) {
    std::vector<Index> piece(4);
    std::iota(piece.begin(), piece.end(), 4 * (batch % 5));
    return piece;
  };
  const auto drawn_once = [kept = std::vector<Index>()](int batch, Stream& s) mutable {
    if (batch == 0) kept = s.subset(20, 4);
    return kept;
  };
  EXPECT_NE(after(20, 10, first_ones), "");
  EXPECT_NE(after(20, 10, cut_up), "");
  EXPECT_NE(after(20, 10, drawn_once), "");
}

TEST(BatchCheck, DetectsReadingThatIsNotCharged) {
  Exchange e;
  e.what.deviation = 0.5;
  e.asked.secret = std::vector<Index>{3, 5};
  BatchCheck check;
  check.see({e});
  EXPECT_NE(check.complaint().find("not charged"), std::string::npos);
}

TEST(BatchCheck, RejectsSoundBatchesNoMoreOftenThanStated) {
  constexpr int experiments = 20'000;
  constexpr double level = 1e-3;
  const auto coins = [](double rate) {
    return [rate](int, Stream& s) {
      std::vector<Index> members;
      for (Index i = 0; i < 16; ++i)
        if (s.uniform() < rate) members.push_back(i);
      return members;
    };
  };
  const auto rejected = [&](const BatchPolicy& policy, const Event& event, int batches, auto draw) {
    std::map<std::string, int> often;
    for (int k = 0; k < experiments; ++k) {
      const auto check = after_batches(1, batches, 16, policy, event, [&](int batch, Stream&) {
        Stream own({.seed = static_cast<std::uint64_t>(k), .run = 77});
        own = own.child(static_cast<std::uint64_t>(batch));
        return draw(batch, own);
      });
      for (const Finding& finding : check.findings())
        often[finding.what.substr(0, 20)] += finding.p < level ? 1 : 0;
    }
    int most = 0;
    for (const auto& [what, times] : often) most = std::max(most, times);
    return most;
  };
  // Findings of one kind that share their first words are two at most; 20 expected of each.
  EXPECT_LE(rejected(BatchPolicy::poisson(0.5), PoissonGaussianEvent{0.5, 1.0}, 10, coins(0.5)),
            80);
  EXPECT_LE(rejected(BatchPolicy::poisson(0.1), PoissonGaussianEvent{0.1, 1.0}, 40, coins(0.1)),
            80);
  EXPECT_LE(rejected(BatchPolicy::sample(8), FixedSizeGaussianEvent{0.5, 1.0, {}}, 10,
                     [](int, Stream& s) { return s.subset(16, 8); }),
            80);
}

/// The size of a batch from one record, by a coin that is nearly fair, has a square that hardly
/// varies: rounding makes that variance negative.
TEST(BatchCheck, PassesOneRecordByANearlyFairCoin) {
  constexpr double rate = 0.49999999999888983;
  const auto check = after_batches(
      3, 5, 1, BatchPolicy::poisson(rate), PoissonGaussianEvent{rate, 1.0}, [](int batch, Stream&) {
        return batch % 2 == 0 ? std::vector<Index>{0} : std::vector<Index>{};
      });
  EXPECT_EQ(check.complaint(), "");
}

TEST(BatchCheck, DetectsWrongPoissonSampling) {
  const auto after = [](double rate, const auto& draw) {
    return after_batches(200, 10, 20, BatchPolicy::poisson(rate), PoissonGaussianEvent{rate, 1.0},
                         draw)
        .complaint();
  };
  for (const double rate : {0.004, 0.2, 0.9})
    EXPECT_EQ(after(rate,
                    [rate](int, Stream& s) {
                      std::vector<Index> members;
                      for (Index i = 0; i < 20; ++i)
                        if (s.uniform() < rate) members.push_back(i);
                      return members;
                    }),
              "")
        << rate;
  EXPECT_NE(after(0.2, [](int, Stream& s) { return s.subset(20, 4); }), "");
  const auto one_coin_for_two = [](int, Stream& s) {
    std::vector<Index> members;
    for (Index i = 0; i < 20; i += 2)
      if (s.uniform() < 0.2) members.insert(members.end(), {i, i + 1});
    return members;
  };
  EXPECT_NE(after(0.2, one_coin_for_two), "");  // by sizes
  // Sizes of the right mean and variance, of which none is the mean or near it.
  const auto never_near_the_mean = [](int, Stream& s) {
    return s.subset(20, s.bernoulli(0.8) ? (s.bernoulli(0.5) ? 2 : 6) : 4);
  };
  EXPECT_NE(after(0.2, never_near_the_mean).find("members"), std::string::npos);
}

}  // namespace
}  // namespace dpsosp::audit::noise_check_test
