// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dpsosp/core/settings.hpp"

namespace dpsosp {

/// A row a field: name, default, range and meaning; Markdown.
std::string settings_table(const Fields& fields);

/// `docs/problems.md`: every problem of the registry with formula, source, constants and their
/// proofs, saddles and minimisers, settings. A function of the code alone, so that a test can
/// compare the committed page with it.
std::string problem_page();

/// Writes problems.md and one picture problems/NAME.svg for each problem with a slice worth seeing.
/// \return what was written \throws InputError if the folder cannot be written or gnuplot is
/// missing
std::vector<std::filesystem::path> write_problem_page(const std::filesystem::path& folder);

}  // namespace dpsosp
