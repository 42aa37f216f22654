// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "chart.hpp"
#include "markup_text.hpp"
#include "page_writers.hpp"
#include "sample_report.hpp"
#include "sample_site.hpp"
#include "style_file.hpp"
#include "table_html.hpp"

// Texts, tables and drawings of pages.
namespace dpsosp::report::pages_test {
namespace {

using plots::count_of;

class Pages : public testing::Test {
 protected:
  Site site = sample_site();
  Place place{site, "claims/other.html"};
  std::string prose_of(std::string_view markup) const { return prose(markup, place).str(); }
};

TEST_F(Pages, TextLinksWhatItNames) {
  EXPECT_EQ(prose_of("see smith-2027/c1."),
            "see <a href=\"../claims/smith-2027-c1.html\">smith-2027/c1</a>.");
  EXPECT_EQ(
      prose_of("`double-well` and x_{t}"),
      "<a href=\"../problems/double-well.html\"><code>double-well</code></a> and x<sub>t</sub>");
  EXPECT_EQ(prose_of("errata X1; a < b"), "errata <a href=\"../errata.html#X1\">X1</a>; a &lt; b");
  EXPECT_EQ(prose_of("smith-2027/c11 and a ` alone"), "smith-2027/c11 and a ` alone");
}

TEST_F(Pages, PageNeverLinksToItself) {
  const Place own{site, "claims/smith-2027-c1.html"};
  EXPECT_EQ(prose("smith-2027/c1", own).str(), "smith-2027/c1");
}

TEST_F(Pages, NumbersHaveTrueMinusSignsAndFractions) {
  EXPECT_EQ(exponent(-2.0 / 3), "−2/3");
  EXPECT_EQ(exponent(0.5), "+1/2");
  EXPECT_EQ(exponent(-0.6741), "−0.674");
  EXPECT_EQ(exponent(0), "0");
  EXPECT_EQ(short_number(1e5), "10⁵");
  EXPECT_EQ(short_number(0.0012), "0.00120");
  EXPECT_EQ(short_number(-3.2e-7), "−3.2·10⁻⁷");
  EXPECT_EQ(interval_text(-0.7, 0.1), "[−0.700, +0.100]");
}

TEST_F(Pages, FormulasOfQuotationsAreMathML) {
  const std::string html =
      quotation_html(R"(at $\frac{\sqrt{d}}{n_{0}}\leq\alpha^{2/3}$ < 1)").str();
  EXPECT_EQ(plots::markup_fault(html), "");
  for (const char* part : {"<mfrac>", "<msqrt>", "<msub>", "<msup>", "≤", "α", "&lt; 1"})
    EXPECT_EQ(count_of(html, part), 1U) << part;
  EXPECT_EQ(count_of(html, "$"), 0U);
}

TEST_F(Pages, WordStandsInSecondColumnAndLongTextBelowItsRow) {
  plots::Table t{.id = "t", .row_header = "claim"};
  t.column_groups = {{"", {"measured", "verdict"}}};
  plots::Cell verdict = plots::text_cell("because " + std::string(60, 'w'));
  verdict.labels = {{"open", plots::Tone::caution}};
  t.row_groups = {{"", {{.label = "row", .cells = {plots::number_cell(1.5), verdict}}}}};
  const std::string html = table_html(t, place).str();
  EXPECT_EQ(plots::markup_fault(html), "");
  EXPECT_LT(html.find("w-open"), html.find("1.50"));
  EXPECT_LT(html.find("1.50"), html.find("because"));
  EXPECT_NE(html.find("<tr class=\"below\"><td colspan=\"3\">"), std::string::npos);
  EXPECT_EQ(count_of(html, "because"), 1U);
}

TEST_F(Pages, WideTableIsSetInParts) {
  plots::Table t{.id = "t", .row_header = "algorithm"};
  t.column_groups = {{"", {}}};
  plots::Row row{.label = "method"};
  for (int k = 0; k < 30; ++k) {
    t.column_groups[0].columns.push_back("column-" + std::to_string(k));
    row.cells.push_back(plots::number_cell(k));
  }
  t.row_groups = {{"", {row}}};
  const std::string html = table_html(t, place).str();
  EXPECT_GE(count_of(html, "<table"), 2U);
  for (int k = 0; k < 30; ++k)
    EXPECT_EQ(count_of(html, ">column-" + std::to_string(k) + "<"), 1U) << k;
  EXPECT_EQ(count_of(html, "<td class=\"r\""), 30U);
}

TEST_F(Pages, LabelsThatAreNoHeadlineAreNotAmber) {
  plots::Table t{.id = "t", .row_header = "a", .column_groups = {{"", {"b"}}}};
  plots::Cell cell = plots::number_cell(2);
  cell.labels = {{"F rose", plots::Tone::caution}};
  t.row_groups = {{"", {{.label = "row", .cells = {cell}}}}};
  const std::string html = table_html(t, place).str();
  EXPECT_NE(html.find("<span class=\"tag\">F rose</span>"), std::string::npos);
  EXPECT_EQ(html.find("w-open"), std::string::npos);
}

TEST_F(Pages, FigureShowsItsFileAndSaysItsSlopes) {
  const ExhibitPage& e = site.exhibits[0];
  Site drawn = site;
  drawn.drawn = {"folder/curves.svg"};
  const auto html = [&](const Site& of) {
    return figure_html(e.figures[0], e.rates, "folder/curves", {of, "claims/a.html"}).str();
  };
  const std::string there = html(drawn), missing = html(site);
  for (const std::string& page : {there, missing}) {
    EXPECT_EQ(plots::markup_fault(page), "");
    EXPECT_NE(page.find("−0.670 [−0.680, −0.660]"), std::string::npos) << page;
    EXPECT_NE(page.find("Medians; see"), std::string::npos);
  }
  EXPECT_NE(there.find("<img src=\"../folder/curves.svg\""), std::string::npos) << there;
  EXPECT_EQ(missing.find("<img"), std::string::npos);
  EXPECT_NE(missing.find("Not drawn here."), std::string::npos);
}

TEST_F(Pages, SlicesOfOneMethodDifferInShapeAndKeepItsColour) {
  plots::Panel p = site.exhibits[0].figures[0].panels[0];
  p.series.push_back(p.series.back());
  p.series.back().label += " (d = 8)";
  const std::string svg = small_panel_svg(p, site).str();
  EXPECT_EQ(plots::markup_fault(svg), "");
  const std::string colour = colour_class(look_of("smith-2027/momentum", site));
  std::set<std::string> marks;
  for (std::size_t at = 0; (at = svg.find("class=\"m\"", at)) != std::string::npos; ++at)
    marks.insert(svg.substr(svg.rfind('<', at), at - svg.rfind('<', at)));
  EXPECT_EQ(count_of(svg, "<g class=\"" + colour + "\">"), 2U) << svg;
  EXPECT_EQ(marks.size(), 2U) << svg;
}

TEST_F(Pages, LinesOfPseudoCodeHaveAddresses) {
  const std::string html = algorithm_html(site.algorithms[0], site);
  EXPECT_NE(html.find("<span id=\"line-1-2\">2    w ← w − η g</span>"), std::string::npos);
  EXPECT_NE(html.find("<span>input: w</span>"), std::string::npos);
  EXPECT_NE(html.find("@misc{smith-2027,"), std::string::npos);
  EXPECT_EQ(count_of(html, "<figure id=\"trace\""), 1U);
}

/// "--ink" → "#16191d" of a block of the style sheet.
std::map<std::string, std::string> colours_in(std::string_view css, std::string_view block) {
  std::map<std::string, std::string> colours;
  const std::size_t start = css.find(block);
  std::string rules(css.substr(start, css.find('}', start) - start));
  static const std::regex rule("--([a-z0-9-]+):#([0-9a-f]{3,6})");
  for (std::sregex_iterator at(rules.begin(), rules.end(), rule), end; at != end; ++at) {
    std::string hex = (*at)[2];
    if (hex.size() == 3) hex = {hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]};
    colours[(*at)[1]] = hex;
  }
  return colours;
}

/// Relative luminance of WCAG 2.2.
double luminance(const std::string& hex) {
  double sum = 0;
  const std::array<double, 3> weights{0.2126, 0.7152, 0.0722};
  for (std::size_t k = 0; k < 3; ++k) {
    const double c = std::stoi(hex.substr(2 * k, 2), nullptr, 16) / 255.0;
    sum += weights[k] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& a, const std::string& b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

TEST_F(Pages, ColoursHaveTheContrastOfWcagAa) {
  const std::map<std::string, std::string> light = colours_in(style_css(), ":root{"),
                                           dark =
                                               colours_in(style_css(), ":root[data-theme=dark]{");
  EXPECT_EQ(colours_in(style_css(), ":root:not([data-theme=light]){"), dark);
  for (const auto& colours : {light, dark}) {
    ASSERT_GT(colours.size(), 20U);
    for (const auto& [name, hex] : colours) {
      const bool text = name == "ink" || name == "ink2" || name == "accent" || name == "good" ||
                        name == "bad" || name == "open";
      const bool names_a_curve = name.starts_with("k") && name != "k0";
      const bool mark = name == "k0" || name == "openfill";
      if (text || names_a_curve) {
        EXPECT_GE(contrast(hex, colours.at("bg")), 4.5) << name << " #" << hex;
      }
      if (text) {
        EXPECT_GE(contrast(hex, colours.at("panel")), 4.5) << name << " #" << hex;
      }
      if (mark) {
        EXPECT_GE(contrast(hex, colours.at("bg")), 3) << name << " #" << hex;
      }
    }
    for (const char* on_accent : {"ink", "accent"})
      EXPECT_GE(contrast(colours.at(on_accent), colours.at("accent-bg")), 4.5) << on_accent;
  }
}

TEST_F(Pages, ForestShowsEverySlopeOnce) {
  const std::string html = forest_html(site.index.forest, place, "forest").str();
  EXPECT_EQ(plots::markup_fault(html), "");
  EXPECT_EQ(count_of(html, "class=\"frow\""), 1U);
  EXPECT_EQ(count_of(html, "data-tip="), 3U);
  EXPECT_NE(html.find("exponent in n: claimed −2/3, measured −0.670 [−0.680, −0.660]"),
            std::string::npos);
  EXPECT_NE(html.find("data-p=\"smith-2027 jones-2028\""), std::string::npos);
}

TEST_F(Pages, ExhibitShowsFiguresBeforeTablesAndFoldsTheRest) {
  const std::string html = exhibit_html(site.exhibits[0], site);
  const auto figure = html.find("<figure id=\"curves\""),
             table = html.find("<section class=\"table\""),
             fold = html.find("<details class=\"fold\"");
  EXPECT_LT(figure, table);
  EXPECT_LT(table, fold);
  EXPECT_NE(
      html.find(
          "<h1>Table 1: n &lt; d &amp; &quot;n &gt; d&quot;: 2 of 3 exponents confirmed</h1>"),
      std::string::npos);
  EXPECT_NE(html.find("./run dpsosp sweep smith-2027-momentum"), std::string::npos);
}

}  // namespace
}  // namespace dpsosp::report::pages_test
