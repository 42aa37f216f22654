// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/reproductions/league.hpp"
#include "dpsosp/reproductions/league_noise.hpp"
#include "tables.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace league;

plots::Label verdict(const Played& played, const Played& tuned) {
  const std::vector<double> best = best_levels(played.contenders);
  std::size_t nobody = 0, worse = 0, ran = 0;
  for (std::size_t p = 0; p < best.size(); ++p)
    nobody += best[p] >= share_of_start * level_at(played.start, p);
  for (const Standing& s : played.table) {
    const std::size_t places = played.places.size() - s.absent;
    ran += places > 0;
    worse += places > 0 && 2 * s.useless > places;
  }
  const auto leader = [](const Played& p) { return p.contenders[p.table.front().contender].name; };
  return {fmt::format("{}{} leads{}; in {} of {} cells no algorithm improves on the start; {} of "
                      "{} algorithms do not improve on it in most of their cells",
                      tuned.places.empty() ? "" : fmt::format("tuned, {} leads; ", leader(tuned)),
                      leader(played),
                      tuned.places.empty() ? ", untuned" : " as scheduled",
                      nobody,
                      best.size(),
                      worse,
                      ran),
          plots::Tone::neutral};
}

plots::Exhibit render(const Runs& runs, const Study& study, const Board& board) {
  plots::Exhibit e;
  if (const std::string missing = missing_data(board); !missing.empty()) {
    e.verdict = {"not run: " + missing, plots::Tone::caution};
    return e;
  }
  const Played played = play(runs, board, study);
  const Tuned tuned = play_tuned(runs, board, study);
  e.verdict = verdict(played, tuned.board);
  e.notice = {std::string(league_warning)};
  e.differences = {board.limits};
  if (league_noise() == NoiseRule::calibrated)
    e.differences.emplace_back(
        "Every algorithm has the parameters of its schedule, and in place of its noise the least "
        "with which the queries that it plans fit the budget.");
  if (!tuned.board.places.empty())
    e.tables = {winners_table(tuned.board, "winners-tuned"), tuned_table(played, tuned, board)};
  e.tables.push_back(winners_table(played, "winners"));
  e.tables.push_back(standings_table(played));
  e.tables.push_back(levels_table(played));
  e.tables.push_back(controls_table(runs, board, study));
  e.tables.push_back(absent_table(played));
  e.figures = {levels_figure(played), profiles_figure(played, tuned)};
  return e;
}

template <const Board& (*board)()>
ExhibitEntry entry() {
  return exhibit_entry(
      league_texts(),
      "league/" + board().id,
      [](const Study& study) { return jobs_of(board(), study); },
      [](const Runs& runs, const Study& study) { return render(runs, study, board()); });
}

std::vector<LeagueBoard::Rank> ranks_of(const Played& played) {
  std::vector<LeagueBoard::Rank> ranks;
  for (std::size_t k = 0; k < played.table.size(); ++k) {
    const Standing& s = played.table[k];
    if (s.absent == played.places.size()) continue;
    LeagueBoard::Rank rank{.algorithm = played.contenders[s.contender].name,
                           .ratio = s.ratio,
                           .wins = s.wins,
                           .against_leader = {}};
    if (k > 0 && s.against_leader.pairs > 0) rank.against_leader = s.against_leader;
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

LeagueBoard board_of(const Runs& runs, const Study& study, const Board& board) {
  const Played played = play(runs, board, study);
  LeagueBoard b{.id = "league/" + board.id, .problem = board.ground.problem};
  b.dimension = board.ground.dimension.value_or(0);
  for (std::size_t p = 0; p < played.places.size(); ++p) {
    LeagueBoard::Cell cell{.records = played.places[p].records,
                           .epsilon = played.places[p].epsilon,
                           .start = played.start.levels[p],
                           .entries = {}};
    for (const Contender& c : played.contenders) cell.entries.push_back({c.name, c.levels[p]});
    b.cells.push_back(std::move(cell));
  }
  b.ranks = ranks_of(played);
  b.tuned = ranks_of(play_tuned(runs, board, study).board);
  const Place place = place_of_controls(board, study);
  b.controls_at = {place.records, place.epsilon};
  const auto levels = [&](const std::string& key, Door door) {
    return levels_of(runs,
                     trial(board.ground,
                           key,
                           place,
                           board.extent(study).seeds,
                           study,
                           candidates().front(),
                           door));
  };
  for (const std::string& key : controlled())
    b.controls.push_back({key,
                          levels(key, Door::enforced),
                          levels(key, Door::no_noise),
                          levels(key, Door::no_data)});
  return b;
}

}  // namespace

std::vector<LeagueBoard> league_boards(const Runs& runs, const Study& study) {
  std::vector<LeagueBoard> boards;
  for (const auto board : {benign, descent, escape, real_data}) {
    const auto jobs = jobs_of(board(), study);
    if (!jobs.empty() &&
        std::ranges::all_of(jobs, [&](const Job& job) { return runs.contains(job); }))
      boards.push_back(board_of(runs, study, board()));
  }
  return boards;
}

Reproduction league_reproduction() {
  return {.texts = league_texts(),
          .exhibits = {entry<benign>(), entry<descent>(), entry<escape>(), entry<real_data>()}};
}

}  // namespace dpsosp
