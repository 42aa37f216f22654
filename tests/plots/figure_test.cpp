// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/figure.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/files.hpp"
#include "markup_text.hpp"
#include "sample_report.hpp"
#include "scratch_folder.hpp"

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

// The blocks of a data file: its text between two empty lines, comments left out.
std::vector<std::string> blocks(const std::string& data) {
  std::vector<std::string> result;
  std::size_t begin = 0;
  while (begin < data.size()) {
    const std::size_t end = std::min(data.find("\n\n\n", begin), data.size());
    std::string block = data.substr(begin, end - begin);
    block.erase(0, block.find('\n') + 1);
    result.push_back(block);
    begin = end + 3;
  }
  return result;
}

std::pair<double, double> range_in(const std::string& script, const std::string& axis) {
  const std::size_t begin = script.find("set " + axis + "range [") + axis.size() + 11;
  const std::size_t colon = script.find(':', begin);
  return {std::stod(script.substr(begin)), std::stod(script.substr(colon + 1))};
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

TEST(Figure, RejectsBadLengthsBandsStylesAndRanges) {
  EXPECT_NE(refusal(one_curve({.x = {1, 2}, .y = {1}})), "");
  EXPECT_NE(refusal(one_curve({.x = {1}, .y = {1}, .low = {1}})), "");
  EXPECT_NE(refusal(one_curve({.x = {1}, .y = {1}, .low = {2}, .high = {1}})), "");
  EXPECT_NE(refusal(one_curve({.style = styles, .x = {1}, .y = {1}})), "");
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

TEST(Figure, BreaksCurveAtNan) {
  const Series gap{.label = "s", .x = {1, 2, 3, 4, 5, 6}, .y = {1, 2, nan, nan, 5, 6}};
  EXPECT_EQ(blocks(gnuplot_data(one_curve(gap)))[0], "1 1\n2 2\n\n5 5\n6 6");
  const Series whole{.label = "s", .x = {1, 2, 3}, .y = {1, 2, 3}};
  EXPECT_EQ(blocks(gnuplot_data(one_curve(whole)))[0], "1 1\n2 2\n3 3");
  const Series band{.x = {1, 2, 3}, .y = {1, 2, 3}, .low = {0, nan, 2}, .high = {2, 3, 4}};
  EXPECT_EQ(blocks(gnuplot_data(one_curve(band)))[0], "1 1 0 2\n\n3 3 2 4");
}

TEST(Figure, DrawsIsolatedPointsAsPoints) {
  Series s{.label = "s", .dashed = true, .x = {}, .y = {}};
  for (int i = 0; i < 100; ++i) {
    s.x.push_back(i);
    s.y.push_back(i == 49 || i == 51 ? nan : i);
  }
  const auto data = blocks(gnuplot_data(one_curve(s)));
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data[1], "50 50\n");
}

TEST(Figure, WritesEveryDataPointOnce) {
  EXPECT_TRUE(rc::check([](const std::vector<int>& draws, unsigned style) {
    Series s{.label = "s", .style = style % styles};
    std::size_t shown = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) {
      s.x.push_back(static_cast<double>(i));
      s.y.push_back(draws[i] % 3 == 0 ? nan : draws[i]);
      shown += draws[i] % 3 == 0 ? 0U : 1U;
    }
    const auto data = blocks(gnuplot_data(one_curve(s)));
    RC_ASSERT(data.empty() == (shown == 0));
    if (shown == 0) return;
    RC_ASSERT(count_of(data[0], " ") == shown);
    RC_ASSERT(count_of(data[0], "\n\n\n") == 0U);
  }));
}

TEST(Figure, ListsMethodWithoutResultsInLegendOnly) {
  Figure figure = one_curve({.label = "good", .style = 0, .x = {1, 2}, .y = {1, 2}});
  figure.panels[0].series.insert(figure.panels[0].series.begin(),
                                 {.label = "20 of 20 failed", .style = 1, .x = {1}, .y = {nan}});
  EXPECT_EQ(blocks(gnuplot_data(figure)).size(), 2U);
  EXPECT_EQ(count_of(gnuplot_script(figure), "'20 of 20 failed'"), 1U);
  figure.panels[0].series.pop_back();
  EXPECT_EQ(gnuplot_data(figure), "");
  const ScratchFolder scratch;
  EXPECT_NO_THROW(write_figure(figure, scratch.path()));
}

TEST(Figure, RangeContainsDataAndTicks) {
  EXPECT_TRUE(rc::check([](const std::vector<int>& draws, int exponent, bool log) {
    if (draws.empty()) return;
    const double scale = std::pow(10, exponent % 40);
    Series s;
    for (const int draw : draws) {
      s.x.push_back(static_cast<double>(s.x.size()));
      s.y.push_back(scale * (log ? 1 + std::abs(static_cast<double>(draw)) : draw));
    }
    const std::string script = gnuplot_script(one_curve(s, log ? Scale::log : Scale::linear));
    const auto [low, high] = range_in(script, "y");
    for (const double y : s.y) {
      RC_ASSERT(low <= y);
      RC_ASSERT(y <= high);
    }
    const std::size_t begin = script.find("set ytics (");
    const std::string ticks = script.substr(begin, script.find('\n', begin) - begin);
    std::size_t labelled = 0;
    for (auto at = ticks.find("' "); at != std::string::npos; at = ticks.find("' ", at + 1)) {
      const double tick = std::stod(ticks.substr(at + 2));
      RC_ASSERT(tick >= low - 1e-6 * (high - low));
      RC_ASSERT(tick <= high + 1e-6 * (high - low));
      if (ticks[at - 1] != '\'') ++labelled;
    }
    RC_ASSERT(labelled >= 2U);
    RC_ASSERT(labelled <= 12U);
  }));
}

