// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/reference.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

constexpr double relative_tolerance = 1e-6;
constexpr std::size_t longest_field = 4000;  // std::regex goes as deep as a text is long

/// A table by names: the cells of a row under its label, those of a column under its heading.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::map<std::string, std::vector<std::string>> cells;

  /// None where the column is absent.
  std::optional<std::size_t> column(const std::string& name) const {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end()) return {};
    return static_cast<std::size_t>(found - columns.begin());
  }
  /// Empty where the cell is absent.
  std::string at(const std::string& row, const std::string& name) const {
    const auto k = column(name);
    return k ? cells.at(row)[*k] : "";
  }
};

/// `name`, with a number where it is taken. `taken` holds the next number to try.
std::string unused_name(const std::string& name, std::map<std::string, int>& taken) {
  const auto [place, is_free] = taken.try_emplace(name, 2);
  if (is_free) return name;
  std::string free;
  do free = fmt::format("{} #{}", name, place->second++);
  while (!taken.try_emplace(free, 2).second);
  return free;
}

Table read_table(const fs::path& file) {
  const std::string text = read_file(file);
  const std::vector<CsvRow> rows = read_csv_text(file.string(), text);
  if (rows.empty())
    throw InputError(fmt::format("{}: expected a table, it is empty", file.string()));
  const std::vector<std::string>& header = rows[0].fields;
  Table t;
  const std::size_t labels = header[0] == "group" && header.size() > 1 ? 2 : 1;
  std::map<std::string, int> columns, names;
  for (const std::string& name : header) t.columns.push_back(unused_name(name, columns));
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const std::vector<std::string>& fields = rows[k].fields;
    if (fields.size() != header.size())
      throw InputError(fmt::format("{}: row {} has {} fields, expected {} as in the header",
                                   file.string(), k + 1, fields.size(), header.size()));
    for (const std::string& field : fields)
      if (field.size() > longest_field)
        throw InputError(fmt::format("{}: row {} has a field of {} characters, expected at most {}",
                                     file.string(), k + 1, field.size(), longest_field));
    const std::string label =
        labels == 2 && !fields[0].empty() ? fields[0] + ", " + fields[1] : fields[labels - 1];
    t.rows.push_back(unused_name(label, names));
    t.cells[t.rows.back()] = fields;
  }
  return t;
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(begin, end, value);
  if (status != std::errc{} || stop != end || !std::isfinite(value)) return {};
  return value;
}

/// How far two numbers may lie apart, and what that rests on.
struct Rule {
  double tolerance = 0;
  std::string reason;
};

std::optional<std::string> beyond(double fresh, double reference, const Rule& rule) {
  const double apart = std::abs(fresh - reference);
  if (apart <= std::max(rule.tolerance, relative_tolerance * std::abs(reference))) return {};
  return fmt::format("{:.6g} here, {:.6g} in the reference{}", fresh, reference, rule.reason);
}

const std::string number_pattern = R"([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)";

/// One unit of the last place shown; 0 of an integer, which is exact.
double unit_of(const std::string& text) {
  const auto point = text.find('.');
  if (point == std::string::npos) return 0;
  const auto e = text.find('e');
  const auto places = static_cast<double>(std::min(e, text.size()) - point - 1);
  const double power = e == std::string::npos ? 0 : number(text.substr(e + 1)).value_or(0);
  return std::pow(10, power - places) * (1 + relative_tolerance);
}

/// A text taken apart: its words, with each number replaced by a mark, and the numbers.
struct TextParts {
  std::string text;
  std::vector<std::string> numbers;
};
TextParts words_of(std::string text) {
  std::ranges::replace(text, '\x01', '\x02');  // the mark stands for numbers alone
  static const std::regex pattern(number_pattern);
  TextParts w;
  auto rest = text.begin();
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m) {
    if (!number(m->str())) continue;  // beyond all doubles
    w.text.append(rest, text.begin() + m->position());
    w.text += '\x01';
    w.numbers.push_back(m->str());
    rest = text.begin() + m->position() + m->length();
  }
  w.text.append(rest, text.end());
  return w;
}

bool is_close(const std::string& a, const std::string& b) {
  return std::abs(*number(a) - *number(b)) <= std::max(unit_of(a), unit_of(b));
}

double half_width(const std::string& low, const std::string& high) {
  return 0.5 * (*number(high) - *number(low));
}

/// True if the numbers k, k + 1, k + 2 are a slope with its interval: "a [b, c]".
bool is_slope(const TextParts& w, std::size_t k) {
  if (k + 2 >= w.numbers.size()) return false;
  std::size_t place = 0;
  for (std::size_t i = 0; i < k; ++i) place = w.text.find('\x01', place) + 1;
  place = w.text.find('\x01', place);
  return w.text.substr(place).starts_with("\x01 [\x01, \x01]");
}

bool same_text(const std::string& fresh, const std::string& reference) {
  const TextParts a = words_of(fresh), b = words_of(reference);
  if (a.text != b.text) return false;
  for (std::size_t k = 0; k < a.numbers.size(); ++k) {
    if (is_slope(a, k)) {
      if (std::abs(*number(a.numbers[k]) - *number(b.numbers[k])) >
          half_width(a.numbers[k + 1], a.numbers[k + 2]) +
              half_width(b.numbers[k + 1], b.numbers[k + 2]))
        return false;
      k += 2;
    } else if (!is_close(a.numbers[k], b.numbers[k])) {
      return false;
    }
  }
  return true;
}

