// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::league {
namespace {

using plots::number_cell;

constexpr const char* metric = "output.sosp_level";
constexpr const char* start = "start.sosp_level";
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t drawn = 6;   ///< curves that a figure shows beside the start
constexpr std::size_t banded = 2;  ///< of these with a band
constexpr double largest_factor = 100;

/// A metric of every run of a trial, NaN of failed ones.
std::vector<double> values(const Runs& runs, const Trial& t, const char* name) {
  std::vector<double> list;
  for (const Job& job : t.runs) {
    const RunResult* result = runs.result(job);
    list.push_back(result != nullptr ? metric_of(*result, name).value_or(nan) : nan);
  }
  return list;
}

plots::Cell spread_cell(const std::vector<double>& levels, std::string missing = "–") {
  if (levels.empty()) return plots::text_cell(std::move(missing));
  std::vector<double> finished;
  std::ranges::copy_if(
      levels, std::back_inserter(finished), [](double v) { return std::isfinite(v); });
  return plots::spread_cell(finished, std::ssize(levels) - std::ssize(finished), "failed");
}

std::vector<double> epsilons_of(const Played& played) {
  std::vector<double> list;
  for (const Place& p : played.places)
    if (std::ranges::find(list, p.epsilon) == list.end()) list.push_back(p.epsilon);
  std::ranges::sort(list);
  return list;
}

std::vector<Index> records_of(const Played& played) {
  std::set<Index> sizes;
  for (const Place& p : played.places) sizes.insert(p.records);
  return {sizes.begin(), sizes.end()};
}

std::optional<std::size_t> find_place(const Played& played, const Place& place) {
  const auto found = std::ranges::find(played.places, place);
  if (found == played.places.end()) return {};
  return static_cast<std::size_t>(found - played.places.begin());
}

/// Contenders by their median at a place, the best first; those without one are left out.
std::vector<std::size_t> order_at(const Played& played, std::size_t place) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < played.contenders.size(); ++k)
    if (std::isfinite(level_at(played.contenders[k], place))) order.push_back(k);
  std::ranges::stable_sort(
      order, {}, [&](std::size_t k) { return level_at(played.contenders[k], place); });
  return order;
}

/// The board's contenders; `candidate` says of which schedule the runs are.
template <class CandidateAt>
Played play_as(const Runs& runs,
               const Board& board,
               const Study& study,
               const std::vector<Place>& places,
               CandidateAt candidate) {
  Played played{.places = places, .start = {.name = "start", .levels = {}}};
  played.start.levels.resize(places.size());
  const std::uint64_t seeds = board.extent(study).seeds;
  for (std::size_t k = 0; k < entrants().size(); ++k) {
    Contender c{.name = entrants()[k], .levels = {}};
    std::vector<std::string> refusals;
    std::vector<double> spent;
    std::vector<bool> climbed;
    for (std::size_t p = 0; p < places.size(); ++p) {
      Trial t = trial(board.ground, c.name, places[p], seeds, study, candidate(k, p));
      c.levels.push_back(values(runs, t, metric));
      if (played.start.levels[p].empty()) {
        const auto at_start = values(runs, t, start);
        if (std::ranges::none_of(at_start, [](double v) { return std::isnan(v); }))
          played.start.levels[p] = at_start;
      }
      const auto after = values(runs, t, "output.value"), before = values(runs, t, "start.value");
      climbed.push_back(!after.empty() && median(after) > median(before));
      for (const double s : values(runs, t, "privacy.spent"))
        spent.push_back(s / places[p].epsilon);
      refusals.push_back(std::move(t.refusal));
    }
    std::erase_if(spent, [](double s) { return !std::isfinite(s); });
    played.spent.push_back(spent.empty() ? nan : median(std::move(spent)));
    played.climbed.push_back(std::move(climbed));
    played.refusals.push_back(std::move(refusals));
    played.contenders.push_back(std::move(c));
  }
  played.table = standings(played.contenders, played.start);
  return played;
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "∞";
  return ratio < 100 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.3g}", ratio);
}

std::string p_text(double p) { return p < 1e-3 ? "< 0.001" : fmt::format("{:.3f}", p); }

/// What a low level may hide: that nothing was done, or that F rose to where it is flat.
void mark(plots::Cell& cell, const Played& played, std::size_t contender, std::size_t place) {
  const double level = level_at(played.contenders[contender], place);
  const double nothing = level_at(played.start, place);
  if (std::isfinite(level) && level > diverged * nothing)
    cell.labels.push_back({"diverged", plots::Tone::bad});
  else if (std::isfinite(level) && level >= share_of_start * nothing)
    cell.labels.push_back({"no better than the start", plots::Tone::caution});
  else if (played.climbed[contender][place])
    cell.labels.push_back({"F rose", plots::Tone::caution});
}

