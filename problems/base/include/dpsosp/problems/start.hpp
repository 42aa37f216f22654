// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// Starts that a family offers; functions of public settings alone.
struct Starts {
  Vector standard;               ///< the start in the family's source
  std::optional<Vector> saddle;  ///< an exact strict saddle of the population objective
  double random_spread = 1.0;    ///< standard deviation of a random point's entries
  double far_radius = 10.0;      ///< length of a far point
};

/// The settings `start` and `near_radius`, and the public point that they choose.
class StartOption {
 public:
  enum class Kind { standard, saddle, near_saddle, far, random };
  friend constexpr auto words_of(Kind) {
    using enum Kind;
    return word_list<Kind>("start", {{standard, "standard"},
                                     {saddle, "saddle"},
                                     {near_saddle, "near_saddle"},
                                     {far, "far"},
                                     {random, "random"}});
  }

  Kind kind = Kind::standard;
  double near_radius = 1e-3;

  void add_fields(Fields& fields);
  /// x₀, projected onto the domain of `facts`. \throws InputError if the family has no known saddle
  Vector pick(const PublicFacts& facts, const Starts& starts, Stream random) const;
};

}  // namespace dpsosp
