// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/claims/predicate.hpp"
#include "figure_runs.hpp"

/// What the paper says of its figures with networks, judged by their runs.
namespace dpsosp::avdiukhin_2024_figures {

/// Whether runs are of the published size: widths, records and seeds. Batch and epochs are not
/// printed.
bool is_published_size(const CurveRun& run);

/// The finding on the claim of a figure. Reduced runs decide nothing: it says whether they meet the
/// condition. \param data  of that figure
Finding judge_figure(std::string_view figure, const FigureData& data);

/// "1/8", "8", "no noise".
std::string epsilon_text(std::optional<double> epsilon);

}  // namespace dpsosp::avdiukhin_2024_figures
