// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice.hpp"
#include "controls.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/reproductions/league.hpp"
#include "tables.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace league;

std::vector<Job> jobs_of_budgets(Scale scale, Contest contest) {
  std::vector<Job> jobs;
  for (const std::size_t budget : budgets)
    for (Job& job : jobs_of(tuned(scale, budget, contest))) jobs.push_back(std::move(job));
  return jobs;
}

std::vector<Job> tuned_jobs(Scale scale) {
  std::vector<Job> jobs = control_jobs(scale);
  for (Job& job : jobs_of_budgets(scale, Contest::minimisation)) jobs.push_back(std::move(job));
  return jobs;
}

std::vector<Job> minimax_jobs(Scale scale) { return jobs_of_budgets(scale, Contest::minimax); }

/// Who is in the first group at each d.
std::string finding(const std::vector<Ranked>& boards) {
  std::vector<std::string> list;
  for (const Ranked& r : boards) {
    std::vector<std::string> first;
    std::size_t open = 0;
    for (const std::size_t k : r.order) {
      const std::string word = word_of_frequency(r.frequency[k]);
      if (word == "first group") first.push_back(r.board.entrants[k].algorithm);
      open += word == "undecided";
    }
    list.push_back(fmt::format("d = {}: first {}, {} undecided", r.board.dimension,
                               fmt::join(first, ", "), open));
  }
  return fmt::format("{}", fmt::join(list, "; "));
}

/// What was drawn, and with which seeds.
std::vector<std::string> about_instances(Contest contest) {
  std::vector<std::string> list;
  for (const Group& group : groups(contest))
    list.push_back(fmt::format("{}: {}. {}", group.title, group.about,
                               group.simulated ? "Sums of records are drawn by their exact law; "
                                                 "a clip below the bound is refused there."
                                               : "Records are in memory, and clips are tuned."));
  list.push_back(
      fmt::format("Seeds of instances: tuning from {}, development from {}, final from {}.",
                  seed_of(Use::tuning, 0), seed_of(Use::development, 0), seed_of(Use::final, 0)));
  return list;
}

plots::Exhibit render_contest(const Runs& runs, const Study& study, Contest contest) {
  std::vector<std::vector<Ranked>> by_budget;
  for (const std::size_t budget : budgets)
    by_budget.push_back(ranked(boards_of(runs, tuned(study.scale, budget, contest))));
  const std::vector<Ranked>& boards = by_budget.back();
  const Ranked& middle = boards[boards.size() / 2];
  plots::Exhibit e;
  e.verdict = {finding(boards), plots::Tone::neutral};
  e.differences = about_instances(contest);
  e.figures = {shares_figure(boards), levels_figure(middle)};
  e.tables = {standings_table(boards), budgets_table(by_budget), groups_table(middle),
              costs_table(boards)};
  return e;
}

plots::Exhibit render_tuned(const Runs& runs, const Study& study) {
  plots::Exhibit e = render_contest(runs, study, Contest::minimisation);
  e.tables.push_back(untuned_table(boards_of(runs, tuned(study.scale, budgets.back()))));
  e.tables.push_back(controls_table(runs, study.scale));
  return e;
}

plots::Exhibit render_minimax(const Runs& runs, const Study& study) {
  return render_contest(runs, study, Contest::minimax);
}

plots::Exhibit render_published(const Runs& runs, const Study& study) {
  const std::vector<Ranked> boards = ranked(boards_of(runs, published(study.scale)));
  plots::Exhibit e;
  e.verdict = {finding(boards), plots::Tone::neutral};
  e.figures = {levels_figure(boards.front())};
  e.tables = {standings_table(boards), groups_table(boards.front()), absent_table()};
  return e;
}

/// Without its runs, what is built in.
plots::Exhibit render_tuning(const Runs& runs, const Study& study) {
  const bool computed = runs.contains(tuning_jobs(study.scale, 1).front()) &&
                        std::ranges::all_of(tuning_jobs(study.scale),
                                            [&](const Job& job) { return runs.contains(job); });
  const std::string chosen = (computed ? choose(runs, study.scale) : committed_choices()).csv();
  plots::Exhibit e;
  e.verdict = {computed ? fmt::format("{} settings chosen", std::ranges::count(chosen, '\n') - 1)
                        : "the settings that are built in; their runs are not in this store",
               plots::Tone::neutral};
  e.tables = {order_table()};
  e.attachments = {{.label = "settings.csv", .file = "settings.csv", .content = chosen}};
  return e;
}

std::vector<Job> advice_jobs(Scale scale) {
  const Division division = tuned(scale, budgets.back());
  std::vector<Job> jobs = jobs_of(division, Use::development);
  for (Job& job : jobs_of(division)) jobs.push_back(std::move(job));
  return jobs;
}

