// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

/// Tables of a report against committed reference results; results/README.md states the rules.
namespace dpsosp {

struct ReferenceCheck {
  std::vector<std::string> compared;     ///< tables of the reference, as EXHIBIT/TABLE.csv
  std::vector<std::string> differences;  ///< one line each: file, row, column, both values
};

/// The exhibits that the reference holds: folders with a table. \throws InputError if there is none
std::vector<std::string> reference_exhibits(const std::filesystem::path& reference);

/// Compares every CSV table of these exhibits, cell by cell. curves.csv and provenance.csv, the
/// rows that figures are drawn from and where they were computed, are no tables.
///   the median of a spread lies within high - low of the reference from its median, or within
///     a relative 1e-6 where that is less; its number of runs and of failed runs are equal; its
///     ends, which two runs of chaos need not share, are not compared;
///   a slope with its interval, in two columns or as "a [b, c]", lies within the sum of both
///     half-widths; the drift beside it is not compared;
///   any other number is equal to a relative 1e-6;
///   texts have the same words, equal integers, and other numbers equal to one unit of the last
///     place shown.
/// \throws InputError if a table is not CSV
ReferenceCheck check_reference(const std::filesystem::path& reference,
                               const std::filesystem::path& report,
                               const std::vector<std::string>& exhibits);

}  // namespace dpsosp
