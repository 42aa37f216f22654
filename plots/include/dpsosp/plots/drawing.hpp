// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Figures and pages are made by the package for Python: dpsosp.plots with matplotlib,
/// dpsosp.report with Jinja2.
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

/// Makes the pages of a report from the models in its folder, with `python3 -m dpsosp.report`.
/// \return empty; or why they were not made, a line each, "pages: ..."
/// \throws InputError if a file cannot be written
std::vector<std::string> make_pages(const std::filesystem::path& folder);

}  // namespace dpsosp::plots
