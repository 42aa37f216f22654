// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// The data files of a reproduction, as they are built into the program. docs/claims.md describes
/// each.
struct Texts {
  std::string_view key;        ///< "xu-2026"
  std::string_view claims;     ///< claims.toml
  std::string_view arguments;  ///< arguments.toml: the authors' side of verdicts
  std::string_view tables;     ///< tables.toml: rows of printed tables
  std::string_view exhibits;   ///< exhibits.toml: what the exhibits' pages say
  std::vector<BuiltInSweep> sweeps;
};

}  // namespace dpsosp
