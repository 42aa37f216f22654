// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/settings.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::settings_test {
namespace {

enum class Rule { normalised, plain };

struct Parameters {
  double step = 0.1;
  Index steps = 400;
  bool fixed = false;
  Rule rule = Rule::normalised;

  Fields fields() {
    return {field("step", step, "η"),
            field("steps", steps, "T"),
            field("fixed", fixed, ""),
            field("rule", rule, {{Rule::normalised, "normalised"}, {Rule::plain, "plain"}}, "")};
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

TEST(Settings, RejectsBadTextAndUnknownNames) {
  Parameters p;
  Fields fields = p.fields();
  EXPECT_THROW(set_field(fields, "p", "step", "0.1x"), InputError);
  EXPECT_THROW(set_field(fields, "p", "steps", "1.5"), InputError);
  EXPECT_THROW(set_field(fields, "p", "rule", "planar"), InputError);
  EXPECT_THROW(set_field(fields, "p", "stepp", "1"), InputError);
}

}  // namespace
}  // namespace dpsosp::settings_test