/// Where the profiles of those that are drawn have ended, at most largest_factor.
double largest_ratio(const Played& standings, const Played& of) {
  const std::vector<double> best = best_levels(of.contenders);
  double largest = 2;
  for (std::size_t p = 0; p < best.size(); ++p) {
    for (std::size_t k = 0; k < std::min(drawn, standings.table.size()); ++k)
      if (const double level = level_at(of.contenders[standings.table[k].contender], p);
          std::isfinite(level))
        largest = std::max(largest, level / best[p]);
    if (const double level = level_at(of.start, p); std::isfinite(level) && std::isfinite(best[p]))
      largest = std::max(largest, level / best[p]);
  }
  return std::min(1.1 * largest, largest_factor);
}

/// Least and largest level that the figure of levels draws, with a margin.
std::pair<double, double> range_of(const Played& played) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  const auto see = [&](const Contender& c) {
    for (const auto& levels : c.levels)
      for (const double v : levels)
        if (v > 0) {
          low = std::min(low, v);
          high = std::max(high, v);
        }
  };
  for (std::size_t k = 0; k < std::min(drawn, played.table.size()); ++k)
    see(played.contenders[played.table[k].contender]);
  see(played.start);
  return {low / 1.2, high * 1.2};
}

}  // namespace

std::vector<double> levels_of(const Runs& runs, const Trial& trial) {
  return values(runs, trial, metric);
}

Played play(const Runs& runs, const Board& board, const Study& study) {
  return play_as(runs, board, study, board.extent(study).places, [](std::size_t, std::size_t) {
    return candidates().front();
  });
}

Tuned play_tuned(const Runs& runs, const Board& board, const Study& study) {
  const Extent& extent = board.extent(study);
  Tuned tuned{.board = {}, .chosen = {}, .seeds = extent.tuning_seeds};
  for (const std::string& key : entrants()) {
    std::vector<std::size_t> of_contender;
    for (const Place& place : extent.tuned) {
      std::vector<std::vector<double>> levels;
      for (const Candidate& c : candidates())
        levels.push_back(
            values(runs, trial(board.tuning, key, place, extent.tuning_seeds, study, c), metric));
      of_contender.push_back(choose(levels));
    }
    tuned.chosen.push_back(std::move(of_contender));
  }
  tuned.board =
      play_as(runs, board, study, extent.tuned, [&](std::size_t contender, std::size_t place) {
        return candidates()[tuned.chosen[contender][place]];
      });
  return tuned;
}

