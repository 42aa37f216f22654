// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/figure.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "markup_text.hpp"
#include "sample_report.hpp"

namespace dpsosp::plots::figure_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Figure one_curve(Series series, Scale scale = Scale::linear) {
  return {.id = "f",
          .title = "F.",
          .panels = {{.title = "P",
                      .x = {.label = "t"},
                      .y = {.label = "y", .scale = scale},
                      .series = {std::move(series)}}}};
}

std::string refusal(const Figure& figure) {
  return message_of([&] { check(figure); });
}

TEST(Figure, RejectsNonPositiveValuesOnLogAxis) {
  for (const Series& s : {Series{.label = "s", .x = {1, 2}, .y = {1, 0}},
                          Series{.label = "s", .x = {1, 2}, .y = {1, -1}},
                          Series{.label = "s", .x = {1}, .y = {1}, .low = {0}, .high = {2}}}) {
    EXPECT_NE(refusal(one_curve(s, Scale::log)).find("expected > 0"), std::string::npos);
    EXPECT_EQ(refusal(one_curve(s)), "");
  }
  Figure figure = one_curve({.x = {1}, .y = {1}}, Scale::log);
  EXPECT_EQ(refusal(figure), "");
  Figure with_marker = figure;
  with_marker.panels[0].markers = {{.label = "published", .x = 1, .y = 0}};
  EXPECT_NE(refusal(with_marker), "");
  Figure with_line = figure;
  with_line.panels[0].lines = {{.label = "zero", .value = 0}};
  EXPECT_NE(refusal(with_line), "");
  figure.panels[0].x.scale = Scale::log;
  figure.panels[0].series[0].x = {0};
  EXPECT_EQ(
      refusal(figure),
      "figure 'f', panel 1, series '': x[0] = 0, expected > 0 (and above 1e-300) on a log axis");
}

TEST(Figure, RejectsValuesThatCannotBeDrawn) {
  EXPECT_NE(refusal(one_curve({.x = {1}, .y = {infinity}})), "");
  EXPECT_NE(refusal(one_curve({.x = {nan}, .y = {1}})), "");
  EXPECT_NE(refusal(one_curve({.x = {1}, .y = {1e305}})), "");
  Figure figure = one_curve({.x = {1}, .y = {1}});
  figure.panels[0].y.range = {0, 2};
  figure.panels[0].markers = {{.label = "published", .x = 1, .y = 3}};
  EXPECT_EQ(refusal(figure), "figure 'f', panel 1, marker 'published': y = 3, expected in [0, 2]");
  figure.panels[0].markers[0].y = 2;
  EXPECT_EQ(refusal(figure), "");
}

TEST(Figure, RejectsBadLengthsBandsAndRanges) {
  EXPECT_NE(refusal(one_curve({.x = {1, 2}, .y = {1}})), "");
  EXPECT_NE(refusal(one_curve({.x = {1}, .y = {1}, .low = {1}})), "");
  EXPECT_NE(refusal(one_curve({.x = {1}, .y = {1}, .low = {2}, .high = {1}})), "");
  Figure figure = one_curve({.x = {1}, .y = {1}});
  figure.panels[0].y.range = {2, 1};
  EXPECT_NE(refusal(figure), "");
  figure.panels[0].y.range = {1, 1 + 1e-15};
  EXPECT_NE(refusal(figure), "");
}

TEST(Figure, RequiresOneStylePerLabelAcrossPanels) {
  Figure figure = one_curve({.label = "a", .style = 1, .x = {1}, .y = {1}});
  figure.panels.push_back(figure.panels[0]);
  EXPECT_EQ(refusal(figure), "");
  figure.panels[1].series[0].style = 2;
  EXPECT_EQ(refusal(figure), "figure 'f': style of 'a' = 2, expected one style a label");
  figure.panels[1].series[0] = {.label = "b", .style = 1, .x = {1}, .y = {1}};
  EXPECT_EQ(refusal(figure), "figure 'f': style of 'b' = 1, expected another one, 'a' has it");
  figure.panels[1].series[0].dashed = true;
  EXPECT_EQ(refusal(figure), "");
}

}  // namespace
}  // namespace dpsosp::plots::figure_test
