// SPDX-License-Identifier: Apache-2.0
// What an audit refuses of a run whatever is released, and where its random numbers come from.
#include "conduct.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "instances.hpp"
#include "redraw.hpp"
#include "returned.hpp"
#include "sources.hpp"
#include "stand_ins.hpp"

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
}

Exchange of_session(Kind kind, std::int64_t index, double noisy) {
  static const int session = 0;
  Exchange e;
  e.what = {.kind = kind, .deviation = 1.0, .session = &session, .index = index};
  e.answer = e.noisy = Vector::Constant(1, noisy);
  return e;
}

TEST(LateQuestion, IsOneAfterAllScalarsWereBelow) {
  const Transcript two{of_session(Kind::threshold, 0, 1.0),
                       of_session(Kind::threshold, 1, 2.0),
                       of_session(Kind::question, 0, 0.5),
                       of_session(Kind::question, 1, 2.5),
                       of_session(Kind::question, 0, 1.0),
                       of_session(Kind::question, 1, 2.0)};
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

 private:
  Auditor& inner_;
  Change change_;
  Vector answer_;
};

/// What is said of a run of the audit's own questions whose releases are changed.
std::string redrawn(std::string_view key, const Meddler::Change& change) {
  const Subject subject = fast_subject(key, {8, 1e-6});
  const Neighbour records(*subject.problem.records, 0, one_of(*subject.problem.records, 0));
  const StreamKey stream{.seed = 5, .run = 7};
  Recorder recorder(records);
  Redraw redraw(recorder, stream, subject.release);
  Meddler meddler(redraw, change);
  ClipLog log;
  AuditedCurator curator(subject.problem.facts,
                         records,
                         subject.rule,
                         stream,
                         meddler,
                         log,
                         subject.release ? std::make_unique<SeededWords>(stream) : nullptr);
  class : public Observer {
    void iterate(Index, ConstVectorRef) override {}
  } unheard;
  subject.algorithm->run(curator, stream_of(subject, 5), unheard);
  EXPECT_GT(redraw.redrawn(), 0) << key;
  return redraw.complaint();
}

TEST(Redraw, AgreesWithEveryKindOfAnswer) {
  for (const char* key : {"curator/gradients",
                          "curator/samples",
                          "curator/second-order",
                          "curator/trees",
                          "curator/questions",
                          "curator/scalars",
                          "release/gradients",
                          "release/second-order",
                          "release/trees"})
    EXPECT_EQ(redrawn(key, [](const Vector&, VectorRef) {}), "") << key;
}

TEST(Redraw, SeesOneBitOfOneNumber) {
  for (const char* key : {"curator/gradients",
                          "curator/second-order",
                          "curator/trees",
                          "curator/questions",
                          "release/gradients",
                          "release/trees"}) {
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

TEST(Keys, GiveOtherNoiseForEveryBit) {
  EXPECT_EQ(complaint_of_keys(), "");
  const auto masked = [](const auto& mask) {
    return complaint_of_keys([&](StreamKey key) {
      mask(key);
      return noise_of_curator(key);
    });
  };
  EXPECT_NE(masked([](StreamKey& key) { key.seed &= 0xffff; }), "");
  EXPECT_NE(masked([](StreamKey& key) { key.seed &= ~(std::uint64_t{1} << 41U); }), "");
  EXPECT_NE(masked([](StreamKey& key) { key.run = 0; }), "");
  EXPECT_NE(masked([](StreamKey& key) { key.path >>= 1U; }), "");
}

TEST(SystemEntropy, HasNoCollisionAmongItsSources) {
  EXPECT_EQ(complaint_of_entropy(1 << 14), "");
  for (const unsigned bits : {16U, 24U}) {
    Stream stream({.seed = bits});
    const auto word = [&] {  // expanded from so few random bits
      return Stream({.seed = stream.bits() >> (64 - bits)}).bits();
    };
    EXPECT_NE(complaint_of_entropy(1 << 14, word), "") << bits;
  }
  Stream stream({.seed = 3});
  EXPECT_NE(complaint_of_entropy(1 << 14, [&] { return stream.bits() | 1U; }), "");
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
