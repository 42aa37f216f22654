// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "dpsosp/experiments/built_in_sweep.hpp"

namespace dpsosp {

/// What figures were drawn from when they were computed before, and where that was: curves.csv and
/// provenance.csv of a folder of results/.
struct CommittedCurves {
  std::string_view folder;  ///< "avdiukhin-2024-figure-1a"
  std::string_view curves;
  std::string_view provenance;  ///< empty where there is no file
};

/// The data files of a reproduction, as they are built into the program. docs/claims.md describes
/// each.
struct Texts {
  std::string_view key;        ///< "xu-2026"
  std::string_view claims;     ///< claims.toml
  std::string_view arguments;  ///< arguments.toml: the authors' side of verdicts
  std::string_view tables;     ///< tables.toml: rows of printed tables
  std::string_view exhibits;   ///< exhibits.toml: what the exhibits' pages say
  std::vector<BuiltInSweep> sweeps;
  std::vector<CommittedCurves> curves{};  ///< of results/KEY-*; by folder
};

}  // namespace dpsosp
