// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "board.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/table.hpp"

namespace dpsosp::league {

/// A board with its standings, the best score first.
struct Ranked {
  Board board;
  Scores scores;
  std::vector<std::size_t> order;
  std::vector<double> frequency;  ///< of the first group, by entrant
};
std::vector<Ranked> ranked(std::vector<Board> boards);

/// "first group", "undecided" or "behind".
std::string word_of_frequency(double frequency);

/// The share of pairs of instance and target reached with n records or fewer, a panel a dimension.
plots::Figure shares_figure(const std::vector<Ranked>& boards);
/// Median level of each group against n, with floor and start: the first of the ranking.
plots::Figure levels_figure(const Ranked& board);

plots::Table standings_table(const std::vector<Ranked>& boards);
/// Scores by group of the board.
plots::Table groups_table(const Ranked& board);
/// Scores with every budget. \param by_budget  in the order of budgets, each a board a dimension
plots::Table budgets_table(const std::vector<std::vector<Ranked>>& by_budget);
/// The smallest n at which half of the instances reach a target.
plots::Table costs_table(const std::vector<Ranked>& boards);
/// Best tuned rival over each method without dials, by group and dimension.
plots::Table untuned_table(const std::vector<Board>& boards);
plots::Table absent_table();
/// The order of trials of every method.
plots::Table order_table();

}  // namespace dpsosp::league
