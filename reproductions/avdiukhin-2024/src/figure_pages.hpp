// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/plots/exhibit.hpp"
#include "figure_runs.hpp"

/// The pages of the figures with networks.
namespace dpsosp::avdiukhin_2024_figures {

/// The page of a figure but for its words, from rows alone, wherever these come from.
plots::Exhibit figure_page(std::string_view figure, const FigureData& data);

}  // namespace dpsosp::avdiukhin_2024_figures
