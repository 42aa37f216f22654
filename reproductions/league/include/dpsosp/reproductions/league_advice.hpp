// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

struct AdviceQuestion {
  Index records = 0;
  Index dimension = 0;
  double epsilon = 1;
  double delta = 1e-6;
  std::string kind{};  ///< id of a group of problems; empty: every group
};

/// What the tuned division of the league found where it is nearest to a question.
struct Advice {
  std::string kind;       ///< "escapes"
  std::string title;      ///< "hard escapes"
  Index dimension = 0;    ///< of the nearest instances
  Index records = 0;      ///< theirs, at ε = 1 and δ = 1e-6
  double equivalent = 0;  ///< n at ε = 1 and δ = 1e-6 with as little noise as the question has
  double start = 0;       ///< median level of the start over G
  double floor = 0;       ///< length of the noise of one gradient with all the budget over G
  bool hopeless = false;  ///< nobody improves on the start
  struct Choice {
    std::string algorithm;
    double level = 0, low = 0, high = 0;  ///< median and range over instances, over G
    /// Names and values, with units: G, M and B are public constants of the problem.
    std::vector<std::pair<std::string, std::string>> settings{};  ///< empty: its schedule
  };
  /// Those that cannot be told from the best, the least level first.
  std::vector<Choice> choices;
};
/// By the results that are built in. \throws InputError for an unknown kind
std::vector<Advice> advise(const AdviceQuestion& question);

/// A setting of a choice with the constants of a problem, by name. \throws MissingConstant
std::string number_of(const std::string& value, const std::map<std::string, double>& constants);

/// Kinds that may be asked for, and their titles.
std::vector<std::pair<std::string, std::string>> advice_kinds();

}  // namespace dpsosp
