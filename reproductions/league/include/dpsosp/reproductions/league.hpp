// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/claims/reproduction.hpp"
#include "dpsosp/plots/figure.hpp"

namespace dpsosp {

/// What the tuned division of the league found, for pages that ask it.
struct League {
  struct Standing {
    std::string algorithm;
    double score = 0;      ///< share of targets reached, over instances and n; in [0, 1]
    double frequency = 0;  ///< of the first group
    std::string word;      ///< first group, undecided or behind
  };
  /// Instances of a group at one d and n.
  struct Cell {
    std::string group;  ///< "escapes"
    std::string title;  ///< "hard escapes"
    Index dimension = 0;
    Index records = 0;
    double epsilon = 1;
    std::vector<double> start;  ///< levels, one an instance
    double floor = 0;           ///< median length of the noise of one gradient with all the budget
    struct Entry {
      std::string algorithm;
      std::vector<double> levels;  ///< the start's where it failed or ended above
      int failed = 0;
      std::string settings;  ///< that were chosen, with their units; "its schedule"
    };
    std::vector<Entry> entries;
  };
  /// Levels as run, without noise, and with noise but no data.
  struct Control {
    std::string group;
    std::string algorithm;
    Index records = 0;
    std::vector<double> as_run, no_noise, no_data, start;
  };
  struct Dimension {
    Index dimension = 0;
    std::size_t instances = 0;
    std::vector<Standing> standings;  ///< the best score first
  };
  std::vector<Dimension> dimensions;
  std::vector<Cell> cells;
  std::vector<Control> controls;
  std::vector<plots::Figure> figures;
};

/// None where runs are missing.
std::optional<League> league_of(const Runs& runs, const Study& study);

/// Private algorithms on random instances of many problems, tuned alike.
Reproduction league_reproduction();

}  // namespace dpsosp
