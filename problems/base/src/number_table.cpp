// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/number_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/core/utf8.hpp"
#include "npy.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The finite number that is all of a cell, but for blanks around it.
std::optional<double> number_in(std::string_view cell) {
  cell = without_blanks(cell);
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, status] = std::from_chars(cell.data(), end, value);
  if (status == std::errc::result_out_of_range)
    value = std::strtod(std::string(cell).c_str(), nullptr);
  const bool is_read = status == std::errc{} || status == std::errc::result_out_of_range;
  if (!is_read || stop != end || !std::isfinite(value)) return {};
  return value;
}

bool is_number(std::string_view cell) { return number_in(cell).has_value(); }

/// True if a cell is a number, or stands for a missing one.
bool is_value(std::string_view cell) {
  std::string word(without_blanks(cell));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 7> missing{"", "na", "n/a", "nan", "null", "none", "?"};
  return is_number(cell) || std::ranges::find(missing, word) != missing.end();
}

std::string cell_text(std::string_view cell) {
  constexpr std::size_t shown = 40;
  cell = without_blanks(cell);
  if (cell.empty()) return "an empty cell";
  return cell.size() <= shown ? fmt::format("'{}'", cell)
                              : fmt::format("'{}...'", cell.substr(0, shown));
}

/// Message for a cell without a number.
std::string expected_number(std::string cell) {
  const auto comma = cell.find(',');
  if (comma != std::string::npos) cell[comma] = '.';
  return comma != std::string::npos && is_number(cell) ? "a number with a decimal point"
                                                       : "a finite number";
}

/// Kind of a file that is neither CSV nor NPY, as text that follows its name; else empty.
std::string other_kind(std::string_view bytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> packed{
      {{"\x1f\x8b", "gzip"},
       {"BZh", "bzip2"},
       {"\xFD"
        "7zXZ",
        "xz"},
       {"\x28\xB5\x2F\xFD", "zstd"}}};
  const std::string_view head = bytes.substr(0, 512);
  if (head.starts_with("PK\x03\x04"))
    return head.find(".npy") != std::string_view::npos
               ? "is an NPZ archive, expected one array of it, as numpy.save writes"
               : "is a zip archive, as spreadsheets are, expected CSV or NPY";
  for (const auto& [magic, program] : packed)
    if (head.starts_with(magic))
      return fmt::format("is packed by {}, expected CSV or NPY: unpack it first", program);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> others{
      {{"PAR1", "a Parquet file"},
       {"\x89HDF", "an HDF5 file"},
       {"SQLite format 3", "an SQLite database"},
       {"{", "JSON"},
       {"[", "JSON"}}};
  for (const auto& [magic, kind] : others)
    if (head.starts_with(magic)) return fmt::format("begins as {}, expected CSV or NPY", kind);
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"))
    return "is text in UTF-16, expected UTF-8";
  if (without_byte_order_mark(head).starts_with('<'))
    return "begins with '<', as web pages do, expected CSV or NPY";
  if (head.find('\0') != std::string_view::npos) return "is neither text nor NPY";
  const bool one_line = bytes.find('\n') == std::string_view::npos;
  if (one_line && bytes.find('\r') != std::string_view::npos)
    return "ends its lines in CR alone, expected LF or CRLF";
  return {};
}

/// A name with single blanks for all white space, of which none is at its ends.
std::string plain_name(std::string_view text) {
  std::string name;
  bool gap = false;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      gap = !name.empty();
      continue;
    }
    if (std::exchange(gap, false)) name += ' ';
    name += c;
  }
  return name;
}

/// A table as text: line 1 is read, which is public.
class TextTable {
 public:
  TextTable(const fs::path& file, std::string_view text)
      : file_(file.string()), text_(text), reader_(file_, text_) {
    // A name may hold another separator: the true one makes the most columns.
    for (const char separator : {',', ';', '\t'}) {
      CsvReader reader(file_, text_, separator);
      CsvRow row;
      if (!reader.next(row) || row.fields.size() <= header_.fields.size()) continue;
      separator_ = separator;
      header_ = row;
      reader_ = reader;
    }
    for (const std::string& field : header_.fields) names_.push_back(plain_name(field));
  }

  const std::vector<std::string>& names() const { return names_; }
  std::string format() const { return fmt::format("CSV, separated by {}", separator_word()); }

