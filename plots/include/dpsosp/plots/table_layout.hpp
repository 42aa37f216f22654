// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dpsosp/plots/table.hpp"

/// What the back ends of a table share.
namespace dpsosp::plots {

/// Shown in a cell without content and labels.
inline constexpr const char* empty_cell = "–";

std::size_t column_count(const Table& table);

/// The columns of all groups in order: "GROUP: COLUMN", or what there is of the two.
std::vector<std::string> column_names(const Table& table);

/// "2 of 20 failed: not_finite"; empty if none failed.
std::string failure_text(const Spread& spread);

inline bool has_median(const Spread& spread) { return spread.failed < spread.count; }

/// 0 -> "a", 25 -> "z", 26 -> "aa".
std::string footnote_mark(std::size_t index);

/// "a,c", in the order given; empty if there is none.
std::string footnote_marks(const std::vector<std::size_t>& footnotes);

/// The table's notes, and one on the meaning of medians where some runs failed.
std::vector<std::string> notes_of(const Table& table);

}  // namespace dpsosp::plots
