// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "board.hpp"
#include "dpsosp/plots/table.hpp"
#include "dpsosp/reproductions/league_advice.hpp"

/// Advice is fitted on instances for development, whose settings were chosen on those for tuning,
/// and scored on the final ones.
namespace dpsosp::league {

/// Counted levels over G at a place, one an instance.
struct Findings {
  std::vector<double> start;
  std::map<std::string, std::vector<double>> levels;  ///< by algorithm
};

class AdviceData {
 public:
  struct Key {
    std::string group;
    Index dimension = 0;
    Index records = 0;

    auto operator<=>(const Key&) const = default;
  };
  AdviceData() = default;
  /// Of finished runs.
  AdviceData(const Runs& runs, Scale scale, Use use);
  /// \throws InputError for a line that is none
  explicit AdviceData(std::string_view csv);
  std::string csv() const;

  const std::map<Key, Findings>& places() const { return places_; }

 private:
  std::map<Key, Findings> places_;
};
const AdviceData& committed_advice();

/// Algorithms that cannot be told from the best at a place, the least geometric mean first.
std::vector<std::string> advised(const Findings& findings);

std::vector<Advice> advise(const AdviceData& data, const AdviceQuestion& question);

/// Geometric mean over places of the level of a choice over the best of all tuned methods there: of
/// the advice, and of every algorithm where it is taken everywhere.
/// \param fitted  on development instances \param scored  on final ones
plots::Table regret_table(const AdviceData& fitted, const AdviceData& scored);

}  // namespace dpsosp::league