/// "[b, c]".
std::optional<double> half_width(const std::string& interval) {
  const TextParts w = words_of(interval);
  if (w.text != "[\x01, \x01]") return {};
  return half_width(w.numbers[0], w.numbers[1]);
}

/// Compares the cells of one row; a column's kind follows from its name and its neighbours'.
class Row {
 public:
  Row(const Table& fresh, const Table& reference, const std::string& row)
      : fresh_(fresh), reference_(reference), row_(row) {}

  /// How the cell differs, if it does.
  std::optional<std::string> difference(const std::string& column) const {
    const std::string a = fresh_.at(row_, column), b = reference_.at(row_, column);
    if (is_free(column)) return {};
    const auto x = number(a), y = number(b);
    if (x && y) return beyond(*x, *y, rule_of(column));
    if (same_text(a, b)) return {};
    return fmt::format("'{}' here, '{}' in the reference", a, b);
  }

 private:
  /// The column of a spread whose name ends in `part`, for one whose name ends in `of`.
  std::optional<std::string> sibling(const std::string& column, std::string_view of,
                                     std::string_view part) const {
    if (!column.ends_with(of)) return {};
    std::string name = column.substr(0, column.size() - of.size()) + std::string(part);
    return reference_.column(name) ? std::optional(name) : std::nullopt;
  }

  bool is_free(const std::string& column) const {
    if ((column == interval_column || column == "drift") && reference_.column("measured"))
      return true;
    return sibling(column, " low", " median") || sibling(column, " high", " median");
  }

  Rule rule_of(const std::string& column) const {
    const auto low = sibling(column, " median", " low"), high = sibling(column, " median", " high");
    if (low && high) {
      const auto from = number(reference_.at(row_, *low)), to = number(reference_.at(row_, *high));
      if (from && to)
        return {*to - *from, fmt::format(", whose runs lie in [{:.6g}, {:.6g}]", *from, *to)};
    }
    if (column == "measured") {
      const auto a = half_width(fresh_.at(row_, interval_column)),
                 b = half_width(reference_.at(row_, interval_column));
      if (a && b)
        return {*a + *b,
                fmt::format(", whose intervals have half-widths {:.3g} and {:.3g}", *a, *b)};
    }
    return {};
  }

  static constexpr const char* interval_column = "95 % interval";

  const Table& fresh_;
  const Table& reference_;
  const std::string& row_;
};

std::vector<std::string> compare(const Table& fresh, const Table& reference) {
  std::vector<std::string> differences;
  const auto only_in = [&](const auto& some, const auto& others, const char* kind,
                           const char* where) {
    for (const std::string& name : some)
      if (std::ranges::find(others, name) == others.end())
        differences.push_back(fmt::format("{} '{}' is only {}", kind, name, where));
  };
  only_in(reference.columns, fresh.columns, "column", "in the reference");
  only_in(fresh.columns, reference.columns, "column", "here");
  only_in(reference.rows, fresh.rows, "row", "in the reference");
  only_in(fresh.rows, reference.rows, "row", "here");
  for (const std::string& row : reference.rows) {
    if (!fresh.cells.contains(row)) continue;
    const Row cells(fresh, reference, row);
    for (const std::string& column : reference.columns)
      if (fresh.column(column))
        if (const auto difference = cells.difference(column))
          differences.push_back(fmt::format("row '{}', column '{}': {}", row, column, *difference));
  }
  return differences;
}

/// Data of figures, and where they were computed: files beside the tables that two
/// machines need not share. The tables made of them are compared.
constexpr std::array<std::string_view, 2> no_tables{"curves.csv", "provenance.csv"};

/// Names of the CSV files in a folder that are tables, in byte order.
std::vector<std::string> tables_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".csv" &&
        std::ranges::find(no_tables, entry.path().filename().string()) == no_tables.end())
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<std::string> reference_exhibits(const fs::path& reference) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(reference, error))
    if (!tables_in(entry.path()).empty()) names.push_back(entry.path().filename().string());
  if (names.empty())
    throw InputError(
        fmt::format("{}: expected a folder of reference results, one folder an exhibit with its "
                    "tables in CSV",
                    reference.string()));
  std::ranges::sort(names);
  return names;
}

ReferenceCheck check_reference(const fs::path& reference, const fs::path& report,
                               const std::vector<std::string>& exhibits) {
  ReferenceCheck check;
  for (const std::string& exhibit : exhibits) {
    const auto expected = tables_in(reference / exhibit), fresh = tables_in(report / exhibit);
    const auto add = [&](const std::string& table, const std::string& difference) {
      check.differences.push_back(fmt::format("{}/{}: {}", exhibit, table, difference));
    };
    for (const std::string& table : fresh)
      if (std::ranges::find(expected, table) == expected.end())
        add(table, "the reference has no such table");
    for (const std::string& table : expected) {
      check.compared.push_back(exhibit + "/" + table);
      if (std::ranges::find(fresh, table) == fresh.end()) {
        add(table, "the report has no such table");
        continue;
      }
      for (const std::string& difference :
           compare(read_table(report / exhibit / table), read_table(reference / exhibit / table)))
        add(table, difference);
    }
  }
  return check;
}

}  // namespace dpsosp
