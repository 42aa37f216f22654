// SPDX-License-Identifier: Apache-2.0
// What an audit refuses of a run whatever is released, and where its random numbers come from.
#include "replay/conduct.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "subjects/instances.hpp"
#include "replay/redraw.hpp"
#include "replay/returned.hpp"
#include "replay/sources.hpp"
#include "subjects/stand_ins.hpp"

namespace dpsosp::audit::conduct_test {
namespace {

using Kind = AuditedAnswer::Kind;

Exchange paid_by(RecordRange charged, std::optional<RecordRange> read) {
  Exchange e;
  LedgerEntry entry;
  entry.query = "gradient";
  entry.event = GaussianEvent{1.0};
  entry.charged = charged;
  e.charges = {entry};
  e.asked.read = read;
  e.answer = e.noisy = Vector::Zero(1);
  return e;
}

TEST(StrayRead, IsOneOutsideOfWhatIsCharged) {
  EXPECT_EQ(stray_read({paid_by({10, 20}, RecordRange{10, 20}), paid_by({0, 5}, std::nullopt)}),
            "");
  EXPECT_NE(stray_read({paid_by({10, 20}, RecordRange{0, 10})}), "");
  EXPECT_NE(stray_read({paid_by({10, 20}, RecordRange{19, 21})}), "");
  Exchange unpaid = paid_by({10, 20}, RecordRange{12, 13});
  unpaid.charges.clear();
  EXPECT_NE(stray_read({unpaid}), "");
  EXPECT_NE(stray_read({paid_by({10, 20}, RecordRange{10, 20}), unpaid}), "");
}

TEST(Unpaid, IsANoisySumWithoutAChargeThatIsNotFree) {
  const auto answers = [](int paid, int unpaid) {
    Transcript all;
    for (int k = 0; k < paid + unpaid; ++k) {
      all.push_back(paid_by({0, 9}, std::nullopt));
      all.back().what.deviation = 0.5;
      if (k >= paid) all.back().charges.clear();
    }
    return all;
  };
  EXPECT_EQ(unpaid(answers(3, 0), 0), "");
  EXPECT_EQ(unpaid(answers(3, 2), 2), "");
  EXPECT_NE(unpaid(answers(3, 2), 1), "");
  EXPECT_NE(unpaid(answers(3, 0), 1), "");
  Transcript bare = answers(0, 1);
  bare.back().what.deviation = 0;  // limit 0: nothing to hide
  EXPECT_EQ(unpaid(bare, 0), "");
}

TEST(OtherSampling, IsOneAtAnotherRateOrFromOtherRecords) {
  const auto after = [](const Event& event, RecordRange charged, const BatchPolicy& policy) {
    Exchange e = paid_by(charged, std::nullopt);
    e.charges.back().event = event;
    e.what.path = 7;
    e.asked.secret = std::vector<Index>{4, 6};
    e.drawn = {{BatchPolicy::poisson(0.5), {0, 99}, {4, 6}, 8},  // another curator's
               {policy, {3, 9}, {5}, 7},
               {policy, {3, 9}, {4, 6}, 7}};
    return other_sampling({e});
  };
  const FixedSizeGaussianEvent third{2.0 / 6.0, 1.0, {}};
  const PoissonGaussianEvent half{0.5, 1.0};
  EXPECT_EQ(after(third, {3, 9}, BatchPolicy::sample(2)), "");
  EXPECT_NE(after(FixedSizeGaussianEvent{2.0 / 12.0, 1.0, {}}, {3, 9}, BatchPolicy::sample(2)), "");
  EXPECT_NE(after(third, {0, 12}, BatchPolicy::sample(2)), "");
  EXPECT_NE(after(third, {3, 9}, BatchPolicy::poisson(1.0 / 3.0)), "");
  EXPECT_EQ(after(half, {3, 9}, BatchPolicy::poisson(0.5)), "");
  EXPECT_NE(after(half, {3, 9}, BatchPolicy::poisson(0.6)), "");
  EXPECT_NE(after(half, {3, 9}, BatchPolicy::sample(2)), "");
  EXPECT_EQ(after(GaussianEvent{1.0}, {3, 9}, BatchPolicy::sample(2)), "");  // not amplified
}

Exchange of_session(Kind kind, std::int64_t index, double noisy) {
  static const int session = 0;
  Exchange e;
  e.what = {.kind = kind, .deviation = 1.0, .session = &session, .index = index};
  e.answer = e.noisy = Vector::Constant(1, noisy);
  return e;
}

TEST(LateQuestion, IsOneAfterAllScalarsWereBelow) {
  const Transcript two{of_session(Kind::threshold, 0, 1.0), of_session(Kind::threshold, 1, 2.0),
                       of_session(Kind::question, 0, 0.5),  of_session(Kind::question, 1, 2.5),
                       of_session(Kind::question, 0, 1.0),  of_session(Kind::question, 1, 2.0)};
  EXPECT_EQ(late_question(two), "");
  Transcript late = two;
  late.push_back(of_session(Kind::question, 0, 9.0));
  EXPECT_NE(late_question(late), "");
  Transcript again = two;  // at the address of the last
  again.push_back(of_session(Kind::threshold, 0, 1.0));
  again.push_back(of_session(Kind::question, 0, 9.0));
  EXPECT_EQ(late_question(again), "");
}

TEST(Overdrawn, IsARecordBeyondTheFiltersCapacity) {
  const FilterRule rule{Calibrator::cks, {}, 1.0, 0.25, 0.0, 0.0};
  const auto ledger = [](std::int64_t gaussians, double pure) {
    Ledger made;
    LedgerEntry entry;
    entry.query = "gradient";
    entry.event = GaussianEvent{1.0};  // half of the capacity
    entry.charged = {3, 7};
    entry.count = gaussians;
    made.append(entry);
    entry.event = PureEvent{pure};
    entry.count = 1;
    entry.pure = true;
    made.append(entry);
    return made;
  };
  EXPECT_EQ(overdrawn(ledger(2, 0.25), rule), "");
  EXPECT_NE(overdrawn(ledger(3, 0.25), rule), "");
  EXPECT_NE(overdrawn(ledger(2, 0.26), rule), "");
}

TEST(WideRule, IsOneThatKeepsMoreThanTheBudget) {
  const PrivacyBudget budget{1, 1e-6};
  FilterRule rule = filter_rule(budget, Calibrator::cks, {}, 0.25);
  EXPECT_EQ(wide_rule(rule, budget), "");
  rule.capacity *= 1.01;
  EXPECT_NE(wide_rule(rule, budget), "");
  rule = filter_rule(budget, Calibrator::cks, {}, 0.25);
  rule.pure_capacity = 1.01;
  EXPECT_NE(wide_rule(rule, budget), "");
}

/// Changes a value between the curator and the one who draws its noise again.
class Meddler final : public Auditor {
 public:
  using Change = std::function<void(const Vector& answer, VectorRef noisy)>;
  Meddler(Auditor& inner, Change change) : inner_(inner), change_(std::move(change)) {}
  void charged(const LedgerEntry& entry) override { inner_.charged(entry); }
  void answer(const AuditedAnswer& what, VectorRef value) override {
    inner_.answer(what, value);
    answer_ = value;
  }
  void noisy(VectorRef value) override {
    change_(answer_, value);
    inner_.noisy(value);
  }
  void drawn(const DrawnBatch& batch) override { inner_.drawn(batch); }

