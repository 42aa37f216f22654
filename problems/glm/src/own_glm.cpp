// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/own_glm.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/problems/data_files.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_npy(const fs::path& file, std::string_view what) {
  throw InputError(fmt::format(
      "{}: {}, expected an NPY file of float64 or float32 in two dimensions", file.string(), what));
}

/// What stands behind a key of the header of an NPY file, up to the next of `ends`.
std::string npy_value(const fs::path& file,
                      const std::string& header,
                      const std::string& key,
                      std::string_view ends) {
  const auto at = header.find("'" + key + "':");
  if (at == std::string::npos) refuse_npy(file, "its header has no " + key);
  const auto from = header.find_first_not_of(' ', at + key.size() + 3);
  return header.substr(from, header.find_first_of(ends, from + 1) - from);
}

/// The format of NumPy, versions 1 to 3: magic, length of the header, the header, the entries.
Matrix read_npy(const fs::path& file) {
  static_assert(std::endian::native == std::endian::little);
  const std::string bytes = read_file(file);
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::size_t version_at = magic.size(), short_head = 10, long_head = 12;
  if (bytes.size() < long_head || !bytes.starts_with(magic))
    refuse_npy(file, "it does not begin as one");
  const std::size_t head = bytes[version_at] == 1 ? short_head : long_head;
  std::size_t length = 0;
  for (std::size_t k = version_at + 2; k < head; ++k)
    length |= std::size_t{static_cast<unsigned char>(bytes[k])} << (8 * (k - version_at - 2));
  if (length > bytes.size() - head) refuse_npy(file, "it ends within its header");
  const std::string header = bytes.substr(head, length);
  const std::string type = npy_value(file, header, "descr", ","),
                    shape = npy_value(file, header, "shape", ")");
  std::string order = npy_value(file, header, "fortran_order", ",}");
  order.erase(order.find_last_not_of(' ') + 1);
  if (order != "True" && order != "False") refuse_npy(file, "its fortran_order is " + order);
  const bool by_columns = order == "True";
  const std::size_t width = type == "'<f8'" ? 8 : type == "'<f4'" ? 4 : 0;
  if (width == 0) refuse_npy(file, "its entries are " + type);
  long long rows = 0, columns = 0;
  char end = 0;
  if (std::sscanf(shape.c_str(), "(%lld, %lld%c", &rows, &columns, &end) != 2 || rows < 0 ||
      columns < 1 || columns > (1LL << 32) || rows > (1LL << 40) / columns)
    refuse_npy(file, "its shape is " + shape + ")");
  const auto entries = static_cast<std::size_t>(rows * columns);
  if (bytes.size() - head - length != entries * width)
    refuse_npy(file, "its length is not its shape's");
  Matrix out(rows, columns);
  const char* at = bytes.data() + head + length;
  const auto read = [&](Index i, Index j) {
    if (width == sizeof(double)) {
      std::memcpy(&out(i, j), at, width);
    } else {
      float value = 0;
      std::memcpy(&value, at, width);
      out(i, j) = static_cast<double>(value);
    }
    at += width;
    if (!std::isfinite(out(i, j)))
      throw InputError(
          fmt::format("{}, row {}: column {} is not finite", file.string(), i + 1, j + 1));
  };
  if (by_columns)
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < rows; ++i) read(i, j);
  else
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) read(i, j);
  return out;
}

std::vector<std::string> first_row(const fs::path& file) {
  std::ifstream in = open_file(file);
  std::string line;
  std::getline(in, line);
  const auto rows = read_csv_text(file.string(), line);
  return rows.empty() ? std::vector<std::string>{} : rows.front().fields;
}

/// The table that was read last, since every run of a sweep reads the same.
std::shared_ptr<const OwnTable> cached_table(const fs::path& file) {
  struct Cached {
    fs::path file;
    fs::file_time_type written;
    std::uintmax_t size = 0;
    std::shared_ptr<const OwnTable> table;
  };
  static std::mutex mutex;
  static Cached last;
  hide_from_guests(file);
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  const std::uintmax_t size = fs::file_size(file, error);
  const std::lock_guard lock(mutex);
  if (!last.table || last.file != file || last.written != written || last.size != size)
    last = {file, written, size, std::make_shared<const OwnTable>(read_own_table(file))};
  return last.table;
}

}  // namespace

