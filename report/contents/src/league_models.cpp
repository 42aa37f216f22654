// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/fit.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// The question that the page opens with.
constexpr double asked_n = 1e5, asked_d = 20, asked_epsilon = 1;
constexpr std::string_view asked_start = "near a saddle";

struct Finished {
  std::vector<double> values;
  int failed = 0;
};
Finished finished(const std::vector<double>& levels) {
  Finished f;
  for (const double v : levels) {
    if (std::isfinite(v))
      f.values.push_back(v);
    else
      ++f.failed;
  }
  return f;
}

double median_of(const std::vector<double>& levels) {
  const Finished f = finished(levels);
  return f.values.empty() ? std::numeric_limits<double>::quiet_NaN() : median(f.values);
}

LeagueCell cell_of(const LeagueBoard& board, const LeagueBoard::Cell& c) {
  LeagueCell cell{.board = board.id,
                  .problem = board.problem,
                  .n = static_cast<double>(c.records),
                  .d = static_cast<double>(board.dimension),
                  .epsilon = c.epsilon,
                  .start = median_of(c.start)};
  for (const LeagueBoard::Entry& e : c.entries) {
    const Finished f = finished(e.levels);
    if (f.values.empty()) continue;
    cell.levels.push_back({.algorithm = e.algorithm,
                           .median = median(f.values),
                           .low = std::ranges::min(f.values),
                           .high = std::ranges::max(f.values),
                           .seeds = static_cast<int>(e.levels.size()),
                           .failed = f.failed});
  }
  std::ranges::stable_sort(cell.levels, {}, &LeagueCell::Level::median);
  return cell;
}

std::string start_text(const std::string& board) {
  if (board == "league/benign") return "a saddle with many ways out";
  if (board == "league/escape") return "a saddle with one way out";
  if (board == "league/descent") return "a slope, far from any saddle";
  return "the origin, on data";
}
bool starts_at_saddle(const std::string& board) {
  return start_text(board).starts_with("a saddle");
}

/// Share of the level at the start from which an output counts as having stayed.
constexpr double near_start = 0.99;

std::string rounded(double v) { return fmt::format("{:.3g}", v); }

/// Factors from the question to the cell, of those numbers that differ.
std::string distance_text(const LeagueCell& c) {
  std::string out;
  const auto add = [&](std::string_view name, double asked, double has) {
    if (asked != has) out += fmt::format("{}{} is {:g}", out.empty() ? "" : ", ", name, has);
  };
  add("n", asked_n, c.n);
  add("d", asked_d, c.d);
  add("ε", asked_epsilon, c.epsilon);
  return out;
}

/// The first of a board with tuned schedules, beside what they are as scheduled.
plots::Table tuned_table(const LeagueBoard& board) {
  constexpr std::size_t shown = 6;
  plots::Table t{.id = "tuned-" + board.id.substr(board.id.find('/') + 1),
                 .title = board.id,
                 .caption = "Geometric mean over cells of the median level over the best one.",
                 .row_header = "algorithm"};
  t.column_groups = {{"", {"tuned", "as scheduled"}}};
  plots::RowGroup rows;
  for (const LeagueBoard::Rank& r : board.tuned) {
    if (rows.rows.size() == shown) break;
    plots::Row row{.label = r.algorithm, .cells = {plots::number_cell(r.ratio)}};
    const auto before = std::ranges::find(board.ranks, r.algorithm, &LeagueBoard::Rank::algorithm);
    row.cells.push_back(before == board.ranks.end() ? plots::text_cell("–")
                                                    : plots::number_cell(before->ratio));
    rows.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(rows));
  return t;
}

/// The algorithms to compare on a board's problem.
struct Asked {
  std::string name, problem;
  std::vector<std::string> algorithms;
};

std::string toml_of(const std::vector<Asked>& asked) {
  std::string toml = fmt::format(
      "title = \"The missing cell\"\nmetric = \"output.sosp_level\"\n"
      "seeds = {{ smoke = 2, quick = 20, full = 20 }}\nrecords = {:g}\ndimension = {:g}\nepsilon = "
      "{:g}\n",
      asked_n,
      asked_d,
      asked_epsilon);
  std::string parts;
  for (const Asked& a : asked) {
    std::vector<std::string> arms;
    for (const std::string& algorithm : a.algorithms) {
      arms.push_back(fmt::format("\"{}, {}\"", algorithm, a.name));
      toml += fmt::format("\n[[arm]]\nname = {}\nalgorithm = \"{}\"\nproblem = \"{}\"\n",
                          arms.back(),
                          algorithm,
                          a.problem);
    }
    parts +=
        fmt::format("\n[[part]]\nname = \"{}\"\narms = [{}]\naxes = [{{ records = [{:g}] }}]\n",
                    a.name,
                    fmt::join(arms, ", "),
                    asked_n);
  }
  return toml + parts;
}

}  // namespace

