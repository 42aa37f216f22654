// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/markup.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "markup_text.hpp"

namespace dpsosp::plots::markup_test {
namespace {

// A text of characters most of which the back ends must escape.
std::string nasty(const std::vector<int>& picks) {
  static const std::string alphabet = "|&<>%_^{}$#\\~\"'`*[]@!\n\r\tab1 -,;/()";
  std::string text;
  for (const int pick : picks) text += alphabet[static_cast<unsigned>(pick) % alphabet.size()];
  return text;
}

TEST(Markup, EscapesSpecialCharactersInEveryBackEnd) {
  const std::string text = "a|b & c<d> 5 % not_finite \"q\" 'p'\nx";
  EXPECT_EQ(markdown_text(text), "a\\|b &amp; c&lt;d&gt; 5 % not\\_finite \"q\" 'p'<br>x");
  EXPECT_EQ(latex_text(text),
            "a\\textbar{}b \\& c\\textless{}d\\textgreater{} 5 \\% not\\_finite ''q'' 'p' x");
  EXPECT_EQ(plain_text(text), text);
}

TEST(Markup, RendersSubscriptsInEveryBackEnd) {
  EXPECT_EQ(markdown_text("λ_{min}"), "λ<sub>min</sub>");
  EXPECT_EQ(latex_text("λ_{min}"), "$\\lambda_{\\min}$");
  EXPECT_EQ(plain_text("λ_{min}"), "λ_min");
  EXPECT_EQ(plain_text("10^{a b}"), "10^{a b}");
}

TEST(Markup, GroupsAdjacentMathInLatex) {
  EXPECT_EQ(latex_text("‖∇Φ(x_{t})‖"), "$\\Vert\\nabla\\Phi$($x_{t}$)$\\Vert$");
  EXPECT_EQ(latex_text("10^{−6}"), "$10^{-6}$");
  EXPECT_EQ(latex_text("Φ_{a_b}"), "$\\Phi_{a\\_b}$");
  EXPECT_EQ(latex_text("--set a"), "-{}-set a");
  EXPECT_EQ(latex_text("-0.5 in [-0.6, -0.4], a-1 to 2-3"),
            "$-$0.5 in {[}$-$0.6, $-$0.4], a-1 to 2-3");
  EXPECT_EQ(latex_text("_{t}"), "${}_{t}$");
}

TEST(Markup, TreatsUnclosedScriptAsLiteral) {
  EXPECT_EQ(plain_text("x_{t"), "x_{t");
  EXPECT_EQ(latex_text("x_{t"), "x\\_\\{t");
}

TEST(Markup, FaultsOfHtmlAreFound) {
  EXPECT_EQ(markup_fault("<p title=\"a\">b<br></p>"), "");
  EXPECT_NE(markup_fault("<p>a<b</p>"), "");
  EXPECT_NE(markup_fault("<p>a & b</p>"), "");
  EXPECT_NE(markup_fault("<p title=\"a\"b\"></p>"), "");
}

TEST(Markup, KeepsLatexValidForAnyText) {
  EXPECT_TRUE(rc::check([](const std::vector<int>& picks) {
    RC_ASSERT(latex_fault(latex_text(nasty(picks))) == "");
  }));
  EXPECT_NE(latex_fault("a_b"), "");
  EXPECT_NE(latex_fault("{a"), "");
  EXPECT_NE(latex_fault("5 $"), "");
}

TEST(Markup, KeepsAnyTextInsideMarkdownCell) {
  EXPECT_TRUE(rc::check([](const std::vector<int>& picks) {
    const std::string text = markdown_text(nasty(picks));
    RC_ASSERT(text.find('\n') == std::string::npos);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else {
        RC_ASSERT(text[i] != '|');
      }
    }
  }));
}

}  // namespace
}  // namespace dpsosp::plots::markup_test
