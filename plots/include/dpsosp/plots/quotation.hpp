// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

/// Words of papers, with their formulas in LaTeX between `$`.
namespace dpsosp::plots {

/// As text with the markup of markup.hpp: "α ≤ √(d)/(nε)" with scripts. A command that is not known
/// stands as its name.
std::string readable(std::string_view quotation);

/// Visits words and formulas of a quotation in their order.
void for_each_piece(std::string_view quotation,
                    const std::function<void(std::string_view piece, bool formula)>& visit);

// For readers of a formula from the left, of what is left of it:

/// Takes the group in braces at the beginning. \return what is in it; empty without its end
std::string_view take_group(std::string_view& latex);
/// Takes the command at the beginning. \return its name
std::string_view take_command(std::string_view& latex);
/// Takes a character of UTF-8.
std::string_view take_character(std::string_view& latex);

/// The characters that a command stands for, as " ≤ " for "leq"; empty of an unknown one.
std::string_view latex_symbol(std::string_view command);
/// Whether the command is in the table, which has some that stand for nothing.
bool is_latex_symbol(std::string_view command);
/// The combining mark of \hat, \bar and the like; empty of another command.
std::string_view latex_accent(std::string_view command);

}  // namespace dpsosp::plots
