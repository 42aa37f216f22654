// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::phases_test {
namespace {

using Phases = std::vector<std::string>;

/// Writes down which phases are called; its one constant is a setting.
class Recorded final : public ProblemFamily {
 public:
  std::string_view name() const override { return "recorded"; }
  std::string_view summary() const override { return {}; }
  ProblemNotes notes() const override { return {}; }
  Index default_records() const override { return 1; }
  Fields fields() override { return {field("scale", scale, range::not_negative, "L/d")}; }

  double scale = 1;
  double shift = 0;      ///< of x0; no field, so any value reaches the phases
  bool without = false;  ///< draw() sets neither records nor sums
  mutable Phases phases;

 protected:
  Index least_dimension() const override { return 2; }
  void check_settings(Index dimension) const override {
    phases.push_back("check_settings");
    if (shift == 7 && dimension == 3)
      throw InputError("recorded: shift = 7 makes no instance of 3 dimensions");
  }
  void settle(const Stream& random, PublicFacts& facts) const override {
    phases.push_back("settle");
    facts.initial_point = Vector::Constant(facts.dimension, shift);
    Stream(random).add_normal(1, facts.initial_point);
  }
  Constants constants(const PublicFacts& facts) const override {
    phases.push_back("constants");
    Constants all;
    all.set(constant::lipschitz,
            proved(scale * static_cast<double>(facts.dimension), "everywhere", "by definition"));
    return all;
  }
  void draw(const InstanceSpec& spec, Problem& problem) const override {
    phases.push_back("draw");
    drawn = problem.facts;
    if (!without) problem.records = std::move(find_problem("double-well")->make(spec).records);
  }

 public:
  mutable PublicFacts drawn;  ///< the facts that draw() was given
};

TEST(ProblemPhases, AreCalledInOrderAndDrawingSeesTheFacts) {
  const Recorded family;
  const Problem p = family.make({.records = 5, .dimension = 4, .seed = 3, .data_seed = 8});
  EXPECT_EQ(family.phases, (Phases{"check_settings", "settle", "constants", "draw"}));
  EXPECT_EQ(family.drawn.name, "recorded");
  EXPECT_EQ(family.drawn.records, 5);
  Vector expected = Vector::Zero(4);
  Stream({.seed = 3, .purpose = Purpose::initial_point}).add_normal(1, expected);
  EXPECT_EQ(family.drawn.initial_point, expected);
  EXPECT_EQ(family.drawn.constants[constant::lipschitz], 4.0);
  EXPECT_EQ(p.facts.initial_point, family.drawn.initial_point);
}

TEST(ProblemPhases, FactsAreMadeWithoutDrawing) {
  const Recorded family;
  const PublicFacts facts = family.facts({.records = 5});
  EXPECT_EQ(facts.dimension, 10);
  EXPECT_EQ(family.phases, (Phases{"check_settings", "settle", "constants"}));
}

std::string refusal(const Recorded& family, const InstanceSpec& spec) {
  try {
    family.make(spec);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

TEST(ProblemPhases, DrawingSetsRecordsOrSums) {
  Recorded family;
  family.without = true;
  EXPECT_THROW(family.make({.records = 5}), std::logic_error);
}

bool refused_with(const Recorded& family, const InstanceSpec& spec, std::string_view word) {
  return refusal(family, spec).find(word) != std::string::npos;
}

TEST(ProblemPhases, SizesAndRangesAreRefusedBeforeTheFirstPhase) {
  Recorded family;
  EXPECT_TRUE(refused_with(family, {.records = 0}, "records"));
  EXPECT_TRUE(refused_with(family, {.records = 1, .dimension = 1}, "dimension"));
  family.scale = -1;
  EXPECT_TRUE(refused_with(family, {.records = 1}, "scale"));
  EXPECT_EQ(family.phases, Phases{});
}

TEST(ProblemPhases, SettingsThatMakeNoInstanceAreRefusedBeforeAnythingIsSettled) {
  Recorded family;
  family.shift = 7;
  EXPECT_TRUE(refused_with(family, {.records = 1, .dimension = 3}, "shift = 7"));
  EXPECT_EQ(family.phases, (Phases{"check_settings"}));
}

TEST(ProblemPhases, StartsAndConstantsOutsideDoublePrecisionAreRefusedBeforeDrawing) {
  for (const double shift :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Recorded family;
    family.shift = shift;
    EXPECT_NE(refusal(family, {.records = 1}), "") << shift;
    EXPECT_FALSE(std::ranges::count(family.phases, "draw"));
  }
  for (const double scale : {0.0, std::numeric_limits<double>::max()}) {
    Recorded family;
    family.scale = scale;  // L = 0, or infinite
    EXPECT_TRUE(refused_with(family, {.records = 1}, constant::lipschitz)) << scale;
    EXPECT_FALSE(std::ranges::count(family.phases, "draw"));
  }
}

}  // namespace
}  // namespace dpsosp::phases_test