  /// \throws InputError for names by which columns cannot be told
  void check_names() const {
    if (without_blanks(header_.text).empty()) refuse("is empty, expected the names of the columns");
    if (header_.text.starts_with("sep="))
      refuse("is a note for spreadsheets, expected the names of the columns");
    if (std::ranges::any_of(names_, is_number) && std::ranges::all_of(names_, is_value))
      refuse("has numbers, expected the names of the columns");
    if (names_.size() == 1)
      refuse("has one column, expected several, separated by ',', ';' or tab");
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const std::string& name = names_[k];
      if (name.empty()) refuse_nameless(k);
      if (!is_utf8(name)) refuse(fmt::format("column {} has a name that is no UTF-8", k + 1));
      if (std::ranges::any_of(name, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }))
        refuse(fmt::format("column {} has a control character in its name", k + 1));
      for (std::string_view rest = name; !rest.empty();) {
        const std::string_view character = rest.substr(0, utf8_character(rest));
        if (is_invisible(character))
          refuse(fmt::format("column {} has a character in its name that cannot be seen: '{}'",
                             k + 1, name));
        rest.remove_prefix(character.size());
      }
      const auto [first, is_new] = places.emplace(name, k);
      if (!is_new)
        refuse(fmt::format("columns {} and {} are both '{}'", first->second + 1, k + 1, name));
    }
  }

  /// Places of the wanted columns. \throws InputError
  std::vector<std::size_t> places_of(const std::vector<std::string>& wanted) const {
    std::unordered_map<std::string_view, std::size_t> place_of;
    for (std::size_t k = 0; k < names_.size(); ++k) place_of.emplace(names_[k], k);
    std::vector<std::size_t> places;
    for (const std::string& name : wanted) {
      const auto found = place_of.find(name);
      if (found == place_of.end()) refuse(fmt::format("no column '{}'", name));
      places.push_back(found->second);
    }
    return places;
  }

  /// The records at the places of columns. `table` has its file and names.
  void read(const std::vector<std::size_t>& places, NumberTable& table) {
    std::vector<double> values;
    std::size_t empty_line = 0, records = 0;
    for (CsvRow row; reader_.next(row);) {
      const bool is_empty = row.fields.size() == 1 && without_blanks(row.text).empty();
      if (is_empty && empty_line == 0) empty_line = row.line;
      if (is_empty) continue;  // at the end of the file they do not matter
      if (empty_line != 0)
        throw InputError(fmt::format("{}, line {} is empty, expected a record", file_, empty_line));
      check_length(row);
      if (records++ == 0) table.first_line = row.line;
      for (std::size_t k = 0; k < places.size(); ++k) {
        const std::string& cell = row.fields[places[k]];
        const auto value = number_in(cell);
        if (!value)
          throw CellRefused(
              fmt::format("{}, line {}, column '{}'", file_, row.line, table.columns[k]),
              cell_text(cell), expected_number(cell));
        values.push_back(*value);
      }
    }
    table.records =
        Eigen::Map<const Matrix>(values.data(), std::ssize(places), static_cast<Index>(records));
  }

 private:
  std::string_view separator_word() const {
    return separator_ == ',' ? "','" : separator_ == ';' ? "';'" : "tabs";
  }
  [[noreturn]] void refuse(std::string_view what) const {
    throw InputError(fmt::format("{}, line 1: {}", file_, what));
  }
  [[noreturn]] void refuse_nameless(std::size_t k) const {
    std::string_view why;
    if (k + 1 == names_.size())
      why = "; the line ends in a separator";
    else if (k == 0)
      why = "; row numbers, as pandas writes without index=False, are no feature";
    refuse(fmt::format("column {} has no name{}", k + 1, why));
  }
  void check_length(const CsvRow& row) const {
    const std::size_t cells = row.fields.size(), expected = names_.size();
    if (cells == expected) return;
    const bool one_more = cells == expected + 1 && without_blanks(row.fields.back()).empty();
    throw InputError(
        fmt::format("{}, line {}: {} cell{}, expected {} as in line 1, separated by {}{}", file_,
                    row.line, cells, cells == 1 ? "" : "s", expected, separator_word(),
                    one_more ? "; the line ends in a separator" : ""));
  }

  std::string file_;
  std::string_view text_;
  char separator_ = ',';
  CsvRow header_;
  CsvReader reader_;
  std::vector<std::string> names_;
};

}  // namespace

CellRefused::CellRefused(const std::string& place, const std::string& found,
                         const std::string& expected)
    : InputError(fmt::format("{}: {}, expected {}", place, found, expected)),
      without_cell_(fmt::format("{}: refused; a release does not show what stands there", place)) {}

std::string NumberTable::place(Index column, Index record) const {
  const std::string& name = columns[static_cast<std::size_t>(column)];
  if (first_line == 0) return fmt::format("{}, row {}, column {}", file.string(), record + 1, name);
  const std::size_t line = first_line + static_cast<std::size_t>(record);
  return fmt::format("{}, line {}, column '{}'", file.string(), line, name);
}

NumberTable read_table(const fs::path& file, const std::vector<std::string>& wanted) {
  hide_from_guests(file);
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("{} {}", file.string(), what));
  };
  if (const std::string why = why_unreadable(file); !why.empty()) refuse(why);
  const std::string bytes = read_file(file);
  if (without_byte_order_mark(bytes).empty()) refuse("is empty, expected a table");
  NumberTable table{.file = file};
  if (is_npy(bytes)) {
    if (!wanted.empty()) refuse("is an NPY file, expected CSV, whose columns have names");
    read_npy(bytes, table);
    return table;
  }
  if (const std::string kind = other_kind(bytes); !kind.empty()) refuse(kind);
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  if (extension == ".npy") refuse("does not begin as an NPY file");
  TextTable text(file, bytes);
  if (wanted.empty()) text.check_names();
  table.columns = wanted.empty() ? text.names() : wanted;
  table.format = text.format();
  text.read(text.places_of(table.columns), table);
  return table;
}

}  // namespace dpsosp