 private:
  Auditor& inner_;
  Change change_;
  Vector answer_;
};

/// What is said of a run of the audit's own questions whose releases are changed.
std::string redrawn(std::string_view key, const Meddler::Change& change) {
  const Subject subject = fast_subject(key, {8, 1e-6});
  const Neighbour records(*subject.problem->records, 0, one_of(*subject.problem->records, 0));
  const StreamKey stream{.seed = 5, .run = 7};
  Recorder recorder(records);
  Redraw redraw(recorder, records, stream, subject.release);
  Meddler meddler(redraw, change);
  ClipLog log;
  AuditedCurator curator(subject.problem->facts, records, subject.rule, stream, meddler, log,
                         subject.release ? std::make_unique<SeededWords>(stream) : nullptr);
  class : public Observer {
    void iterate(Index, ConstVectorRef) override {}
  } unheard;
  subject.algorithm->run(curator, stream_of(subject, 5), unheard);
  EXPECT_GT(redraw.redrawn(), 0) << key;
  return redraw.complaint();
}

TEST(Redraw, AgreesWithEveryKindOfAnswer) {
  for (const char* key :
       {"curator/gradients", "curator/samples", "curator/second-order", "curator/trees",
        "curator/questions", "curator/scalars", "curator/choices", "curator/children",
        "curator/gibbs", "release/gradients", "release/second-order", "release/trees"})
    EXPECT_EQ(redrawn(key, [](const Vector&, VectorRef) {}), "") << key;
}

TEST(Redraw, SeesOneBitOfOneNumber) {
  for (const char* key : {"curator/gradients", "curator/second-order", "curator/trees",
                          "curator/questions", "release/gradients", "release/trees"}) {
    int answers = 0;
    EXPECT_NE(redrawn(key,
                      [&](const Vector&, VectorRef noisy) {
                        if (++answers == 3)
                          noisy[noisy.size() - 1] = std::nextafter(
                              noisy[noisy.size() - 1], std::numeric_limits<double>::infinity());
                      }),
              "")
        << key;
  }
}

TEST(Redraw, SeesTheSignOfTheAnswerInTheLowestBit) {
  EXPECT_NE(redrawn("curator/gradients",
                    [](const Vector& answer, VectorRef noisy) {
                      const auto bits = std::bit_cast<std::uint64_t>(noisy[0]) & ~std::uint64_t{1};
                      noisy[0] = std::bit_cast<double>(bits | (answer[0] > 0 ? 1U : 0U));
                    }),
            "");
}

TEST(Keys, GiveOtherDrawsForEveryBit) {
  EXPECT_EQ(complaint_of_keys(), "");
  const auto masked = [](const auto& mask) {
    return complaint_of_keys([&](StreamKey key) {
      mask(key);
      return draws_of_curator(key);
    });
  };
  EXPECT_NE(masked([](StreamKey& key) { key.seed &= 0xffff; }), "");
  EXPECT_NE(masked([](StreamKey& key) { key.seed &= ~(std::uint64_t{1} << 41U); }), "");
  EXPECT_NE(masked([](StreamKey& key) { key.run = 0; }), "");
  EXPECT_NE(masked([](StreamKey& key) { key.path >>= 1U; }), "");
}

TEST(Keys, GiveOtherDrawsForEachPurpose) {
  for (const char* purpose : {"noise", "choices", "sample batch", "poisson batch"}) {
    const auto draws = [&](const StreamKey& key) {
      StreamKey cut = key;
      cut.seed &= ~(std::uint64_t{1} << 63U);
      std::vector<Drawn> all = draws_of_curator(key), wrong = draws_of_curator(cut);
      for (std::size_t k = 0; k < all.size(); ++k)
        if (all[k].what.starts_with(purpose)) all[k].numbers = wrong[k].numbers;
      return all;
    };
    EXPECT_NE(complaint_of_keys(draws).find(purpose), std::string::npos) << purpose;
  }
}

TEST(Keys, GiveOtherDrawsForEachCurator) {
  EXPECT_NE(complaint_of_keys([](const StreamKey& key) {
              std::vector<Drawn> all = draws_of_curator(key);
              all.push_back(all.front());
              all.back().what = "noise of its first child";
              return all;
            }),
            "");
}

/// Words of a seeded stream.
class Words final : public WordSource {
 public:
  explicit Words(std::uint64_t seed, std::uint64_t period = 0)
      : stream_({.seed = seed}), period_(period) {}
  std::uint64_t bits() override {
    if (period_ > 0 && stream_.position() == period_) stream_ = begin_;
    return stream_.bits();
  }

