// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A table of finite numbers from a file.
struct NumberTable {
  std::filesystem::path file;
  std::string format;                ///< for people: "CSV, separated by ';'", "NPY of float64"
  std::vector<std::string> columns;  ///< all different; those of an NPY file are 1, 2, ...
  Matrix records;                    ///< columns × n, a column a record, in the file's order
  std::size_t first_line = 0;        ///< that of record 0 in a text; 0: rows have no lines

  /// "FILE, line 7, column 'y'" or "FILE, row 6, column 4".
  std::string place(Index column, Index record) const;
};

/// A cell's content is refused. `what()` quotes it; a release says only where it stands.
class CellRefused : public InputError {
 public:
  CellRefused(const std::string& place, const std::string& found, const std::string& expected);
  const std::string& without_cell() const { return without_cell_; }

 private:
  std::string without_cell_;
};

/// Result of `act`; a refused cell becomes an InputError without its content.
auto without_cells(const auto& act) {
  try {
    return act();
  } catch (const CellRefused& e) {
    throw InputError(e.without_cell());
  }
}

/// A table in CSV or NPY, which the first bytes tell. CSV: line 1 names the columns and tells the
/// separator (comma, semicolon or tab); blanks around cells, a plus sign, a byte order mark and
/// empty last lines do not matter. NPY: float64 or float32 in two dimensions, a row a record.
/// \param wanted  the columns to read, in this order, of a CSV file whose other columns may hold
///                anything; empty: all
/// \throws InputError in one line: "FILE does not exist", "FILE, line 1: column 1 has no name";
///         CellRefused for the first cell in the file's order that is no finite number
NumberTable read_table(const std::filesystem::path& file,
                       const std::vector<std::string>& wanted = {});

}  // namespace dpsosp
