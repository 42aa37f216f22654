// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dpsosp {

/// `docs/algorithms.md`: a line for every algorithm. A function of the code alone, so that a test
/// can compare the committed page with it.
std::string algorithm_table();
/// The page of `./run site`: the tables' entries, every card, a command for each algorithm.
std::string algorithm_page();

/// Writes algorithms.md (the table) and reference/algorithms.md (the page). \return what was
/// written \throws InputError if the folder cannot be written
std::vector<std::filesystem::path> write_algorithm_page(const std::filesystem::path& folder);

}  // namespace dpsosp