 private:
  Stream stream_, begin_ = stream_;
  std::uint64_t period_;
};

TEST(SystemEntropy, HasNoRepeatAmongSourcesAndWords) {
  constexpr std::int64_t sources = 1 << 14, words = 1 << 20;
  EXPECT_EQ(complaint_of_entropy(sources, words), "");
  for (const unsigned bits : {16U, 24U}) {
    Stream stream({.seed = bits});
    const auto few = [&] {  // expanded from so few random bits
      return std::make_unique<Words>(stream.bits() >> (64 - bits));
    };
    EXPECT_NE(complaint_of_entropy(sources, words, few), "") << bits;
  }
  Stream stream({.seed = 3});
  for (const std::uint64_t period : {256U, 1U << 19})
    EXPECT_NE(complaint_of_entropy(sources, words,
                                   [&] { return std::make_unique<Words>(stream.bits(), period); }),
              "")
        << period;
  class Odd final : public WordSource {
   public:
    explicit Odd(std::uint64_t seed) : stream_({.seed = seed}) {}
    std::uint64_t bits() override { return stream_.bits() | 1U; }

   private:
    Stream stream_;
  };
  EXPECT_NE(
      complaint_of_entropy(sources, words, [&] { return std::make_unique<Odd>(stream.bits()); }),
      "");
}

TEST(Release, HasNoiseThatNothingDecides) {
  EXPECT_EQ(complaint_of_release([](const RunDescription& run) { return compute_release(run); }),
            "");
  EXPECT_NE(complaint_of_release([](const RunDescription& run) {
              Release release = compute_release(run);
              release.point = compute_run(run).point.value();  // seeded by the key
              return release;
            }),
            "");
}

TEST(Result, IsThatOfTheAlgorithm) {
  const auto compute = [](const RunDescription& run) { return compute_run(run); };
  EXPECT_EQ(complaint_of_result("wang-ye-xu-2017/dp-gd", compute), "");
  EXPECT_EQ(complaint_of_result("ganesh-2023/stochastic-spider", compute), "");
  EXPECT_NE(complaint_of_result("wang-ye-xu-2017/dp-gd",
                                [&](const RunDescription& run) {
                                  RunResult result = compute(run);
                                  result.point->front() += 1e-15;
                                  return result;
                                }),
            "");
}

}  // namespace
}  // namespace dpsosp::audit::conduct_test
