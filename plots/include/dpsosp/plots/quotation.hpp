// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Words of papers, with their formulas in LaTeX between `$`.
namespace dpsosp::plots {

/// As text with the markup of markup.hpp: "α ≤ √(d)/(nε)" with scripts. A command that is not known
/// stands as its name.
std::string readable(std::string_view quotation);

/// The characters that a command stands for, as " ≤ " for "leq"; empty of an unknown one.
std::string_view latex_symbol(std::string_view command);
/// Whether the command is in the table, which has some that stand for nothing.
bool is_latex_symbol(std::string_view command);
/// The combining mark of \hat, \bar and the like; empty of another command.
std::string_view latex_accent(std::string_view command);

}  // namespace dpsosp::plots
