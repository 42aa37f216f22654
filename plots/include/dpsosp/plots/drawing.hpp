// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Figures are drawn by the package for Python, with matplotlib: dpsosp.plots.
namespace dpsosp::plots {

/// The folder of the package: that of the installation or of the checkout of the running program;
/// empty where it lies beside neither.
std::string python_package();

/// Draws with `python3 -m dpsosp.draw`, which says what its words mean. Waits for it.
/// \return empty; or what was not drawn and why, a line each, "figures: ..."
/// \throws InputError if a file cannot be written
std::vector<std::string> draw(const std::vector<std::string>& words);

/// The same in place of this process. \return 1, if there is no Python; a line on stderr says so
int draw_instead(const std::vector<std::string>& words);

/// Draws the figures of descriptions, such as a page's JSON, beside them, but for those that were
/// drawn from the same data and lie in the user's cache. \return as draw
std::vector<std::string> draw_figures(const std::vector<std::filesystem::path>& descriptions,
                                      const std::vector<std::string>& formats);

}  // namespace dpsosp::plots
