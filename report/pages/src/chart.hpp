// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/report/model.hpp"
#include "html.hpp"
#include "prose.hpp"

/// Drawings, as SVG that follows the style sheet's colours.
namespace dpsosp::report {

/// Small and without a legend, for a card.
Html small_panel_svg(const plots::Panel& panel, const Site& site);

/// A figure that is drawn as `address`.svg, the caption, and `below`.
/// \param rates  among which a curve's slope is looked up by sweep, part, arm and metric, for
/// those who do not see the drawing
Html figure_html(const plots::Figure& figure,
                 const std::vector<Rate>& rates,
                 const std::string& address,
                 const Place& place,
                 const Html& below = {});

/// The panels of a figure small, with its caption.
Html small_figure_html(const plots::Figure& figure, const Place& place);

/// What stands above a forest plot.
inline constexpr std::string_view forest_legend =
    "A row is a method on one statement and leads to its claim. Bar: the claimed exponent (two: a "
    "range). Grey: the zone that counts as claimed. Mark: the measured slope with its 95 % "
    "interval "
    "over seeds. An exponent in ε is taken in the noise √ρ(ε, δ) that ε allows, where the claim is "
    "of it.";
/// The forest plot, with the head of its columns.
Html forest_html(const std::vector<ForestGroup>& groups, const Place& place, std::string_view id);

/// Measured minus claimed, with zones and plans; one row a rate.
Html interval_svg(const std::vector<Rate>& rates);
/// The same for a card: rows of one method together.
Html small_interval_svg(const std::vector<Rate>& rates, const Site& site);

/// Levels of one cell of the league, the start dotted. \param narrow  for small screens
Html levels_svg(const LeagueCell& cell, const Site& site, bool narrow);
/// Where one algorithm stands among the ratios of a board.
Html rank_svg(const LeagueRank& rank, std::string_view algorithm, const Site& site);
/// Cells that have run, and the question.
Html cells_svg(const WhichPage& which);
Html picture_svg(const Picture& picture);

}  // namespace dpsosp::report