OwnTable read_own_table(const fs::path& file) {
  OwnTable table;
  if (file.extension() == ".npy") {
    table.values = read_npy(file);
    for (Index j = 0; j < table.values.cols(); ++j)
      table.columns.push_back(fmt::format("{}", j + 1));
  } else {
    table.columns = first_row(file);
    if (std::ranges::all_of(table.columns, [](const std::string& name) {
          double value = 0;
          const auto [stop, status] =
              std::from_chars(name.data(), name.data() + name.size(), value);
          return status == std::errc{} && stop == name.data() + name.size();
        }))
      throw InputError(
          fmt::format("{}, line 1: numbers, expected the names of the columns", file.string()));
    std::vector<std::string> sorted = table.columns;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      throw InputError(fmt::format("{}, line 1: two columns '{}'", file.string(), *twice));
    table.values = read_csv(file, table.columns);
  }
  if (table.values.rows() == 0) throw InputError(fmt::format("{}: no records", file.string()));
  if (table.values.cols() < 2)
    throw InputError(fmt::format("{}: one column, expected features and a label", file.string()));
  return table;
}

std::string_view OwnGlm::summary() const {
  return "phi(<w,x>; y) on a table of your own, CSV or NPY (docs/own-data.md)";
}

ProblemNotes OwnGlm::notes() const {
  return {
      .group = "Real data",
      .formula =
          "f(w; x, y) = φ(⟨w, x⟩; y) + λ Σ_j w_j²/(1 + w_j²), φ the loss of `loss`. x: all columns "
          "of the file `data` but the label's, divided by `longest`; a record that is longer then "
          "is shortened to length 1, record by record. With `bias`, (x, 1)/√2. y: the column "
          "`label`, in [0, 1] for the losses `sigmoid_square` and `logistic`. n and d are the "
          "file's, and public.",
      .source = "the caller's file; its SHA-256 is in the description of every run",
      .critical_points = "Nothing is known beyond the constants."};
}

Fields OwnGlm::data_fields() {
  return {
      field(
          "data", data, "path of a CSV file whose first row names its columns, or of an NPY file"),
      field("label", label, "column of y; none: the last (of NPY files by number, from 1)"),
      field("longest",
            longest,
            range::positive,
            "public bound of ‖x‖; longer records are shortened")};
}

std::string OwnGlm::missing() const {
  if (data.empty()) return "data is not set; name a table, as --set problem.data=FILE.csv";
  std::error_code ignored;
  if (!fs::is_regular_file(data, ignored)) return fmt::format("{} does not exist", data);
  return {};
}

const OwnTable& OwnGlm::table() const {
  if (!table_) {
    if (const std::string what = missing(); !what.empty())
      throw InputError(fmt::format("{}: {}", name(), what));
    table_ = cached_table(data);
  }
  return *table_;
}

Index OwnGlm::default_records() const { return data.empty() ? 1000 : table().values.rows(); }
Index OwnGlm::available() const {
  return data.empty() ? std::numeric_limits<Index>::max() : table().values.rows();
}
Index OwnGlm::raw_features() const { return data.empty() ? 9 : table().values.cols() - 1; }

Index OwnGlm::label_column() const {
  const std::vector<std::string>& columns = table().columns;
  if (label.empty()) return std::ssize(columns) - 1;
  const auto found = std::ranges::find(columns, label);
  if (found == columns.end()) reject_unknown("column of " + data, label, columns);
  return found - columns.begin();
}

GlmData OwnGlm::load(const std::vector<Index>& rows) const {
  const Matrix& all = table().values;
  const Index y = label_column(), d = raw_features();
  for (Index j = 0; j < all.cols(); ++j)
    if (all.rows() > 1 && all.col(j).minCoeff() == all.col(j).maxCoeff())
      throw InputError(fmt::format("{}: column '{}' is constant, expected one that says something",
                                   data,
                                   table().columns[static_cast<std::size_t>(j)]));
  const bool shares =
      loss.kind == LossOption::Kind::sigmoid_square || loss.kind == LossOption::Kind::logistic;
  GlmData out{Matrix(d, std::ssize(rows)), Vector(std::ssize(rows))};
  for (Index k = 0; k < std::ssize(rows); ++k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    out.labels[k] = all(row, y);
    if (shares && !(out.labels[k] >= 0 && out.labels[k] <= 1))
      throw InputError(
          fmt::format("{}, record {}: label {:g}, expected one in [0, 1] for loss = {}",
                      data,
                      row + 1,
                      out.labels[k],
                      word_of(loss.kind)));
    for (Index j = 0, at = 0; j < all.cols(); ++j)
      if (j != y) out.features(at++, k) = all(row, j) / longest;
    const double length = out.features.col(k).norm();
    if (length > 1) out.features.col(k) /= length;
  }
  return out;
}

}  // namespace dpsosp
