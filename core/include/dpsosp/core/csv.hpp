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

/// Comma-separated values (RFC 4180): a field that begins with '"' ends at the next single '"' and
/// may hold commas and line ends. Rows end with \n or \r\n, the last one also without; an empty
/// line is a row with one empty field.
/// \param where  of the text, for messages
/// \throws InputError "WHERE, line N: ..." if a quoted field does not end
std::vector<CsvRow> read_csv_text(std::string_view where, std::string_view text);

/// A field as it is written: in quotes where it has to be.
std::string csv_field(std::string_view text);

}  // namespace dpsosp
