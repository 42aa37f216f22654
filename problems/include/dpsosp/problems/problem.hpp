// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/problems/objective.hpp"
#include "dpsosp/problems/records.hpp"

namespace dpsosp {

/// Public facts, private records, and the objectives by which a result is judged.
struct Problem {
  PublicFacts facts;
  std::unique_ptr<const Records> records;
  std::unique_ptr<const Objective> empirical;   ///< F, or Φ for minimax problems
  std::unique_ptr<const Objective> population;  ///< null where no exact form exists
  /// Whether x is where the constants are stated to hold; everywhere without it.
  std::function<bool(ConstVectorRef)> region;

  bool in_region(ConstVectorRef x) const { return !region || region(x); }
};

/// The size and the randomness of one instance.
struct InstanceSpec {
  Index records = 0;               ///< n ≥ 1
  std::optional<Index> dimension;  ///< d; the family's default without it
  std::uint64_t seed = 0;          ///< initial point
  std::uint64_t data_seed = 0;     ///< records; exchange it to exchange the whole data set
};

/// A family of problems: its settings and the maker of instances.
class ProblemFamily {
 public:
  virtual ~ProblemFamily() = default;

  virtual std::string_view name() const = 0;
  /// One line: formula and what it is good for.
  virtual std::string_view summary() const = 0;
  virtual Index default_records() const = 0;
  virtual Fields fields() = 0;
  /// Raised by every change of the family that moves a number; part of the run key.
  virtual int numbers_version() const = 0;
  /// \throws InputError on sizes or settings that make no instance.
  virtual Problem make(const InstanceSpec& spec) const = 0;
};

struct ProblemEntry {
  std::string name;
  std::unique_ptr<ProblemFamily> (*create)();
};

/// Every problem of the zoo, one line each.
const std::vector<ProblemEntry>& problem_registry();

/// The family called `name`. \throws InputError with the nearest name.
std::unique_ptr<ProblemFamily> find_problem(std::string_view name);

/// Refuses n < 1. Every family calls it first.
void check_records(std::string_view problem, Index records);

}  // namespace dpsosp