std::vector<LeagueRank> ranks_of(const Stored& stored, std::string_view algorithm) {
  std::vector<LeagueRank> ranks;
  for (const LeagueBoard& b : stored.boards()) {
    const auto found = std::ranges::find(b.ranks, algorithm, &LeagueBoard::Rank::algorithm);
    if (found == b.ranks.end()) continue;
    LeagueRank r{.board = b.id,
                 .problem = b.problem,
                 .rank = static_cast<int>(found - b.ranks.begin()) + 1,
                 .of = static_cast<int>(b.ranks.size()),
                 .ratio = found->ratio,
                 .wins = static_cast<int>(found->wins),
                 .cells = static_cast<int>(b.cells.size())};
    for (const LeagueBoard::Rank& other : b.ranks) r.all.emplace_back(other.algorithm, other.ratio);
    if (const auto tuned = std::ranges::find(b.tuned, algorithm, &LeagueBoard::Rank::algorithm);
        tuned != b.tuned.end()) {
      r.tuned_rank = static_cast<int>(tuned - b.tuned.begin()) + 1;
      r.tuned_ratio = tuned->ratio;
    }
    ranks.push_back(std::move(r));
  }
  return ranks;
}

std::optional<WhichPage> which_of(const Stored& stored) {
  const std::vector<LeagueBoard>& boards = stored.boards();
  if (boards.empty()) return {};
  WhichPage w{.n = asked_n,
              .d = asked_d,
              .epsilon = asked_epsilon,
              .start = std::string(asked_start),
              .warning = std::string(league_warning)};
  for (const LeagueBoard& b : boards) {
    if (!b.tuned.empty()) w.tuned.push_back(tuned_table(b));
    w.starts.push_back({b.id, start_text(b.id)});
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const LeagueBoard::Cell& c : b.cells) {
      LeagueCell cell = cell_of(b, c);
      if (cell.levels.empty()) continue;
      const double away = std::abs(std::log(cell.n / asked_n)) +
                          std::abs(std::log(cell.epsilon / asked_epsilon)) +
                          (cell.d > 0 ? std::abs(std::log(cell.d / asked_d)) : 0);
      if (away < least) {
        least = away;
        nearest = w.cells.size();
      }
      w.cells.push_back(std::move(cell));
    }
    if (starts_at_saddle(b.id) && std::isfinite(least)) w.nearest.push_back(nearest);
    for (const LeagueBoard::Control& c : b.controls) {
      if (!starts_at_saddle(b.id)) continue;
      const auto cell = std::ranges::find_if(b.cells, [&](const LeagueBoard::Cell& other) {
        return other.records == b.controls_at.first && other.epsilon == b.controls_at.second;
      });
      w.controls.push_back({.board = b.id,
                            .algorithm = c.algorithm,
                            .n = static_cast<double>(b.controls_at.first),
                            .epsilon = b.controls_at.second,
                            .as_run = median_of(c.as_run),
                            .no_noise = median_of(c.no_noise),
                            .no_data = median_of(c.no_data),
                            .start = cell == b.cells.end()
                                         ? std::numeric_limits<double>::quiet_NaN()
                                         : median_of(cell->start)});
    }
  }
  if (w.nearest.empty()) w.nearest.push_back(0);
  constexpr std::size_t compared = 3;
  std::vector<Asked> asked;
  for (const std::size_t k : w.nearest) {
    const LeagueCell& c = w.cells[k];
    std::string t =
        fmt::format("{}, {}: of {} algorithms that ran, `{}`, untuned, is lowest with {}",
                    c.board,
                    start_text(c.board),
                    c.levels.size(),
                    c.levels.front().algorithm,
                    rounded(c.levels.front().median));
    if (c.levels.size() > 1) {
      const bool overlap = c.levels[1].low <= c.levels[0].high;
      t += fmt::format(", `{}` next with {}; the ranges of the two {}",
                       c.levels[1].algorithm,
                       rounded(c.levels[1].median),
                       overlap ? "overlap" : "do not overlap");
    }
    w.can.push_back(t + fmt::format(". The start has {}.", rounded(c.start)));
    if (const std::string away = distance_text(c); !away.empty())
      w.cannot.push_back(
          fmt::format("{} has no cell with these numbers: in the nearest {}.", c.board, away));
    for (const LeagueControl& control : w.controls)
      if (control.board == c.board && control.algorithm == c.levels.front().algorithm &&
          control.no_noise >= near_start * control.start)
        w.can.push_back(
            fmt::format("Without noise `{}` stays at the start of {}: it leaves by its noise.",
                        control.algorithm,
                        c.board));
    Asked a{.name = c.board.substr(c.board.find('/') + 1), .problem = c.problem};
    for (std::size_t rank = 0; rank < std::min(compared, c.levels.size()); ++rank)
      a.algorithms.push_back(c.levels[rank].algorithm);
    asked.push_back(std::move(a));
  }
  for (const LeagueBoard& b : boards) {
    if (!starts_at_saddle(b.id) || b.ranks.empty()) continue;
    std::size_t rivals = 0, ties = 0;
    for (const LeagueBoard::Rank& r : b.ranks)
      if (r.against_leader) {
        ++rivals;
        ties += r.against_leader->interval.low <= 1;
      }
    w.cannot.push_back(
        fmt::format("Who follows the leader of {}, `{}`: over all its cells {} of {} rivals have "
                    "an interval of the ratio that includes 1: they cannot be told from it.",
                    b.id,
                    b.ranks.front().algorithm,
                    ties,
                    rivals));
  }
  w.cannot.emplace_back(
      "That a first-order method’s output is a second-order point: no theorem says so.");
  w.toml = toml_of(asked);
  w.command = "./run dpsosp sweep missing-cell.toml";
  return w;
}

}  // namespace dpsosp::report
