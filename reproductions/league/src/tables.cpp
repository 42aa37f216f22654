// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/tracked_descent/tracked_descent.hpp"

namespace dpsosp::league {
namespace {

using plots::count_cell;
using plots::number_cell;
using plots::text_cell;

constexpr std::size_t drawn = 6;  ///< curves that a figure of levels shows beside start and floor

std::string title_of(const Board& board) { return fmt::format("d = {}", board.dimension); }

/// Sizes at which any of the curves was measured.
std::vector<double> sizes_of(const std::vector<Curve>& curves) {
  std::set<double> sizes;
  for (const Curve& c : curves) sizes.insert(c.records.begin(), c.records.end());
  return {sizes.begin(), sizes.end()};
}

plots::Series shares(const std::vector<Curve>& curves, std::string label, std::size_t style) {
  plots::Series s{.label = std::move(label), .style = style};
  for (const double n : sizes_of(curves)) {
    s.x.push_back(n);
    s.y.push_back(share_within(curves, n));
  }
  return s;
}

/// Positions of the instances of a group.
std::vector<std::size_t> members(const Board& board, const Group& group) {
  std::vector<std::size_t> list;
  for (std::size_t k = 0; k < board.instances.size(); ++k)
    if (board.instances[k].group == &group) list.push_back(k);
  return list;
}

/// The groups of the instances, in their order.
std::vector<const Group*> groups_of(const Board& board) {
  std::vector<const Group*> list;
  for (const Instance& instance : board.instances)
    if (std::ranges::find(list, instance.group) == list.end()) list.push_back(instance.group);
  return list;
}

/// Medians over instances against n, with their quartiles where `band` asks.
plots::Series medians(const std::vector<Curve>& curves, const std::vector<std::size_t>& of,
                      std::string label, std::size_t style, bool band) {
  plots::Series s{.label = std::move(label), .style = style};
  for (std::size_t p = 0; p < curves[of.front()].records.size(); ++p) {
    std::vector<double> levels;
    for (const std::size_t k : of) levels.push_back(curves[k].levels[p]);
    std::ranges::sort(levels);
    if (!(levels.front() > 1e-300) || !std::isfinite(levels.back())) continue;  // on a log axis
    s.x.push_back(curves[of.front()].records[p]);
    s.y.push_back(median(levels));
    if (!band) continue;
    s.low.push_back(levels.front());
    s.high.push_back(levels.back());
  }
  return s;
}

plots::Panel levels_panel(const Ranked& r, const Group& group) {
  const Board& board = r.board;
  const auto of = members(board, group);
  plots::Panel panel;
  panel.title = group.title;
  panel.x = {.label = "records n", .scale = plots::Scale::log};
  panel.y = {.label = "sosp_level", .scale = plots::Scale::log};
  const auto add = [&](plots::Series s) {
    if (!s.x.empty()) panel.series.push_back(std::move(s));
  };
  for (std::size_t k = 0; k < std::min(drawn, r.order.size()); ++k) {
    const Entrant& e = board.entrants[r.order[k]];
    plots::Series s = medians(e.curves, of, e.algorithm, r.order[k], k == 0);
    s.algorithm = e.algorithm;
    add(std::move(s));
  }
  plots::Series start = medians(board.start, of, "start", board.entrants.size(), false);
  start.dashed = true;
  plots::Series floor{
      .label = "one gradient’s noise", .style = board.entrants.size() + 1, .dashed = true};
  for (const double n : start.x) {
    std::vector<double> floors;
    for (const std::size_t k : of) floors.push_back(floor_of(board.instances[k], n));
    floor.x.push_back(n);
    floor.y.push_back(median(std::move(floors)));
  }
  add(std::move(start));
  add(std::move(floor));
  return panel;
}

std::string size_text(double n) { return std::isfinite(n) ? fmt::format("{:g}", n) : "–"; }

std::string text_of(const Settings& settings) {
  if (settings.empty()) return "its schedule";
  std::vector<std::string> list;
  for (const auto& [name, value] : settings) list.push_back(fmt::format("{} {}", name, value));
  return fmt::format("{}", fmt::join(list, ", "));
}

/// Positions of n on the grid at which one gradient’s noise is at most `share` of G; with an
/// infinite share all.
std::vector<std::size_t> sizes_with(const Board& board, std::size_t instance, double share) {
  std::vector<std::size_t> list;
  const Curve& start = board.start[instance];
  for (std::size_t p = 0; p < start.records.size(); ++p)
    if (floor_of(board.instances[instance], start.records[p]) <= share * start.lipschitz)
      list.push_back(p);
  return list;
}

/// ln(level of the best rival / level of `own`) of each instance, averaged over the sizes. The
/// rival is the best one on these instances, chosen for each size. Levels below the last target
/// count as it.
std::vector<double> log_ratios(const Board& board, const std::vector<std::size_t>& of,
                               const std::vector<std::size_t>& sizes, std::size_t own,
                               const std::vector<std::size_t>& rivals) {
  std::vector<double> ratios(of.size(), 0);
  for (const std::size_t p : sizes) {
    const auto log_level = [&](std::size_t m, std::size_t i) {
      const Curve& curve = board.entrants[m].curves[i];
      return std::log(std::max(curve.levels[p], target(curve.lipschitz, most_target)));
    };
    const auto total = [&](std::size_t m) {
      double sum = 0;
      for (const std::size_t i : of) sum += log_level(m, i);
      return sum;
    };
    const std::size_t best = *std::ranges::min_element(rivals, {}, total);
    for (std::size_t k = 0; k < of.size(); ++k)
      ratios[k] +=
          (log_level(best, of[k]) - log_level(own, of[k])) / static_cast<double>(sizes.size());
  }
  return ratios;
}

/// exp of the mean over instances, with its 95 % interval.
plots::Cell ratio_cell(const std::vector<double>& logs) {
  const auto mean = [&](std::span<const std::size_t> of) {
    double sum = 0;
    for (const std::size_t k : of) sum += logs[k];
    return sum / static_cast<double>(of.size());
  };
  const double estimate = mean_score(logs);
  const Interval i = bootstrap_interval(logs.size(), estimate, mean);
  return text_cell(fmt::format("{:.3g} [{:.3g}, {:.3g}]", std::exp(estimate), std::exp(i.low),
                               std::exp(i.high)));
}

}  // namespace

std::vector<Ranked> ranked(std::vector<Board> boards) {
  std::vector<Ranked> list;
  for (Board& board : boards) {
    Ranked r{.board = std::move(board), .scores = {}, .order = {}, .frequency = {}};
    r.scores = scores_of(r.board);
    r.order = ranking(r.scores);
    r.frequency = frequencies(r.board, r.scores);
    list.push_back(std::move(r));
  }
  return list;
}

std::string word_of_frequency(double frequency) {
  if (frequency >= decided) return "first group";
  return frequency <= 1 - decided ? "behind" : "undecided";
}

plots::Figure shares_figure(const std::vector<Ranked>& boards) {
  plots::Figure f;
  f.id = "figure-shares";
  for (const Ranked& r : boards) {
    plots::Panel panel;
    panel.title = fmt::format("{}, ε = {:g}, {} instances", title_of(r.board), league_epsilon,
                              r.board.instances.size());
    panel.x = {.label = "records n", .scale = plots::Scale::log};
    panel.y = {.label = "share of targets reached"};
    for (std::size_t k = 0; k < r.board.entrants.size(); ++k) {
      const Entrant& e = r.board.entrants[r.order[k]];
      plots::Series s = shares(e.curves, e.algorithm, r.order[k]);
      s.algorithm = e.algorithm;
      panel.series.push_back(std::move(s));
    }
    panel.series.push_back(shares(r.board.start, "start", r.board.entrants.size()));
    panel.series.back().dashed = true;
    f.panels.push_back(std::move(panel));
  }
  return f;
}

plots::Figure levels_figure(const Ranked& board) {
  plots::Figure f;
  f.id = "figure-levels";
  f.title = fmt::format("Level against n, {}", title_of(board.board));
  for (const Group* group : groups_of(board.board)) f.panels.push_back(levels_panel(board, *group));
  return f;
}

plots::Table standings_table(const std::vector<Ranked>& boards) {
  plots::Table t;
  t.id = "standings";
  t.row_header = "algorithm";
  t.column_groups.push_back({"",
                             {"score", "frequency of the first group", "word", "passes", "runs",
                              "failed", "outside", "above the start"}});
  for (const Ranked& r : boards) {
    plots::RowGroup rows{.label = fmt::format("{}, {} instances; equal methods are told apart in "
                                              "{:.0f} % of simulations",
                                              title_of(r.board), r.board.instances.size(),
                                              100 * simulated_error(r.scores)),
                         .rows = {}};
    for (const std::size_t k : r.order) {
      const Entrant& e = r.board.entrants[k];
      rows.rows.push_back(
          {.label = e.algorithm,
           .cells = {number_cell(mean_score(r.scores.values[k])), number_cell(r.frequency[k], 2),
                     text_cell(2 * e.failed > e.runs ? "mostly not run"
                                                     : word_of_frequency(r.frequency[k])),
                     number_cell(e.passes.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                  : median(e.passes)),
                     count_cell(e.runs), count_cell(e.failed), count_cell(e.outside),
                     count_cell(e.worse)}});
    }
    double of_start = 0;
    for (const Curve& curve : r.board.start)
      of_start += score_of(curve) / static_cast<double>(r.board.start.size());
    rows.rows.push_back({.label = "start", .cells = {number_cell(of_start)}});
    rows.rows.back().cells.resize(t.column_groups.front().columns.size(), text_cell("–"));
    t.row_groups.push_back(std::move(rows));
  }
  return t;
}

plots::Table groups_table(const Ranked& r) {
  plots::Table t;
  t.id = "groups";
  t.title = fmt::format("Score by group, {}", title_of(r.board));
  t.row_header = "algorithm";
  plots::ColumnGroup columns;
  std::vector<std::vector<std::size_t>> of;
  for (const Group* group : groups_of(r.board)) {
    columns.columns.push_back(group->title);
    of.push_back(members(r.board, *group));
  }
  t.column_groups.push_back(std::move(columns));
  for (const std::size_t k : r.order) {
    plots::Row row{.label = r.board.entrants[k].algorithm};
    for (const auto& list : of) {
      double sum = 0;
      for (const std::size_t i : list) sum += r.scores.values[k][i];
      row.cells.push_back(number_cell(sum / static_cast<double>(list.size())));
    }
    t.add(std::move(row));
  }
  return t;
}

plots::Table budgets_table(const std::vector<std::vector<Ranked>>& by_budget) {
  plots::Table t;
  t.id = "budgets";
  t.row_header = "algorithm";
  const std::vector<Ranked>& last = by_budget.back();
  for (const Ranked& r : last) {
    plots::ColumnGroup columns{title_of(r.board), {}};
    for (const std::size_t budget : budgets) columns.columns.push_back(fmt::format("{}", budget));
    t.column_groups.push_back(std::move(columns));
  }
  for (const std::size_t k : last.front().order) {
    plots::Row row{.label = last.front().board.entrants[k].algorithm};
    for (std::size_t d = 0; d < last.size(); ++d)
      for (const auto& boards : by_budget)
        row.cells.push_back(number_cell(mean_score(boards[d].scores.values[k])));
    t.add(std::move(row));
  }
  return t;
}

plots::Table costs_table(const std::vector<Ranked>& boards) {
  static constexpr std::array<int, 4> shown{4, 6, 8, 10};
  plots::Table t;
  t.id = "costs";
  t.row_header = "algorithm";
  for (const Ranked& r : boards) {
    plots::ColumnGroup columns{title_of(r.board), {}};
    for (const int k : shown) columns.columns.push_back(fmt::format("G 10^{{−{:g}}}", k / 4.0));
    t.column_groups.push_back(std::move(columns));
  }
  for (const std::size_t m : boards.front().order) {
    plots::Row row{.label = boards.front().board.entrants[m].algorithm};
    for (const Ranked& r : boards)
      for (const int k : shown)
        row.cells.push_back(text_cell(size_text(cost_of_half(r.board.entrants[m].curves, k))));
    t.add(std::move(row));
  }
  return t;
}

plots::Table untuned_table(const std::vector<Board>& boards) {
  plots::Table t;
  t.id = "untuned";
  t.row_header = "group";
  const double largest_floor = tracked_descent::TrackedDescentParameters{}.hopeless;
  for (const std::string& title :
       {fmt::format("n with one gradient’s noise ≤ {:g} G", largest_floor),
        std::string("every n")}) {
    t.column_groups.push_back({title, {}});
    for (const Board& board : boards) t.column_groups.back().columns.push_back(title_of(board));
  }
  const auto all = methods();
  std::vector<std::size_t> rivals;
  for (std::size_t m = 0; m < all.size(); ++m)
    if (!all[m].dials.empty()) rivals.push_back(m);
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (!all[m].dials.empty() || boards.front().entrants[m].program) continue;
    plots::RowGroup rows{.label = all[m].algorithm, .rows = {}};
    for (const Group& group : groups()) {
      plots::Row row{.label = group.title};
      for (const double share : {largest_floor, std::numeric_limits<double>::infinity()})
        for (const Board& board : boards) {
          const auto of = members(board, group);
          const auto sizes =
              of.empty() ? std::vector<std::size_t>{} : sizes_with(board, of.front(), share);
          row.cells.push_back(sizes.empty() ? text_cell("–")
                                            : ratio_cell(log_ratios(board, of, sizes, m, rivals)));
        }
      rows.rows.push_back(std::move(row));
    }
    t.row_groups.push_back(std::move(rows));
  }
  return t;
}

plots::Table absent_table() {
  plots::Table t;
  t.id = "absent";
  t.row_header = "algorithm";
  t.column_groups.push_back({"", {"why"}});
  for (const auto& [key, why] : left_out()) t.add({.label = key, .cells = {text_cell(why)}});
  return t;
}

plots::Table order_table() {
  plots::Table t;
  t.id = "order";
  t.row_header = "algorithm";
  t.column_groups.push_back({"", {"trial", "sums drawn by their law", "records in memory"}});
  auto all = methods();
  for (Method& method : methods(Contest::minimax)) all.push_back(std::move(method));
  for (const Method& method : all) {
    if (method.dials.empty()) continue;
    plots::RowGroup rows{.label = method.algorithm, .rows = {}};
    for (std::size_t trial = 0; trial < budgets.back(); ++trial)
      rows.rows.push_back(
          {.label = method.algorithm,
           .cells = {count_cell(trial), text_cell(text_of(order_of(method, true)[trial])),
                     text_cell(text_of(order_of(method, false)[trial]))}});
    t.row_groups.push_back(std::move(rows));
  }
  return t;
}

}  // namespace dpsosp::league
