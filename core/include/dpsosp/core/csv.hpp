// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dpsosp {

struct CsvRow {
  std::vector<std::string> fields;  ///< one or more, without quotes
  std::string_view text;            ///< as written, without its line end: a part of what was read
  std::size_t line = 0;             ///< that it begins in; the first is 1
};

/// The rows of separated values (RFC 4180), one after the other: a field that begins with '"' ends
/// at the next single '"' and may hold separators and line ends. Rows end with \n or \r\n, the last
/// one also without; an empty line is a row with one empty field. A byte order mark is left out.
class CsvReader {
 public:
  /// \param where  of the text, for messages
  CsvReader(std::string_view where, std::string_view text, char separator = ',');
  /// False behind the last row. `row` keeps its memory.
  /// \throws InputError "WHERE, line N: ..." if a quoted field does not end
  bool next(CsvRow& row);

 private:
  std::string_view where_, text_;
  char separator_;
  std::size_t at_ = 0, line_ = 1;
};

/// All rows of comma-separated values.
std::vector<CsvRow> read_csv_text(std::string_view where, std::string_view text);

/// A field as it is written: in quotes where it has to be.
std::string csv_field(std::string_view text);

}  // namespace dpsosp
