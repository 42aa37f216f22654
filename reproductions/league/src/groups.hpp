// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"

/// Random instances of problems, in groups of one kind of difficulty.
namespace dpsosp::league {

using Settings = std::map<std::string, std::string>;

/// What instances are for. The seeds of two uses are never equal, so neither are their instances.
enum class Use { tuning, development, final };

constexpr auto words_of(Use) {
  using enum Use;
  return word_list<Use>("use",
                        {{tuning, "tuning"}, {development, "development"}, {final, "final"}});
}

/// The published seed of instance number `k` of a use, below 1 000 000 each.
std::uint64_t seed_of(Use use, std::uint64_t k);

/// A problem as it is drawn: conditioning, rotation, order of the saddle, start, noise of the data.
struct Draw {
  std::string problem;
  Settings settings;
  bool sized_by_settings = false;  ///< d follows from the settings and is not told
};

/// Methods meet those of their own contest, on its groups.
enum class Contest { minimisation, minimax };

struct Group {
  std::string id;     ///< "escapes"
  std::string title;  ///< "hard escapes"
  std::string about;  ///< what is drawn, in words
  /// Whether sums of records are drawn by their exact law. Single records are not available then,
  /// so a clip below the bound of their gradients is refused.
  bool simulated = true;
  std::vector<Index> records;  ///< the grid of n
  Index kinds = 1;             ///< of problems; instances take them in turn
  Draw (*draw)(Stream& random, Index kind, Index d) = nullptr;
  Contest contest = Contest::minimisation;
};
const std::vector<Group>& groups(Contest contest = Contest::minimisation);
/// A group of minimisation. \throws InputError for an unknown id
const Group& find_group(std::string_view id);
/// Different for every group.
std::size_t ordinal_of(const Group& group);

/// A problem of a group; a function of group, d and seed.
struct Instance {
  const Group* group = nullptr;
  Index dimension = 0;
  std::uint64_t seed = 0;
  RunSpec spec;  ///< problem, its settings, d and seeds; of the rest the defaults
  std::map<std::string, double> constants;  ///< public ones

  double constant(std::string_view name) const;
};
Instance instance_of(const Group& group, Index d, std::uint64_t seed);

/// The dimensions that instances have.
const std::vector<Index>& dimensions(Contest contest = Contest::minimisation);

}  // namespace dpsosp::league
