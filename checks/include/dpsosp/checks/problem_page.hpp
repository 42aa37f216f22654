// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/plots/contour.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// A row a field: name, default, range and meaning; Markdown.
std::string settings_table(const Fields& fields);

/// `docs/problems.md`: a line for every problem of the registry. A function of the code alone, so
/// that a test can compare the committed page with it.
std::string problem_table();
/// The page of `./run site`: formulas, sources, constants with their proofs, saddles and
/// minimisers, settings.
std::string problem_page();

/// "G" for the constant `lipschitz`; empty where the page has no symbol for it.
std::string_view constant_symbol(std::string_view name);
/// "proved, tight", "proved, loose: 0.4 of it is reached", or the origin.
std::string bound_text(const Constant& constant);
/// Values over the family's slice with its landmarks, `points` along each of its axes; none where
/// it has no slice, or no data here.
std::optional<plots::ContourMap> problem_picture(const ProblemFamily& family, Index points);

/// Writes problems.md (the table), reference/problems.md (the page), and one picture
/// problems/NAME.svg for each problem with a slice worth seeing.
/// \return what was written \throws InputError if the folder cannot be written, or none can be
/// drawn
std::vector<std::filesystem::path> write_problem_page(const std::filesystem::path& folder);

}  // namespace dpsosp
