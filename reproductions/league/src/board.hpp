// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "division.hpp"
#include "measures.hpp"

namespace dpsosp::league {

/// What a method did on the instances of a board.
struct Entrant {
  std::string algorithm;
  bool program = false;       ///< a caller's
  std::vector<Curve> curves;  ///< one an instance
  std::size_t runs = 0;
  std::size_t failed = 0;   ///< ended without a result, or were never made: refused or too long
  std::size_t outside = 0;  ///< left the region of the constants
  std::size_t worse = 0;    ///< ended above the start within it
  std::vector<double> passes{};  ///< over the records, of the runs that ended
};

/// Methods on the same instances of one dimension.
struct Board {
  Index dimension = 0;
  std::vector<Instance> instances;
  std::vector<Curve> start;
  std::vector<Entrant> entrants;
};

/// What is compared: methods, and the trial of each at each place.
struct Division {
  std::vector<Method> methods;
  std::vector<Place> places;
  Scale scale = Scale::quick;
  std::size_t budget = 0;

  std::size_t trial(const Place& place, const Method& method) const;
};
/// The tuned division of a contest with a budget.
Division tuned(Scale scale, std::size_t budget, Contest contest = Contest::minimisation);
/// Every private algorithm that minimises as its schedule has it, at d = 8 and one n a group.
Division published(Scale scale);
/// Private algorithms that do not enter, and why.
const std::vector<std::pair<std::string, std::string>>& left_out();

std::vector<Job> jobs_of(const Division& division, Use use = Use::final);
/// The boards of a division, one a dimension.
std::vector<Board> boards_of(const Runs& runs, const Division& division, Use use = Use::final);

/// Scores of the entrants; strata are groups.
Scores scores_of(const Board& board);
/// Entrants by the mean of their scores, the best first.
std::vector<std::size_t> ranking(const Scores& scores);
double mean_score(const std::vector<double>& scores);

/// Frequencies of the first group among the suite's own methods; a program has its frequency among
/// them and itself, so that none of theirs moves.
std::vector<double> frequencies(const Board& board, const Scores& scores);
/// How often the procedure puts some method out of the first group where all are equal.
double simulated_error(const Scores& scores);

/// √(2d/R) G/n: length of the noise of one gradient that has all the budget.
double floor_of(const Instance& instance, double records);

}  // namespace dpsosp::league