plots::Exhibit render_advice(const Runs& runs, const Study& study) {
  const AdviceData fitted(runs, study.scale, Use::development);
  const AdviceData scored(runs, study.scale, Use::final);
  plots::Exhibit e;
  e.tables = {regret_table(fitted, scored)};
  for (const plots::RowGroup& group : e.tables.front().row_groups)
    for (const plots::Row& row : group.rows)
      if (row.label == "the advice")
        e.verdict = {
            fmt::format("on final instances the advice is {:.3g} times the best of all tuned "
                        "methods, geometric mean",
                        std::get<plots::Number>(row.cells[dimensions().size()].content).value),
            plots::Tone::neutral};
  e.attachments = {{.label = "advice.csv", .file = "advice.csv", .content = fitted.csv()}};
  return e;
}

std::string chosen_text(const Place& place, const Method& method) {
  const std::size_t trial = committed_choices().trial(place, method.algorithm, budgets.back());
  if (trial == default_trial) return "its schedule";
  std::vector<std::string> list;
  for (const auto& [name, value] : order_of(method, place.group->simulated)[trial])
    list.push_back(fmt::format("{} {}", name, value));
  return fmt::format("{}", fmt::join(list, ", "));
}

/// The cells of a board: one a group and n.
void add_cells(const Ranked& r, std::vector<League::Cell>& cells) {
  const Board& board = r.board;
  for (std::size_t first = 0; first < board.instances.size();) {
    const Group& group = *board.instances[first].group;
    std::size_t last = first;
    while (last < board.instances.size() && board.instances[last].group == &group) ++last;
    for (std::size_t p = 0; p < board.start[first].records.size(); ++p) {
      const double n = board.start[first].records[p];
      League::Cell cell{.group = group.id,
                        .title = group.title,
                        .dimension = board.dimension,
                        .records = static_cast<Index>(n),
                        .epsilon = league_epsilon,
                        .start = {},
                        .floor = floor_of(board.instances[(first + last) / 2], n),
                        .entries = {}};
      for (std::size_t i = first; i < last; ++i) cell.start.push_back(board.start[i].levels[p]);
      for (const std::size_t k : r.order) {
        League::Cell::Entry entry{.algorithm = board.entrants[k].algorithm, .levels = {}};
        for (std::size_t i = first; i < last; ++i)
          entry.levels.push_back(board.entrants[k].curves[i].levels[p]);
        cell.entries.push_back(std::move(entry));
      }
      cells.push_back(std::move(cell));
    }
    first = last;
  }
}

}  // namespace

std::optional<League> league_of(const Runs& runs, const Study& study) {
  const auto jobs = tuned_jobs(study.scale);
  if (jobs.empty() ||
      !std::ranges::all_of(jobs, [&](const Job& job) { return runs.contains(job); }))
    return {};
  League l;
  const Division division = tuned(study.scale, budgets.back());
  const std::vector<Ranked> boards = ranked(boards_of(runs, division));
  for (const Ranked& r : boards) {
    League::Dimension d{
        .dimension = r.board.dimension, .instances = r.board.instances.size(), .standings = {}};
    for (const std::size_t k : r.order)
      d.standings.push_back({.algorithm = r.board.entrants[k].algorithm,
                             .score = mean_score(r.scores.values[k]),
                             .frequency = r.frequency[k],
                             .word = word_of_frequency(r.frequency[k])});
    l.dimensions.push_back(std::move(d));
    add_cells(r, l.cells);
  }
  for (League::Cell& cell : l.cells)
    for (League::Cell::Entry& entry : cell.entries) {
      const auto method = std::ranges::find(division.methods, entry.algorithm, &Method::algorithm);
      entry.settings = chosen_text(
          {.group = &find_group(cell.group), .dimension = cell.dimension, .records = cell.records},
          *method);
    }
  l.controls = controls(runs, study.scale);
  l.figures = {shares_figure(boards), levels_figure(boards[boards.size() / 2])};
  return l;
}

Reproduction league_reproduction() {
  const auto entry = [](std::string_view id, auto jobs, auto render) {
    return exhibit_entry(
        league_texts(), id, [jobs](const Study& study) { return jobs(study.scale); },
        [render](const Runs& runs, const Study& study) { return render(runs, study); });
  };
  ExhibitEntry tuning = entry(
      "league-tuning/settings", [](Scale scale) { return tuning_jobs(scale); }, render_tuning);
  tuning.on_request = true;
  tuning.first_job = [](const Study& study) { return tuning_jobs(study.scale, 1).front(); };
  return {.texts = league_texts(),
          .exhibits = {entry("league/tuned", tuned_jobs, render_tuned),
                       entry(
                           "league/published",
                           [](Scale scale) { return jobs_of(published(scale)); }, render_published),
                       entry("league/minimax", minimax_jobs, render_minimax),
                       entry("league/advice", advice_jobs, render_advice), std::move(tuning)}};
}

}  // namespace dpsosp
