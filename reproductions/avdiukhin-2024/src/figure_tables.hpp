// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/plots/exhibit.hpp"
#include "figure_runs.hpp"
#include "figure_statistics.hpp"

/// The tables of the figures with networks.
namespace dpsosp::avdiukhin_2024_figures {

/// A variant as a page shows it.
struct Shown {
  std::string_view figure;  ///< that the runs are of
  std::string_view variant;
  std::string words;
};

Shown shown(std::string_view figure, std::string_view variant);

/// Figure 3b has no curve without noise of its own: C says nothing there.
std::vector<Curve> curves_of(const FigureData& data, const Shown& s);

bool of_training(EpochMetric metric);

plots::Table accuracy_table(const FigureData& data, const std::vector<Shown>& variants,
                            EpochMetric metric);
plots::Table privacy_table(const FigureData& data, const std::vector<Shown>& variants);
plots::Table clipping_table(const FigureData& data, std::string_view figure, EpochMetric metric);
plots::Table dependence_table(const FigureData& data, const std::vector<Shown>& variants,
                              EpochMetric metric);
plots::Table norms_table(const FigureData& data, const std::vector<Shown>& variants);
plots::Table second_order_table(const std::vector<Curve>& curves);
plots::Table bounds_table(const FigureData& data, EpochMetric metric);

}  // namespace dpsosp::avdiukhin_2024_figures
