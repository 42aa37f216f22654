// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace dpsosp {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse_npy(const NumberTable& table, std::string_view what) {
  throw InputError(
      fmt::format("{}: {}, expected an NPY file of float64 or float32 in two dimensions",
                  table.file.string(), what));
}

/// The parts of a Python literal, from its beginning on.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> text() {
    skip_blanks();
    const std::string_view begin = rest_;
    if (rest_.starts_with('u') || rest_.starts_with('b')) rest_.remove_prefix(1);
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const auto end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      rest_ = begin;
      return {};
    }
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }
  /// Text up to the next comma or bracket, as it is written.
  std::string_view word() {
    skip_blanks();
    const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t\n,:()[]{}"));
    rest_.remove_prefix(found.size());
    return found;
  }
  /// (4, 3), with any number of entries; none for what is no tuple of sizes.
  std::optional<std::vector<std::uint64_t>> sizes() {
    std::vector<std::uint64_t> all;
    if (!take('(')) return {};
    while (!take(')')) {
      std::string_view digits = word();
      if (digits.ends_with('L')) digits.remove_suffix(1);  // of Python 2
      const char* end = digits.data() + digits.size();
      std::uint64_t size = 0;
      const auto [stop, status] = std::from_chars(digits.data(), end, size);
      if (digits.empty() || status != std::errc{} || stop != end) return {};
      all.push_back(size);
      if (take(',')) continue;
      if (!take(')')) return {};
      break;
    }
    return all;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size()));
  }
  std::string_view rest_;
};

/// Header of an NPY file.
struct NpyHeader {
  std::size_t width = 0;  ///< bytes of an entry
  bool by_columns = false;
  std::uint64_t rows = 0, columns = 0;
  std::string_view entries;
};

std::size_t width_of(const NumberTable& table, std::string_view type) {
  std::string_view name = type;
  if (!name.empty() && std::string_view("<=|").find(name.front()) != std::string_view::npos)
    name.remove_prefix(1);
  for (const char* word : {"f8", "d", "float64", "double"})
    if (name == word) return 8;
  for (const char* word : {"f4", "f", "float32", "single"})
    if (name == word) return 4;
  refuse_npy(table, fmt::format("its entries are {}", type));
}

NpyHeader header_of(const NumberTable& table, std::string_view bytes) {
  constexpr std::size_t version_at = magic.size(), short_head = 10, long_head = 12;
  const int version = bytes.size() > long_head ? bytes[version_at] : 0;
  if (version < 1 || version > 3) refuse_npy(table, "its version is none of 1, 2 and 3");
  const std::size_t head = version == 1 ? short_head : long_head;
  std::size_t length = 0;
  for (std::size_t k = version_at + 2; k < head; ++k)
    length |= std::size_t{static_cast<unsigned char>(bytes[k])} << (8 * (k - version_at - 2));
  if (length > bytes.size() - head) refuse_npy(table, "it ends within its header");

  NpyHeader h{.entries = bytes.substr(head + length)};
  std::optional<std::string_view> type, order;
  std::optional<std::vector<std::uint64_t>> shape;
  Literal text(bytes.substr(head, length));
  bool well_formed = text.take('{'), closed = text.take('}');
  while (well_formed && !closed) {
    const auto key = text.text();
    well_formed = key && text.take(':');
    if (!well_formed) break;
    if (key == "descr") {
      type = text.text();
      if (!type) refuse_npy(table, "its entries are structures or objects");
    } else if (key == "fortran_order") {
      order = text.word();
    } else if (key == "shape") {
      shape = text.sizes();
    } else {
      refuse_npy(table, fmt::format("its header has a key '{}'", *key));
    }
    const bool goes_on = text.take(',');
    closed = text.take('}');
    well_formed = goes_on || closed;
  }
  if (!well_formed || !closed || !text.at_end() || !type || !order || !shape)
    refuse_npy(table, "its header has not descr, fortran_order and shape alone");
  if (order != "True" && order != "False")
    refuse_npy(table, fmt::format("its fortran_order is {}", *order));
  if (shape->size() != 2) refuse_npy(table, fmt::format("it has {} dimensions", shape->size()));
  h.width = width_of(table, *type);
  h.by_columns = order == "True";
  h.rows = shape->at(0);
  h.columns = shape->at(1);
  // By divisions, since a product may wrap around.
  const std::uint64_t all = h.entries.size() / h.width;
  if (h.columns == 0 || h.rows > all / h.columns ||
      h.rows * h.columns * h.width != h.entries.size())
    refuse_npy(table, fmt::format("{} bytes of entries for {} x {} of {}", h.entries.size(), h.rows,
                                  h.columns, h.width));
  return h;
}

double entry_at(const char* at, std::size_t width) {
  static_assert(std::endian::native == std::endian::little);
  double wide = 0;
  float narrow = 0;
  if (width == sizeof wide)
    std::memcpy(&wide, at, sizeof wide);
  else
    std::memcpy(&narrow, at, sizeof narrow);
  return width == sizeof wide ? wide : static_cast<double>(narrow);
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(magic); }

void read_npy(std::string_view bytes, NumberTable& table) {
  const NpyHeader h = header_of(table, bytes);
  const auto rows = static_cast<Index>(h.rows), columns = static_cast<Index>(h.columns);
  table.format = h.width == sizeof(double) ? "NPY of float64" : "NPY of float32";
  for (Index j = 0; j < columns; ++j) table.columns.push_back(fmt::format("{}", j + 1));
  table.records.resize(columns, rows);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) {
      const auto place = static_cast<std::size_t>(h.by_columns ? j * rows + i : i * columns + j);
      const double value = entry_at(h.entries.data() + place * h.width, h.width);
      if (!std::isfinite(value))
        throw CellRefused(table.place(j, i), fmt::format("{}", value), "a finite number");
      table.records(j, i) = value;
    }
}

}  // namespace dpsosp