TEST(Figure, LegendListsEachLabelOnceInOrder) {
  const std::string script = gnuplot_script(sample_figure("figure-1-x", 1));
  std::size_t last = script.find("# legend");
  for (const char* label : {"'DP-RGDA'",
                            "'Sto-SPIDER'",
                            "'Ada-DP-SPIDER'",
                            "'PrivateDiff'",
                            "'DP-SGDA'",
                            "'α-SOSP: λ_{min} = −(ρα)^{1/2}'",
                            "'published'"}) {
    const std::size_t at = script.find(label, last);
    ASSERT_NE(at, std::string::npos) << label;
    EXPECT_EQ(count_of(script, label), 1U);
    last = at;
  }
}

TEST(Figure, EscapesSpecialCharactersInSvg) {
  Figure figure = one_curve({.label = "a_b & <c> 5 % 'q' {x} ~ @ \\", .x = {1, 2}, .y = {1, 2}});
  figure.title = "<T> & \"q\"";
  figure.alternative = "a < b";
  const ScratchFolder scratch;
  const std::string svg = read_file(write_figure(figure, scratch.path()).svg);
  EXPECT_EQ(markup_fault(svg), "");
  EXPECT_EQ(count_of(svg, "a_b &amp; &lt;c> 5 % 'q' {x} ~ @ \\"), 1U);
  EXPECT_EQ(count_of(svg, "<title>&lt;T&gt; &amp; &quot;q&quot;</title>"), 1U);
  EXPECT_EQ(count_of(svg, "<desc>a &lt; b</desc>"), 1U);
}

TEST(Figure, WritesSameBytesForSameFigure) {
  const ScratchFolder a;
  const ScratchFolder b;
  const Figure figure = sample_figure("figure-1-x", 1);
  const FigureFiles first = write_figure(figure, a.path());
  const FigureFiles second = write_figure(figure, b.path());
  EXPECT_EQ(read_file(first.svg), read_file(second.svg));
  EXPECT_EQ(read_file(first.png), read_file(second.png));
  EXPECT_EQ(read_file(first.pdf), read_file(second.pdf));
  EXPECT_EQ(read_file(first.script), read_file(second.script));
  EXPECT_EQ(read_file(first.data), read_file(second.data));
  EXPECT_EQ(count_of(read_file(first.pdf), "/CreationDate (D:19700101000000"), 1U);
  EXPECT_EQ(count_of(read_file(first.svg), "gnuplot 5"), 0U);
  const FigureFiles other = write_figure(sample_figure("figure-1-x", 1.01), b.path());
  EXPECT_NE(read_file(first.svg), read_file(other.svg));
  EXPECT_NE(read_file(first.png), read_file(other.png));
}

TEST(Figure, LeavesOnlyItsOwnFiles) {
  const ScratchFolder scratch;
  write_figure(one_curve({.label = "s", .x = {1, 2}, .y = {1, 2}}), scratch.path());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"f.dat", "f.gp", "f.pdf", "f.png", "f.svg"}));
}

TEST(Figure, ReportsMissingGnuplotAndLeavesNoFiles) {
  const ScratchFolder scratch;
  const Figure figure = one_curve({.label = "s", .x = {1, 2}, .y = {1, 2}});
  EXPECT_EQ(message_of([&] { write_figure(figure, scratch.path(), "no-such-gnuplot"); }),
            "figures: cannot run no-such-gnuplot (No such file or directory); install gnuplot 5.4 "
            "or later");
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Figure, DetectsMissingGnuplotInAdvance) {
  const ScratchFolder scratch;
  EXPECT_NO_THROW(require_gnuplot(scratch.path()));
  EXPECT_THROW(require_gnuplot(scratch.path(), "no-such-gnuplot"), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Figure, RejectsTruncatedOutputAndKeepsOldFiles) {
  const ScratchFolder scratch;
  const Figure figure = one_curve({.label = "s", .x = {1, 2}, .y = {1, 2}});
  const FigureFiles old = write_figure(figure, scratch.path() / "figures");
  const std::string svg = read_file(old.svg);
  for (const char* format : {"svg", "pdf", "png"}) {
    // called as: gnuplot -d -c f.gp FORMAT
    const auto program = scratch.path() / format;
    write_file(program,
               fmt::format("#!/bin/sh\ngnuplot \"$@\" || exit\n"
                           "test \"$4\" != {0} || truncate -s -20 f.{0}\n",
                           format));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const std::string message =
        message_of([&] { write_figure(figure, scratch.path() / "figures", program.string()); });
    EXPECT_TRUE(message.starts_with(
        fmt::format("figure 'f': gnuplot did not write its {} to the end", format)))
        << message;
    EXPECT_EQ(read_file(old.svg), svg);
  }
}

TEST(Figure, ReportsGnuplotFailure) {
  const ScratchFolder scratch;
  const Figure figure = one_curve({.label = "s", .x = {1, 2}, .y = {1, 2}});
  for (const char* program : {"false", "true"}) {
    const std::string message = message_of([&] { write_figure(figure, scratch.path(), program); });
    EXPECT_TRUE(message.starts_with("figure 'f': gnuplot made no svg")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace dpsosp::plots::figure_test
