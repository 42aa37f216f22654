// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/settings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::settings_test {
namespace {

enum class Rule { normalised, plain };
constexpr auto words_of(Rule) {
  using enum Rule;
  return word_list<Rule>("rule", {{normalised, "normalised"}, {plain, "plain"}});
}

struct Parameters {
  double step = 0.1;
  Index steps = 400;
  bool fixed = false;
  Rule rule = Rule::normalised;

  Fields fields() {
    return {field("step", step, range::positive, "η"),
            field("steps", steps, range::at_least(1), "T"), field("fixed", fixed, ""),
            field("rule", rule, "")};
  }
};

TEST(Settings, RoundTripsDoublesThroughText) {
  EXPECT_TRUE(rc::check([](double value) {
    Parameters from{.step = value};
    Parameters to;
    Fields fields = to.fields();
    set_field(fields, "p", "step", values_of(from.fields()).at("step"));
    RC_ASSERT(to.step == value);
  }));
}

TEST(Settings, SetsFieldsOfEveryType) {
  Parameters p;
  Fields fields = p.fields();
  set_field(fields, "p", "steps", "12");
  set_field(fields, "p", "fixed", "true");
  set_field(fields, "p", "rule", "plain");
  EXPECT_EQ(p.steps, 12);
  EXPECT_TRUE(p.fixed);
  EXPECT_EQ(p.rule, Rule::plain);
}

TEST(Settings, RefusesNumbersOutsideTheirRange) {
  const auto line = [](const Parameters& p) -> std::string {
    try {
      check_ranges_of("owner", p);
    } catch (const InputError& refusal) {
      return refusal.what();
    }
    return "";
  };
  EXPECT_EQ(line({}), "");
  EXPECT_EQ(line({.step = 0}), "owner: step = 0, expected finite and > 0");
  EXPECT_EQ(line({.step = std::nan("")}), "owner: step = nan, expected finite and > 0");
  EXPECT_EQ(line({.step = range::infinity}), "owner: step = inf, expected finite and > 0");
  EXPECT_EQ(line({.steps = 0}), "owner: steps = 0, expected >= 1");
}

// The text of a range and what it admits are two functions of its ends.
TEST(Settings, RangesAdmitWhatTheirTextSays) {
  double value = 0;
  struct Case {
    Range range;
    std::string text;
    std::vector<double> inside, outside;
  };
  const double inf = range::infinity;
  for (const Case& c : {
           Case{range::finite, "finite", {-1e300, 0, 1e300}, {inf, -inf}},
           Case{range::positive, "finite and > 0", {1e-300, 1e300}, {0, -1, inf}},
           Case{range::positive_or_infinite, "> 0, or inf", {1e-300, inf}, {0, -1}},
           Case{range::not_negative, "finite and >= 0", {0, 1e300}, {-1e-300, inf}},
           Case{range::probability, "in [0, 1]", {0, 1}, {-1e-9, 1 + 1e-9}},
           Case{range::open_unit, "in (0, 1)", {0.5}, {0, 1}},
           Case{range::unit_without_0, "in (0, 1]", {1}, {0, 1 + 1e-9}},
           Case{range::unit_without_1, "in [0, 1)", {0}, {1, -1e-9}},
           Case{range::above(1), "finite and > 1", {1 + 1e-9}, {1, inf}},
           Case{range::between(0.05, 1e6), "in [0.05, 1000000]", {0.05, 1e6}, {0.04, 1e6 + 1}},
       }) {
    const Field f = field("x", value, c.range, "");
    EXPECT_EQ(f.range, c.text);
    const auto admits = [&](double x) {
      value = x;
      return f.in_range();
    };
    for (const double x : c.inside) EXPECT_TRUE(admits(x)) << c.text << ": " << x;
    for (const double x : c.outside) EXPECT_FALSE(admits(x)) << c.text << ": " << x;
    EXPECT_FALSE(admits(std::nan(""))) << c.text;
  }
}

TEST(Settings, StoredNamesAndWordsReadBackToTheSame) {
  Parameters p;
  Fields fields = p.fields();
  Field& renamed = *std::ranges::find(fields, "rule", &Field::name);
  renamed.stored_name = "law";
  renamed.stored_choices = {"unit", "plain"};
  for (const std::string& word : renamed.choices) {
    const std::map<std::string, std::string> now{{"rule", word}, {"told.x", "1"}};
    const auto stored = stored_settings(fields, now);
    EXPECT_EQ(stored.at("law"), word == "plain" ? "plain" : "unit");
    EXPECT_FALSE(stored.contains("rule"));
    EXPECT_EQ(stored.at("told.x"), "1");
    EXPECT_EQ(settings_of_stored(fields, stored), now);
  }
}

TEST(Settings, RejectsUnknownNames) {
  Parameters p;
  Fields fields = p.fields();
  EXPECT_THROW(set_field(fields, "p", "stepp", "1"), InputError);
}

// A stage's fields are renamed by the method that uses it; its refusals have the new name.
TEST(Settings, RefusesTextByOwnerNameAndRange) {
  Parameters p;
  Fields fields = p.fields();
  for (Field& f : fields) f.name = "first." + f.name;
  const auto line = [&](const std::string& name, const std::string& text) -> std::string {
    try {
      set_field(fields, "owner", name, text);
    } catch (const InputError& refusal) {
      return refusal.what();
    }
    return "";
  };
  EXPECT_EQ(line("first.step", "0.1x"),
            "owner: first.step = 0.1x, expected a number, finite and > 0");
  EXPECT_EQ(line("first.steps", "1.5"), "owner: first.steps = 1.5, expected an integer, >= 1");
  EXPECT_EQ(line("first.rule", "planar"),
            "owner: first.rule = planar, expected one of normalised, plain");
  EXPECT_EQ(p.steps, 400) << "refused text changes nothing";
}

}  // namespace
}  // namespace dpsosp::settings_test
