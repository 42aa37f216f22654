// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/csv.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

/// Appends the quoted field that begins at `at`, and returns the place behind it; npos if it does
/// not end.
std::size_t take_quoted(std::string_view text, std::size_t at, std::string& field) {
  while (true) {
    const std::size_t close = text.find('"', at + 1);
    if (close == std::string_view::npos) return close;
    field += text.substr(at + 1, close - at - 1);
    at = close + 1;
    if (at == text.size() || text[at] != '"') return at;
    field += '"';  // two quotes are one
  }
}

}  // namespace

std::vector<CsvRow> read_csv_text(std::string_view where, std::string_view text) {
  // Spreadsheets write a byte order mark.
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark))
    text.remove_prefix(mark.size());
  std::vector<CsvRow> rows;
  std::size_t line = 1;
  std::size_t at = 0;
  while (at < text.size()) {
    CsvRow row{.line = line};
    const std::size_t begin = at;
    std::size_t stop = at;
    do {
      std::string field;
      if (text.substr(at).starts_with('"')) {
        at = take_quoted(text, at, field);
        if (at == std::string_view::npos)
          throw InputError(fmt::format("{}, line {}: a quoted field does not end", where, line));
      }
      stop = std::min(text.find_first_of(",\n", at), text.size());
      field += text.substr(at, stop - at);
      row.fields.push_back(std::move(field));
      at = stop + 1;
    } while (stop < text.size() && text[stop] == ',');
    row.text = text.substr(begin, stop - begin);
    if (row.text.ends_with('\r')) {
      row.text.remove_suffix(1);
      row.fields.back().pop_back();
    }
    line += static_cast<std::size_t>(std::ranges::count(row.text, '\n')) + 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace dpsosp
