// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

/// Formulas of quotations, LaTeX between $, as MathML.
namespace dpsosp::report {

/// Adds those of a quotation by their LaTeX.
void add_formulas(std::map<std::string, std::string>& formulas, std::string_view quotation);

/// Adds those of the quotations of a text in Markdown: of its lines that begin with >.
void add_formulas_of_quotations(std::map<std::string, std::string>& formulas,
                                std::string_view markdown);

}  // namespace dpsosp::report
