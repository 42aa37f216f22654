// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dpsosp {

/// One entry of a printed table, and what runs for it.
struct TableEntry {
  std::string_view table;                                 ///< paper key and number
  std::string_view row;                                   ///< as printed
  std::string_view column;                                ///< as printed
  std::string_view printed;                               ///< the printed rate, logarithms dropped
  std::vector<std::string_view> algorithms;               ///< registry keys; empty: bound only
  std::map<std::string_view, std::string_view> settings;  ///< that make the algorithm the entry's
  std::string_view remark;                                ///< why there is none, or what to know
  /// Where the rate is measured: built-in sweeps and their arms.
  struct Measured {
    std::string_view sweep;
    std::string_view arm;
  };
  std::vector<Measured> measured = {};
};

/// Every entry of Ganesh et al.'s Tables 1 to 3, Lowy et al.'s Figure 1, Xu et al.'s Table 1 and
/// the rate comparison in Liu and Talwar's introduction.
const std::vector<TableEntry>& table_entries();

/// `docs/algorithms.md`: the tables' entries, every card, a command for each algorithm. A function
/// of the code alone, so that a test can compare the committed page with it.
std::string algorithm_page();

/// Writes algorithms.md. \return what was written \throws InputError if the folder cannot be
/// written
std::vector<std::filesystem::path> write_algorithm_page(const std::filesystem::path& folder);

}  // namespace dpsosp
