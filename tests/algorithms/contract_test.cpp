// SPDX-License-Identifier: Apache-2.0
// What every algorithm of the registry owes before it runs: card, fields, refusals.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "runs.hpp"

namespace dpsosp::contract_test {
namespace {

using test::small_problem;

class EveryAlgorithm : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Algorithm> make() const { return find_algorithm(GetParam()); }
};

/// The one line of the InputError that `f` throws; empty if it throws none.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

/// A small instance of 60 records of a problem that the algorithm's practical schedule accepts.
Problem accepted_problem(const Algorithm& algorithm) {
  for (const std::string& name : test::problems_of_every_kind) {
    Problem problem = small_problem(name, 60);
    if (test::runs_on(algorithm, problem.facts)) return problem;
  }
  throw InputError("no problem for " + algorithm.card().key +
                   ": with its default parameters check() refuses each of "
                   "test::problems_of_every_kind; defaults must pass before a schedule sets them");
}

/// Whether the field, or the field of a stage (STAGE.NAME), has this name.
bool is_called(const Field& f, const std::string& name) {
  return f.name == name || f.name.ends_with("." + name);
}

/// Whether the algorithm has the field and the field has the choice.
bool offers(Algorithm& algorithm, const std::string& name, const std::string& choice) {
  for (const Field& f : algorithm.fields())
    if (f.name == name) return std::ranges::count(f.choices, choice) > 0;
  return false;
}

TEST_P(EveryAlgorithm, HasCompleteCard) {
  const AlgorithmCard& card = make()->card();
  EXPECT_EQ(card.key, GetParam());
  EXPECT_NE(card.key.find('/'), std::string::npos);
  const std::map<std::string, const std::string*> texts{
      {"title", &card.title},           {"paper", &card.paper},
      {"place", &card.place},           {"guarantee", &card.guarantee},
      {"statistic", &card.statistic},   {"rate", &card.rate},
      {"operations", &card.operations}, {"output_rule", &card.output_rule}};
  for (const auto& [name, text] : texts) {
    EXPECT_FALSE(text->empty()) << name;
    EXPECT_EQ(text->find('\n'), std::string::npos) << name;
  }
  EXPECT_GE(card.numbers_version, 1);
  EXPECT_TRUE(!card.is_private() || card.empirical || card.population || card.rate != "none")
      << "a private method without exponents says 'none proved'";
  for (const auto& rate : {card.empirical, card.population})
    if (rate) {
      EXPECT_LT(rate->n, 0);
      EXPECT_GE(rate->d, 0);
      EXPECT_LT(rate->epsilon, 0);
      EXPECT_EQ(rate->n, rate->epsilon) << "the private part is a power of n epsilon";
    }
}

TEST_P(EveryAlgorithm, HasUniqueDescribedFields) {
  std::set<std::string> names;
  for (const Field& f : make()->fields()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_FALSE(f.meaning.empty()) << f.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST_P(EveryAlgorithm, RoundTripsEveryField) {
  const auto algorithm = make();
  const Fields fields = algorithm->fields();
  std::map<std::string, std::string> values;
  for (const Field& f : fields) {
    const std::string before = f.get();
    f.set(before);
    EXPECT_EQ(f.get(), before) << f.name;
    for (const std::string& text : f.choices.empty() ? std::vector<std::string>{"7"} : f.choices) {
      f.set(text);
      EXPECT_EQ(f.get(), text) << f.name;
    }
    EXPECT_FALSE(refusal([&] { f.set("no value"); }).empty()) << f.name;
    values[f.name] = f.get();
  }
  EXPECT_EQ(values_of(algorithm->fields()), values) << "one field's setter moved another field";
}

TEST_P(EveryAlgorithm, RejectsBadParametersByName) {
  // A field that may be 0 says what that means.
  const auto may_be_zero = [](const Field& f) {
    return f.meaning.find("0 = ") != std::string::npos;
  };
  const Problem problem = accepted_problem(*make());
  const auto prepared = [&] {
    auto algorithm = make();
    for (const Field& f : algorithm->fields())
      if (is_called(f, "batch") || is_called(f, "refresh_batch") || is_called(f, "increment_batch"))
        f.set("10");
    for (const Field& f : algorithm->fields()) {  // batches are used under sampling alone
      if (is_called(f, "sampling") && std::ranges::count(f.choices, "sample") > 0) {
        f.set("sample");
        if (!test::runs_on(*algorithm, problem.facts)) f.set("fresh");
      }
    }
    return algorithm;
  };
  ASSERT_EQ(refusal([&] { prepared()->check(problem.facts); }), "");
  const auto shapes = prepared();
  for (const Field& shape : shapes->fields()) {
    if (!shape.choices.empty()) continue;
    std::vector<std::string> bad{"-1"};
    if (!may_be_zero(shape)) bad.emplace_back("0");
    if (!shape.integer) bad.insert(bad.end(), {"nan", "inf", "-inf"});
    for (const std::string& text : bad) {
      const auto algorithm = prepared();
      test::set(*algorithm, {{shape.name, text}});
      const std::string line = refusal([&] { algorithm->check(problem.facts); });
      EXPECT_NE(line.find(shape.name + " = "), std::string::npos)
          << shape.name << " = " << text << " gives: " << line;
      EXPECT_NE(line.find("expected"), std::string::npos) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos);
    }
  }
}

TEST_P(EveryAlgorithm, RejectsBatchLargerThanData) {
  const Problem problem = accepted_problem(*make());
  const auto names = values_of(make()->fields());
  for (const std::string name : {"batch", "refresh_batch", "increment_batch"}) {
    if (!names.contains(name)) continue;
    if (!names.contains("sampling")) continue;
    for (const std::string sampling : {"fresh", "sample", "poisson"}) {
      const auto algorithm = make();
      if (!offers(*algorithm, "sampling", sampling)) continue;
      for (const std::string all : {"batch", "refresh_batch", "increment_batch"})
        if (names.contains(all)) test::set(*algorithm, {{all, "60"}});
      test::set(*algorithm, {{"sampling", sampling}});
      if (refusal([&] { algorithm->check(problem.facts); }).find("sampling") != std::string::npos)
        continue;  // says which sampling it needs
      EXPECT_EQ(refusal([&] { algorithm->check(problem.facts); }), "");
      test::set(*algorithm, {{name, "61"}});
      EXPECT_NE(refusal([&] { algorithm->check(problem.facts); }).find(name), std::string::npos);
    }
  }
}

// A dual that each record keeps exists only where it belongs to the record.
TEST_P(EveryAlgorithm, RejectsLocalDualForSharedDual) {
  const Problem shared = small_problem("cosine-minimax");
  const Problem none = small_problem("cosine-saddle");
  const auto algorithm = make();
  if (!algorithm->card().needs_dual) {
    EXPECT_EQ(refusal([&] { algorithm->check(none.facts); }), "");
    EXPECT_NE(refusal([&] {
                algorithm->schedule(Schedule::practical, shared.facts, {1, 1e-6}, Calibrator::cks);
              }),
              "");
    EXPECT_NE(refusal([&] { algorithm->check(shared.facts); }), "")
        << "no record has a gradient of the value function";
    return;
  }
  EXPECT_NE(refusal([&] { algorithm->check(none.facts); }).find("no dual"), std::string::npos);
  const auto names = values_of(algorithm->fields());
  const auto [field, local] = names.contains("dual_release") ? std::pair{"dual_release", "local"}
                              : names.contains("ascent")     ? std::pair{"ascent", "local"}
                                                             : std::pair{"local_dual", "true"};
  test::set(*algorithm, {{field, local}});
  EXPECT_NE(refusal([&] { algorithm->check(shared.facts); }).find(field), std::string::npos);
  algorithm->schedule(Schedule::practical, shared.facts, {1, 1e-6}, Calibrator::cks);
  EXPECT_EQ(refusal([&] { algorithm->check(shared.facts); }), "") << "the schedule turns it off";
}

TEST_P(EveryAlgorithm, SwitchesBetweenPrintedAndRepairedFields) {
  const auto algorithm = make();
  algorithm->set_variant(Variant::printed);
  const auto printed = values_of(algorithm->fields());
  algorithm->set_variant(Variant::repaired);
  const auto repaired = values_of(algorithm->fields());
  algorithm->set_variant(Variant::printed);
  EXPECT_EQ(values_of(algorithm->fields()), printed) << "the variants are switches, not steps";
  EXPECT_EQ(printed == repaired, algorithm->card().printed.empty());
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, testing::ValuesIn([] {
                           std::vector<std::string> keys;
                           for (const auto& entry : algorithm_registry()) keys.push_back(entry.key);
                           return keys;
                         }()),
                         [](const testing::TestParamInfo<std::string>& key) {
                           std::string name = key.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(AlgorithmRegistry, HasUniqueKeysAndSuggestsNearest) {
  std::set<std::string> keys;
  for (const auto& entry : algorithm_registry()) EXPECT_TRUE(keys.insert(entry.key).second);
  const std::string line = refusal([] { find_algorithm("xu-2026/dp-rgba"); });
  EXPECT_NE(line.find("xu-2026/dp-rgda"), std::string::npos) << line;
}

}  // namespace
}  // namespace dpsosp::contract_test
