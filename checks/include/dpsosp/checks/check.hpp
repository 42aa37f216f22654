// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

class ProblemFamily;

/// Makes the family under check, at its settings, as often as it is asked.
using FamilyFactory = std::function<std::unique_ptr<ProblemFamily>()>;

/// One property that a problem owes, and what was measured.
struct CheckLine {
  std::string property;
  bool passed = false;
  std::string detail;  ///< the worst case met
};

/// What the search for a violation of a proved constant reached.
struct ConstantCheck {
  std::string name;
  Constant stated;
  double reached = 0;  ///< the largest value met; the smallest for lower bounds (q, μ)
  /// The part of the bound that was reached: reached/stated, stated/reached for lower bounds;
  /// above 1 is a violation.
  double share = 0;
};

struct ProblemCheck {
  std::string problem;
  std::string skipped;  ///< why nothing was checked; empty if it was
  std::vector<CheckLine> lines;
  std::vector<ConstantCheck> constants;

  bool passed() const;
};

struct CheckOptions {
  std::optional<Index> dimension;
  std::uint64_t seed = 0;
  /// Records compared with the population objective; fewer where d > 20, to bound the memory.
  Index average_records = 1000000;
  /// Whether family and seed are the defaults, for which the constants' `attained` is stated.
  bool default_settings = true;
};

/// The contract of every problem: derivatives against finite differences, records against
/// objectives, clipping, determinism, secrecy of the public facts, landmarks, and every proved
/// constant attacked by a search (random points, corners, ascent on the violation).
/// \throws InputError if the settings make no instance
ProblemCheck check_problem(const FamilyFactory& family, const CheckOptions& options);

/// The same for a registered name and settings as text.
ProblemCheck check_problem(const std::string& name,
                           const std::map<std::string, std::string>& settings,
                           CheckOptions options);

}  // namespace dpsosp
