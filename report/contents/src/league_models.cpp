// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/experiments/fit.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// The question that the page opens with.
constexpr double asked_n = 1e5, asked_d = 20, asked_epsilon = 1;
constexpr const char* asked_group = "saddles";

constexpr const char* board = "league/tuned";

/// Share of the start's level from which nothing was gained.
constexpr double near_start = 0.99;

double median_of(std::vector<double> levels) {
  std::erase_if(levels, [](double v) { return !std::isfinite(v); });
  return levels.empty() ? std::numeric_limits<double>::quiet_NaN() : median(std::move(levels));
}

LeagueCell cell_of(const League::Cell& c) {
  LeagueCell cell{.group = c.group,
                  .title = c.title,
                  .n = static_cast<double>(c.records),
                  .d = static_cast<double>(c.dimension),
                  .epsilon = c.epsilon,
                  .start = median_of(c.start),
                  .floor = c.floor};
  for (const League::Cell::Entry& e : c.entries)
    if (const double level = median_of(e.levels); std::isfinite(level))
      cell.levels.push_back({.algorithm = e.algorithm,
                             .median = level,
                             .low = std::ranges::min(e.levels),
                             .high = std::ranges::max(e.levels),
                             .instances = static_cast<int>(e.levels.size()),
                             .settings = e.settings});
  std::ranges::stable_sort(cell.levels, {}, &LeagueCell::Level::median);
  return cell;
}

/// Decades between a cell and the question. Noise goes by n times the root of zCDP, which is about
/// n ε, so the two count once.
double decades_away(const LeagueCell& c) {
  return std::abs(std::log10(c.n * c.epsilon / (asked_n * asked_epsilon))) +
         std::abs(std::log10(c.d / asked_d));
}

/// Positions of the cell of each group that is nearest to the question.
std::vector<std::size_t> nearest_of(const std::vector<LeagueCell>& cells) {
  std::vector<std::size_t> nearest;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const auto same = std::ranges::find_if(
        nearest, [&](std::size_t other) { return cells[other].group == cells[k].group; });
    if (same == nearest.end())
      nearest.push_back(k);
    else if (decades_away(cells[k]) < decades_away(cells[*same]))
      *same = k;
  }
  return nearest;
}

plots::Table standings_of(const League::Dimension& d) {
  plots::Table t{.id = fmt::format("standings-{}", d.dimension),
                 .title = fmt::format("d = {}, {} instances", d.dimension, d.instances),
                 .row_header = "algorithm"};
  t.column_groups = {{"", {"score", "frequency of the first group", "word"}}};
  for (const League::Standing& s : d.standings)
    t.add({.label = s.algorithm,
           .cells = {plots::number_cell(s.score), plots::number_cell(s.frequency, 2),
                     plots::text_cell(s.word)}});
  return t;
}

std::string sentence_of(const LeagueCell& c) {
  const LeagueCell::Level& first = c.levels.front();
  const std::string where = fmt::format("{}, d = {:g}, n = {:g}", c.title, c.d, c.n);
  if (first.median >= near_start * c.start)
    return fmt::format("{}: nobody improves on the start, {:.3g}.", where, c.start);
  std::string t = fmt::format("{}: `{}` is lowest with {:.3g} ({})", where, first.algorithm,
                              first.median, first.settings);
  if (c.levels.size() > 1)
    t += fmt::format(", `{}` next with {:.3g}", c.levels[1].algorithm, c.levels[1].median);
  return t +
         fmt::format("; the start has {:.3g}, the noise of one gradient {:.3g}.", c.start, c.floor);
}

}  // namespace

std::vector<LeagueRank> ranks_of(const Stored& stored, std::string_view algorithm) {
  std::vector<LeagueRank> ranks;
  if (!stored.league()) return ranks;
  for (const League::Dimension& d : stored.league()->dimensions) {
    const auto found = std::ranges::find(d.standings, algorithm, &League::Standing::algorithm);
    if (found == d.standings.end()) continue;
    LeagueRank r{.board = board,
                 .d = static_cast<int>(d.dimension),
                 .rank = static_cast<int>(found - d.standings.begin()) + 1,
                 .of = static_cast<int>(d.standings.size()),
                 .score = found->score,
                 .frequency = found->frequency,
                 .word = found->word};
    for (const League::Standing& s : d.standings) r.all.emplace_back(s.algorithm, s.score);
    ranks.push_back(std::move(r));
  }
  return ranks;
}

std::optional<WhichPage> which_of(const Stored& stored) {
  if (!stored.league()) return {};
  const League& league = *stored.league();
  WhichPage w{.n = asked_n,
              .d = asked_d,
              .epsilon = asked_epsilon,
              .start = asked_group,
              .warning =
                  "Settings were chosen on random instances that are not among those shown. "
                  "On one secret data set nobody can choose so without paying for it. Tracked "
                  "descent is not tuned; its constants were chosen on cosine-saddle, ramp and "
                  "double-well, whose families three groups draw."};
  for (const plots::Figure& f : league.figures) (f.id == "figure-shares" ? w.shares : w.levels) = f;
  if (w.shares)
    w.shares->caption =
        "Share of the pairs of an instance and a target that are reached with n records or fewer; "
        "a curve a method, named under the pointer.";
  if (w.levels)
    w.levels->caption =
        "Median sosp_level over instances. Dash-dotted: the start; dotted: the noise of one "
        "gradient.";
  for (const League::Dimension& d : league.dimensions) w.standings.push_back(standings_of(d));
  for (const League::Cell& c : league.cells) {
    if (std::ranges::find(w.groups, c.group, &Fact::name) == w.groups.end())
      w.groups.push_back({c.group, c.title});
    if (LeagueCell cell = cell_of(c); !cell.levels.empty()) w.cells.push_back(std::move(cell));
  }
  w.nearest = nearest_of(w.cells);
  for (const std::size_t k : w.nearest) w.can.push_back(sentence_of(w.cells[k]));
  for (const League::Control& c : league.controls) {
    w.controls.push_back({.group = c.group,
                          .algorithm = c.algorithm,
                          .n = static_cast<double>(c.records),
                          .epsilon = 1,
                          .as_run = median_of(c.as_run),
                          .no_noise = median_of(c.no_noise),
                          .no_data = median_of(c.no_data),
                          .start = median_of(c.start)});
  }
  w.cannot = {"What the nearest cells have not: cells are never interpolated.",
              "Who is best among those that are undecided: their order is that of these instances.",
              "What a problem of none of these groups does, or one with other constants.",
              "That a first-order method’s output is a second-order point: no theorem says so."};
  return w;
}

TextPage league_page(const Stored& stored) {
  TextPage page{.id = "league",
                .title = "League",
                .lead =
                    "Private algorithms on random instances of seven groups of problems at ε = 1, "
                    "δ = 10^{−6}. Score: the share of pairs of an instance and a target that a "
                    "method reaches; frequency: how often it is in the first group when instances "
                    "are drawn again. All are tuned alike but tracked descent, which is not "
                    "tuned."};
  TextPage::Section s{.id = "standings", .heading = "Standings"};
  for (const League::Dimension& d : stored.league()->dimensions)
    s.tables.push_back(standings_of(d));
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k)
    if (all.entries[k]->id.starts_with("league/"))
      s.links.emplace_back(all.entries[k]->title, all.exhibits[k].id + "/index.html");
  s.links.emplace_back("Which method for my n, d and ε?", "which.html");
  page.sections = {std::move(s)};
  return page;
}

}  // namespace dpsosp::report
