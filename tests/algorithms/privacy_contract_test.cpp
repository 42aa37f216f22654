// SPDX-License-Identifier: Apache-2.0
// An algorithm sees the records through released values alone. That what it asks, what it is
// charged and what it returns are functions of those is what dpsosp audit checks
// (tests/experiments).
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "runs.hpp"

namespace dpsosp::privacy_contract_test {
namespace {

using test::Ran;

struct Case {
  std::string algorithm, problem;
  Variant variant;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.algorithm << " on " << c.problem
       << (c.variant == Variant::printed ? ", printed" : ", repaired");
}

constexpr Index records = 80;

/// Settings that reach every branch in few steps: refreshes, escapes, batches of every kind.
std::unique_ptr<Algorithm> prepared(const Case& c, const PublicFacts& facts) {
  auto algorithm = find_algorithm(c.algorithm);
  algorithm->set_variant(c.variant);
  algorithm->schedule(Schedule::practical, facts, {4, 1e-6}, Calibrator::cks);
  const std::map<std::string, std::string> wanted{{"steps", "60"},
                                                  {"alpha", "0.5"},
                                                  {"escape_threshold", "0.5"},
                                                  {"escape_steps", "5"},
                                                  {"chi", "0.05"},
                                                  {"escape_radius", "0.05"},
                                                  {"sampling", "sample"},
                                                  {"batch", "20"},
                                                  {"refresh_batch", "40"},
                                                  {"increment_batch", "20"},
                                                  {"kick_deviation", "0.1"},
                                                  {"refresh_cap", "0"},
                                                  {"hopeless", "1e300"},
                                                  {"drift_threshold", "0.01"}};
  const auto names = values_of(algorithm->fields());
  for (const auto& [name, text] : wanted)
    if (names.contains(name)) test::set(*algorithm, {{name, text}});
  if (names.contains("sampling") && !test::runs_on(*algorithm, facts))
    for (const auto& [name, text] : std::map<std::string, std::string>{
             {"sampling", names.at("sampling")},  // the schedule's own
             {"refresh_batch", "7"},              // odd: balanced pairs would cancel
             {"increment_batch", "2"},
             {"batch_rate", "1"},
             {"hessian_batch", "4"},
             {"hessian_batch_rate", "1"}})
      if (names.contains(name)) test::set(*algorithm, {{name, text}});
  if (c.algorithm == "arora-2023/tree-spider") test::set(*algorithm, {{"alpha", "0"}});  // no end
  if (!algorithm->plan(facts).empty()) {
    if (names.contains("selection_form")) test::set(*algorithm, {{"selection_epsilon", "0"}});
    algorithm->set_common_noise(0.5);
  }
  return algorithm;
}

/// Departures of the curator that answers the case.
UnsoundCurator::Departures door(const Case& c) {
  return find_algorithm(c.algorithm)->card().is_private() ? UnsoundCurator::Departures{}
                                                          : test::exact;
}

/// All balanced data sets have one mean, which is all that full batches show; in differences the
/// records cancel. (Other methods are set to sampled batches above.)
bool sees_the_mean_alone(const Case& c) {
  return c.problem == "double-well" && (c.algorithm == "reference/perturbed-gd" ||
                                        c.algorithm == "lowy-2024/published-experiment" ||
                                        c.algorithm == "tracked-descent/tracked-descent" ||
                                        c.algorithm == "wang-chen-xu-2019/dp-gd");
}

/// A method whose data are losses, for a choice of its one point.
bool chooses_by_losses(const Case& c) {
  return find_algorithm(c.algorithm)->card().operations.starts_with("loss");
}

/// With K = 1 the printed selection keeps the dual at y_0 = 0, where no record has a gradient in x;
/// the losses of balanced records add up to the same whatever the records are.
bool ignores_data(const Case& c) {
  if (chooses_by_losses(c) && c.problem == "double-well") return true;
  return c.algorithm == "xu-2026/dp-rgda" && c.variant == Variant::printed &&
         c.problem == "matrix-sensing";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& a : algorithm_registry())
    for (const std::string& p : test::problems_of_every_kind)
      for (const Variant variant : {Variant::printed, Variant::repaired}) {
        try {
          prepared({a.key, p, variant}, test::small_problem(p, records).facts);
          all.push_back({a.key, p, variant});
        } catch (const InputError&) {
        }
      }
  return all;
}

std::string described(const Ledger& ledger) {
  std::string text;
  for (const LedgerEntry& e : ledger.entries())
    text += e.scope + ' ' + e.query + ' ' + std::to_string(e.count) + ' ' +
            std::to_string(e.charged.begin) + '-' + std::to_string(e.charged.end) + ' ' +
            testing::PrintToString(e.sensitivity_low) + ' ' +
            testing::PrintToString(e.deviation_high) + '\n';
  return text;
}

class EveryPrivacy : public testing::TestWithParam<Case> {};

TEST_P(EveryPrivacy, IgnoresRecordsInRunsWithoutData) {
  const Problem a = test::small_problem(GetParam().problem, records, 1);
  const Problem b = test::small_problem(GetParam().problem, records, 99);
  const auto algorithm = prepared(GetParam(), a.facts);
  UnsoundCurator::Departures departures = door(GetParam());
  departures.no_data = true;
  const Ran on_a = test::run_unsound(*algorithm, a.facts, *a.records, departures);
  const Ran on_b = test::run_unsound(*algorithm, b.facts, *b.records, departures);
  EXPECT_EQ(on_a.iterates, on_b.iterates);
  EXPECT_EQ(on_a.outcome.point, on_b.outcome.point);
  EXPECT_EQ(on_a.outcome.counts, on_b.outcome.counts);
  EXPECT_EQ(described(on_a.ledger), described(on_b.ledger));
  // negative control: with data the same exchange shows; that of one point for another, where few
  // are chosen from or the loss is almost flat, in some of many runs
  departures.no_data = false;
  const auto stayed = [&](const Ran& ran) {
    return ran.iterates.size() == 1 && ran.outcome.point == a.facts.initial_point &&
           !chooses_by_losses(GetParam());
  };
  const std::uint64_t runs = chooses_by_losses(GetParam()) ? 1000 : 1;
  bool same = true;
  for (std::uint64_t seed = 1; same && seed <= runs; ++seed) {
    const Ran seen = test::run_unsound(*algorithm, a.facts, *a.records, departures, seed);
    const Ran other = test::run_unsound(*algorithm, b.facts, *b.records, departures, seed);
    // A run that accepts its start on both data sets shows nothing of either.
    if (stayed(seen) && stayed(other)) return;
    same =
        seen.iterates.back() == other.iterates.back() && seen.outcome.point == other.outcome.point;
    if (ignores_data(GetParam())) break;
  }
  EXPECT_EQ(same, ignores_data(GetParam()) || sees_the_mean_alone(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPrivacy, testing::ValuesIn(cases()), [](const auto& c) {
  std::string name = c.param.algorithm + "_on_" + c.param.problem +
                     (c.param.variant == Variant::printed ? "_printed" : "_repaired");
  std::ranges::replace_if(
      name, [](char x) { return std::isalnum(x) == 0; }, '_');
  return name;
});

/// A data set and the one with its first record replaced by an extreme one.
struct Neighbours {
  Neighbours() {
    auto data = std::make_shared<MatrixSensingData>();
    data->rows = 4;
    data->cols = 3;
    data->rank = 2;
    data->features.resize(12, records);
    data->labels.resize(records);
    Stream stream({.seed = 9, .purpose = Purpose::test});
    stream.fill_normal(0.3, data->features.reshaped());
    stream.fill_normal(1.0, data->labels);
    auto other = std::make_shared<MatrixSensingData>(*data);
    other->features.col(0) *= -1e3;
    other->labels[0] = 1e3;
    facts = test::small_problem("matrix-sensing", records).facts;
    one = matrix_sensing_records(data);
    two = matrix_sensing_records(other);
  }
  PublicFacts facts;
  std::unique_ptr<const AnyRecords> one, two;
};

// The first sum that an algorithm asks for moves by no more than its clip allows.
TEST(ReplacingOneRecord, MovesFirstSumByAtMostClip) {
  const Neighbours data;
  for (const auto& entry : algorithm_registry()) {
    SCOPED_TRACE(entry.key);
    const auto algorithm = entry.create();
    if (!algorithm->card().is_private()) continue;
    if (!test::runs_on(*algorithm, data.facts)) continue;
    const auto names = values_of(algorithm->fields());
    bool clips = false;
    for (const std::string clip : {"clip", "clip_refresh", "clip_restart"})
      if (names.contains(clip)) {
        test::set(*algorithm, {{clip, "0.25"}});
        clips = true;
      }
    if (!clips || !names.contains("steps")) continue;
    test::set(*algorithm, {{"steps", "2"}});
    const auto released = [&](const AnyRecords& r, const UnsoundCurator::Departures& d) -> Vector {
      const test::SpyRecords spy(r);
      test::run_unsound(*algorithm, data.facts, spy, d);
      return spy.asked.front().sum / records;
    };
    const double moved =
        (released(*data.one, test::no_noise) - released(*data.two, test::no_noise)).norm();
    EXPECT_LE(moved, 2 * 0.25 / records * (1 + 1e-9));
    EXPECT_GT(moved, 0.0);
    // negative control: without clipping the extreme record shows at once
    EXPECT_GT((released(*data.one, test::exact) - released(*data.two, test::exact)).norm(),
              100 * moved);
  }
}

// Each registered pair differs in released values without noise, each at its own schedule. At one
// common step size with nothing clipped, full batches and no escapes, Stochastic Spider,
// Ada-DP-SPIDER and PrivateDiff with a local dual are all gradient descent; so are DP-SGDA and the
// reference line. What sets them apart is steps, clips, batches and escapes.
TEST(EveryPairOfAlgorithms, DiffersInIteratesWithoutNoise) {
  const Problem p = test::small_problem("matrix-sensing", 2000);
  std::map<std::string, std::vector<Vector>> iterates;
  for (const auto& entry : algorithm_registry()) {
    const auto algorithm = entry.create();
    try {
      algorithm->schedule(Schedule::practical, p.facts, {8, 1e-6}, Calibrator::cks);
    } catch (const InputError&) {
      continue;  // not for this problem
    }
    if (values_of(algorithm->fields()).contains("steps")) test::set(*algorithm, {{"steps", "40"}});
    iterates[entry.key] =
        test::run_unsound(*algorithm, p.facts, *p.records,
                          algorithm->card().is_private() ? test::no_noise : test::exact)
            .iterates;
  }
  // What a card names is the same; any other pair differs.
  const auto method = [](const std::string& key) {
    const std::string same = find_algorithm(key)->card().same_without_noise;
    return same.empty() ? key : same.substr(0, same.find(':'));
  };
  for (auto a = iterates.begin(); a != iterates.end(); ++a)
    for (auto b = std::next(a); b != iterates.end(); ++b)
      EXPECT_EQ(a->second == b->second, method(a->first) == method(b->first))
          << a->first << " and " << b->first
          << (a->second == b->second ? " have equal iterates without noise: if one is the other at "
                                       "these parameters, its "
                                       "card says so in `same_without_noise`"
                                     : " differ without noise, but a card says in "
                                       "`same_without_noise` that they do not");
}

}  // namespace
}  // namespace dpsosp::privacy_contract_test
