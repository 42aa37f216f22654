// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/csv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/text_file.hpp"

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

CsvReader::CsvReader(std::string_view where, std::string_view text, char separator)
    : where_(where), text_(without_byte_order_mark(text)), separator_(separator) {}

bool CsvReader::next(CsvRow& row) {
  if (at_ >= text_.size()) return false;
  const char ends[] = {separator_, '\n'};
  const std::size_t begin = at_;
  std::size_t stop = at_, count = 0;
  do {
    if (count == row.fields.size()) row.fields.emplace_back();
    std::string& field = row.fields[count++];
    field.clear();
    if (text_.substr(at_).starts_with('"')) {
      at_ = take_quoted(text_, at_, field);
      if (at_ == std::string_view::npos)
        throw InputError(fmt::format("{}, line {}: a quoted field does not end", where_, line_));
    }
    stop = std::min(text_.find_first_of({ends, 2}, at_), text_.size());
    field += text_.substr(at_, stop - at_);
    at_ = stop + 1;
  } while (stop < text_.size() && text_[stop] == separator_);
  row.fields.resize(count);
  row.line = line_;
  row.text = text_.substr(begin, stop - begin);
  if (row.text.ends_with('\r')) {
    row.text.remove_suffix(1);
    row.fields.back().pop_back();
  }
  line_ += static_cast<std::size_t>(std::ranges::count(row.text, '\n')) + 1;
  return true;
}

std::vector<CsvRow> read_csv_text(std::string_view where, std::string_view text) {
  CsvReader reader(where, text);
  std::vector<CsvRow> rows;
  for (CsvRow row; reader.next(row);) rows.push_back(row);
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