plots::Table winners_table(const Played& played, std::string id) {
  plots::Table t;
  t.id = std::move(id);
  t.row_header = "n";
  t.column_groups.push_back({"", {"start"}});
  for (const double epsilon : epsilons_of(played))
    t.column_groups.push_back(
        {fmt::format("ε = {:g}", epsilon), {"lowest (sosp_level)", "next (ratio)"}});
  plots::RowGroup group;
  for (const Index n : records_of(played)) {
    plots::Row row{.label = fmt::format("{}", n)};
    row.cells.emplace_back();
    for (const double epsilon : epsilons_of(played)) {
      const auto place = find_place(played, {n, epsilon});
      const auto order = place ? order_at(played, *place) : std::vector<std::size_t>{};
      if (order.empty()) {
        for (int k = 0; k < 2; ++k) row.cells.push_back(plots::text_cell(place ? "–" : "not run"));
        continue;
      }
      const Contender& first = played.contenders[order.front()];
      const double level = level_at(first, *place), nothing = level_at(played.start, *place);
      row.cells.front() = number_cell(nothing);
      row.cells.push_back(plots::text_cell(fmt::format("{} ({:.3g})", first.name, level)));
      row.cells.back().strong = true;
      mark(row.cells.back(), played, order.front(), *place);
      row.cells.push_back(plots::text_cell("–"));
      if (order.size() > 1) {
        const Contender& next = played.contenders[order[1]];
        row.cells.back() = plots::text_cell(
            fmt::format("{} ({})", next.name, ratio_text(level_at(next, *place) / level)));
      }
    }
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table standings_table(const Played& played) {
  plots::Table t;
  t.id = "standings";
  t.row_header = "algorithm";
  t.column_groups.push_back({"",
                             {"ratio to the best",
                              "cells won",
                              "no better than the start",
                              "F rose",
                              "did not run",
                              "ε spent / ε"}});
  t.column_groups.push_back(
      {"against the leader", {"ratio", "95 % interval", "pairs", "p (Holm)"}});
  const std::string cells = fmt::format("{}", played.places.size());
  plots::RowGroup group;
  // The start is ranked by its ratio, like an algorithm.
  const std::vector<double> best = best_levels(played.contenders);
  double sum = 0;
  std::size_t places = 0;
  for (std::size_t p = 0; p < best.size(); ++p)
    if (const double nothing = level_at(played.start, p),
        ratio = nothing / std::min(best[p], nothing);
        std::isfinite(best[p]) && std::isfinite(ratio) && ratio > 0) {
      sum += std::log(ratio);
      ++places;
    }
  const double nothing = places == 0 ? nan : std::exp(sum / static_cast<double>(places));
  bool shown = false;
  const auto show_start = [&] {
    plots::Row row{.label = "start"};
    row.cells.push_back(number_cell(nothing));
    while (row.cells.size() < 10) row.cells.push_back(plots::text_cell("–"));
    group.rows.push_back(std::move(row));
    shown = true;
  };
  for (std::size_t k = 0; k < played.table.size(); ++k) {
    const Standing& s = played.table[k];
    if (s.absent == played.places.size()) continue;
    if (!shown && s.ratio > nothing) show_start();
    plots::Row row{.label = played.contenders[s.contender].name};
    row.cells = {number_cell(s.ratio),
                 plots::text_cell(fmt::format("{} of {}", s.wins, cells)),
                 plots::count_cell(s.useless),
                 plots::count_cell(std::ranges::count(played.climbed[s.contender], true)),
                 plots::count_cell(s.absent),
                 number_cell(played.spent[s.contender], 2)};
    if (k == 0) {
      for (int i = 0; i < 4; ++i) row.cells.push_back(plots::text_cell(i == 0 ? "leader" : "–"));
    } else if (s.against_leader.pairs == 0) {
      for (int i = 0; i < 4; ++i) row.cells.push_back(plots::text_cell("–"));
    } else {
      const PairedComparison& c = s.against_leader;
      row.cells.push_back(plots::text_cell(ratio_text(c.ratio)));
      row.cells.push_back(plots::text_cell(
          fmt::format("[{}, {}]", ratio_text(c.interval.low), ratio_text(c.interval.high))));
      row.cells.push_back(plots::count_cell(c.pairs));
      row.cells.push_back(plots::text_cell(p_text(c.adjusted_p)));
    }
    group.rows.push_back(std::move(row));
  }
  if (!shown) show_start();
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table levels_table(const Played& played) {
  plots::Table t;
  t.id = "levels";
  t.row_header = "algorithm";
  const std::vector<double> best = best_levels(played.contenders);
  for (const double epsilon : epsilons_of(played)) {
    plots::ColumnGroup columns{fmt::format("ε = {:g}", epsilon), {}};
    for (const Place& p : played.places)
      if (p.epsilon == epsilon) columns.columns.push_back(fmt::format("n = {}", p.records));
    t.column_groups.push_back(std::move(columns));
  }
  const auto row_of = [&](const Contender& c, std::optional<std::size_t> contender) {
    plots::Row row{.label = c.name};
    for (const double epsilon : epsilons_of(played))
      for (std::size_t p = 0; p < played.places.size(); ++p) {
        if (played.places[p].epsilon != epsilon) continue;
        row.cells.push_back(spread_cell(c.levels[p], "did not run"));
        row.cells.back().strong = contender && level_at(c, p) == best[p];
        if (contender) mark(row.cells.back(), played, *contender, p);
      }
    return row;
  };
  plots::RowGroup group;
  for (const Standing& s : played.table)
    if (s.absent < played.places.size())
      group.rows.push_back(row_of(played.contenders[s.contender], s.contender));
  t.row_groups.push_back(std::move(group));
  plots::RowGroup nothing;
  nothing.rows.push_back(row_of(played.start, {}));
  nothing.rows.back().label = "start";
  t.row_groups.push_back(std::move(nothing));
  return t;
}

plots::Table tuned_table(const Played& as_scheduled, const Tuned& tuned, const Board& board) {
  const Played& played = tuned.board;
  plots::Table t;
  t.id = "tuned";
  std::vector<std::string> labels;
  for (const Candidate& c : candidates()) labels.push_back(c.label);
  t.caption = fmt::format(
      "Every schedule is told the bound B of F(x_{{0}}) − min F, or a multiple of it, one of {}: a "
      "smaller one means fewer steps with less noise each. Which one, each algorithm chooses in "
      "each cell by its median over {} seeds on public synthetic instances ({}), after {} runs, as "
      "many as any other algorithm. The records of the board never enter the choice, and nothing "
      "is charged for it. A cell shows the median level on the board and what was chosen. Gain: "
      "geometric mean of the level as scheduled over the tuned one, where both ran.",
      fmt::join(labels, ", "),
      tuned.seeds,
      board.about_tuning,
      candidates().size() * tuned.seeds);
  t.row_header = "algorithm";
  t.column_groups.push_back(
      {"", {"ratio to the best", "gain", "against the leader [95 %]", "p (Holm)"}});
  for (const double epsilon : epsilons_of(played)) {
    plots::ColumnGroup columns{fmt::format("ε = {:g}", epsilon), {}};
    for (const Place& p : played.places)
      if (p.epsilon == epsilon) columns.columns.push_back(fmt::format("n = {}", p.records));
    t.column_groups.push_back(std::move(columns));
  }
  plots::RowGroup group;
  for (std::size_t k = 0; k < played.table.size(); ++k) {
    const Standing& s = played.table[k];
    if (s.absent == played.places.size()) continue;
    const Contender& c = played.contenders[s.contender];
    const Contender& before = as_scheduled.contenders[s.contender];
    plots::Row row{.label = c.name};
    row.cells.resize(4);
    std::vector<double> gains;
    for (const double epsilon : epsilons_of(played))
      for (std::size_t p = 0; p < played.places.size(); ++p) {
        if (played.places[p].epsilon != epsilon) continue;
        const double level = level_at(c, p);
        const std::string& told = candidates()[tuned.chosen[s.contender][p]].label;
        row.cells.push_back(plots::text_cell(std::isfinite(level)
                                                 ? fmt::format("{:.3g} ({})", level, told)
                                                 : fmt::format("did not run ({})", told)));
        mark(row.cells.back(), played, s.contender, p);
        const double gain =
            level_at(before, find_place(as_scheduled, played.places[p]).value()) / level;
        if (std::isfinite(gain) && gain > 0) gains.push_back(std::log(gain));
      }
    row.cells[0] = number_cell(s.ratio);
    row.cells[1] =
        number_cell(gains.empty() ? nan
                                  : std::exp(std::accumulate(gains.begin(), gains.end(), 0.0) /
                                             static_cast<double>(gains.size())));
    const PairedComparison& against = s.against_leader;
    row.cells[2] =
        plots::text_cell(k == 0               ? "leader"
                         : against.pairs == 0 ? "–"
                                              : fmt::format("{} [{}, {}]",
                                                            ratio_text(against.ratio),
                                                            ratio_text(against.interval.low),
                                                            ratio_text(against.interval.high)));
    row.cells[3] =
        plots::text_cell(k == 0 || against.pairs == 0 ? "–" : p_text(against.adjusted_p));
    group.rows.push_back(std::move(row));
  }
  plots::Row row{.label = "start"};
  for (int k = 0; k < 4; ++k) row.cells.push_back(plots::text_cell("–"));
  for (const double epsilon : epsilons_of(played))
    for (std::size_t p = 0; p < played.places.size(); ++p)
      if (played.places[p].epsilon == epsilon)
        row.cells.push_back(number_cell(level_at(played.start, p)));
  group.rows.push_back(std::move(row));
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table controls_table(const Runs& runs, const Board& board, const Study& study) {
  const Place place = place_of_controls(board, study);
  const std::uint64_t seeds = board.extent(study).seeds;
  plots::Table t;
  t.id = "controls";
  t.title = fmt::format("Controls at {}", to_text(place));
  t.row_header = "algorithm";
  t.column_groups.push_back({"", {"as run", "ε = ∞", "noise only", "start"}});
  plots::RowGroup group;
  for (const std::string& key : controlled()) {
    plots::Row row{.label = key};
    const Trial as_run = trial(board.ground, key, place, seeds, study);
    for (const Door door : {Door::enforced, Door::no_noise, Door::no_data})
      row.cells.push_back(spread_cell(
          values(runs,
                 trial(board.ground, key, place, seeds, study, candidates().front(), door),
                 metric),
          "did not run"));
    row.cells.push_back(spread_cell(values(runs, as_run, start), "–"));
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table absent_table(const Played& played) {
  plots::Table t;
  t.id = "absent";
  t.row_header = "algorithm";
  t.column_groups.push_back({"", {"cells", "why"}});
  plots::RowGroup group;
  for (std::size_t k = 0; k < played.contenders.size(); ++k) {
    std::size_t count = 0;
    std::string why;
    for (const std::string& refusal : played.refusals[k]) {
      count += !refusal.empty();
      if (!refusal.empty()) why = refusal;
    }
    const std::size_t places = played.places.size();
    std::size_t finished = 0;
    for (std::size_t p = 0; p < places; ++p)
      finished += std::isfinite(level_at(played.contenders[k], p));
    if (finished == 0 && count < places) {
      count = places;
      why = "every run failed; dpsosp run with its algorithm and problem says why";
    }
    if (count == 0) continue;
    plots::Row row{.label = played.contenders[k].name};
    row.cells = {plots::text_cell(fmt::format("{} of {}", count, places)), plots::text_cell(why)};
    group.rows.push_back(std::move(row));
  }
  for (const auto& [key, why] : left_out()) {
    plots::Row row{.label = key};
    row.cells = {plots::text_cell("does not enter"), plots::text_cell(why)};
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Figure levels_figure(const Played& played) {
  plots::Figure f;
  f.id = "figure-levels";
  f.caption = fmt::format(
      "The first {} of the standings and the start (dashed): medians over seeds, for the first {} "
      "with bands from the smallest to the largest seed.",
      drawn,
      banded);
  const std::vector<Index> sizes = records_of(played);
  const std::pair<double, double> widths{static_cast<double>(sizes.front()) / 1.3,
                                         static_cast<double>(sizes.back()) * 1.3};
  const std::pair<double, double> heights = range_of(played);
  for (const double epsilon : epsilons_of(played)) {
    plots::Panel panel;
    panel.title = fmt::format("ε = {:g}", epsilon);
    panel.x = {.label = "records n", .scale = plots::Scale::log, .range = widths};
    panel.y = {.label = "sosp_level", .scale = plots::Scale::log, .range = heights};
    const auto series_of = [&](const Contender& c, std::size_t style) {
      plots::Series s{.label = c.name, .style = style, .algorithm = c.name};
      for (std::size_t p = 0; p < played.places.size(); ++p) {
        if (played.places[p].epsilon != epsilon || !(level_at(c, p) > 0) ||
            !std::isfinite(level_at(c, p)))
          continue;
        s.x.push_back(static_cast<double>(played.places[p].records));
        s.y.push_back(level_at(c, p));
        if (style >= banded) continue;
        s.low.push_back(std::ranges::min(c.levels[p]));
        s.high.push_back(std::ranges::max(c.levels[p]));
      }
      return s;
    };
    for (std::size_t k = 0; k < std::min(drawn, played.table.size()); ++k)
      if (plots::Series s = series_of(played.contenders[played.table[k].contender], k);
          !s.x.empty())
        panel.series.push_back(std::move(s));
    plots::Series nothing = series_of(played.start, drawn);
    nothing.dashed = true;
    if (!nothing.x.empty()) panel.series.push_back(std::move(nothing));
    if (!panel.series.empty()) f.panels.push_back(std::move(panel));
  }
  return f;
}

plots::Figure profiles_figure(const Played& played, const Tuned& tuned) {
  plots::Figure f;
  f.id = "figure-profiles";
  f.caption = fmt::format(
      "Share of the cells in which the median sosp_level is within a factor τ of the best one: "
      "the first {} of the standings as scheduled, and in the same colours after tuning, over the "
      "cells that were tuned. Dashed: the start.",
      drawn);
  f.columns = 2;
  const auto panel_of = [&](std::string title, const Played& of) {
    plots::Panel panel;
    panel.title = std::move(title);
    std::vector<Contender> all = of.contenders;
    all.push_back(of.start);
    const double largest = largest_ratio(played, of);
    panel.x = {.label = "factor τ", .scale = plots::Scale::log, .range = {{1.0, largest}}};
    panel.y = {.label = "share of cells", .range = {{0.0, 1.0}}};
    const auto add = [&](std::size_t contender, std::size_t style, bool dashed) {
      plots::Series s{.label = all[contender].name,
                      .style = style,
                      .dashed = dashed,
                      .algorithm = all[contender].name};
      for (const auto& [factor, share] : profile(all, contender, largest)) {
        s.x.push_back(factor);
        s.y.push_back(share);
      }
      panel.series.push_back(std::move(s));
    };
    for (std::size_t k = 0; k < std::min(drawn, played.table.size()); ++k)
      add(played.table[k].contender, k, false);
    add(all.size() - 1, drawn, true);
    f.panels.push_back(std::move(panel));
  };
  panel_of(fmt::format("as scheduled, {} cells", played.places.size()), played);
  if (!tuned.board.places.empty())
    panel_of(fmt::format("tuned, {} cells", tuned.board.places.size()), tuned.board);
  return f;
}

}  // namespace dpsosp::league
