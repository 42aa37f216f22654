// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/claims/reproduction.hpp"
#include "dpsosp/experiments/fit.hpp"

namespace dpsosp {

/// What the private algorithms reached on one board of the league; lower is better.
struct LeagueBoard {
  /// Levels of an algorithm, one a seed: NaN of a run that failed, none where it did not run.
  struct Entry {
    std::string algorithm;
    std::vector<double> levels;
  };
  struct Cell {
    Index records = 0;
    double epsilon = 0;
    std::vector<double> start;  ///< levels of the start
    std::vector<Entry> entries;
  };
  struct Rank {
    std::string algorithm;
    double ratio = 1;  ///< geometric mean over cells of its median over the best one
    std::size_t wins = 0;
    std::optional<PairedComparison> against_leader;  ///< none of the leader
  };
  /// As run, without noise, and with noise but no data.
  struct Control {
    std::string algorithm;
    std::vector<double> as_run, no_noise, no_data;
  };
  std::string id;  ///< of its exhibit: "league/escape"
  std::string problem;
  Index dimension = 0;
  std::vector<Cell> cells;
  std::vector<Rank> ranks;  ///< the leader first
  std::vector<Rank> tuned;  ///< the same with tuned schedules, over the cells that were tuned
  std::pair<Index, double> controls_at;  ///< n and ε
  std::vector<Control> controls;
};

/// What is to be read before any rank.
inline constexpr std::string_view league_warning =
    "This ranks schedules of theorems, untuned: nobody searched step sizes, numbers of steps or "
    "clips, and a method that ranks low may win with care. Schedules that are tuned in one number, "
    "the bound B that they are told, come first, and may have another leader.";

/// The boards whose runs are all among these.
std::vector<LeagueBoard> league_boards(const Runs& runs, const Study& study);

/// Every private algorithm on the same problems with the same guarantee, a board an exhibit.
Reproduction league_reproduction();

}  // namespace dpsosp
