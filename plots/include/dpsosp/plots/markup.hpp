// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Labels, captions and notes are UTF-8 text with one piece of markup: `_{...}` and `^{...}` set a
/// subscript and a superscript, as in "λ_{min}(x_{t})". Everything else is literal: `not_finite`,
/// `a|b` and `5 %` mean themselves in every back end. Braces do not nest; an unclosed one is
/// literal.
namespace dpsosp::plots {

/// Without markup: "λ_min(x_t)"; a script that is more than a word or a number keeps its braces.
std::string plain_text(std::string_view text);

/// For GitHub-flavoured Markdown, safe inside a table cell; scripts become <sub> and <sup>, a
/// newline <br>.
std::string markdown_text(std::string_view text);

/// For LaTeX text mode: Greek letters and operators go to math mode, "λ_{min}" is $\lambda_{\min}$.
std::string latex_text(std::string_view text);

}  // namespace dpsosp::plots
