// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <span>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"

namespace dpsosp {

IdxArray read_idx(const std::filesystem::path& file, std::size_t dimensions) {
  hide_from_guests(file);
  std::ifstream in = open_file(file);
  const std::size_t header = 4 + 4 * dimensions;
  std::string bytes(header, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(header));
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(bytes[k]); };
  if (in.gcount() < 4 || byte(0) != 0 || byte(1) != 0 || byte(2) != 8 || byte(3) != dimensions)
    throw InputError(
        fmt::format("{}: not an idx file of bytes with {} dimensions", file.string(), dimensions));
  if (static_cast<std::size_t>(in.gcount()) < header)
    throw InputError(fmt::format("{}: ends within its header", file.string()));
  IdxArray array;
  std::uintmax_t entries = 1;
  constexpr std::uintmax_t most = 1ULL << 40;
  for (std::size_t k = 0; k < dimensions; ++k) {
    std::uint32_t size = 0;
    for (std::size_t b = 0; b < 4; ++b) size = size << 8 | byte(4 + 4 * k + b);
    array.shape.push_back(static_cast<Index>(size));
    // a product beyond `most` is kept there, and never formed: it could wrap around
    entries = size != 0 && entries > most / size ? most : entries * size;
  }
  const std::uintmax_t size = std::filesystem::file_size(file);
  if (size != header + entries)
    throw InputError(fmt::format(
        "{}: {} bytes, expected {} as its header says", file.string(), size, header + entries));
  array.values.resize(entries);
  in.read(reinterpret_cast<char*>(array.values.data()), static_cast<std::streamsize>(entries));
  if (static_cast<std::uintmax_t>(in.gcount()) != entries)
    throw InputError(fmt::format("{}: cannot be read to its end", file.string()));
  return array;
}

Matrix read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns) {
  hide_from_guests(file);
  const std::string text = read_file(file);
  std::vector<CsvRow> table = read_csv_text(file.string(), text);
  if (table.empty()) throw InputError(fmt::format("{}: is empty", file.string()));
  if (table.size() > 1 && table.back().text.empty()) table.pop_back();
  const std::vector<std::string>& names = table.front().fields;
  std::vector<std::size_t> places;
  for (const std::string& column : columns) {
    const auto found = std::ranges::find(names, column);
    if (found == names.end())
      throw InputError(fmt::format("{}, line 1: no column '{}'", file.string(), column));
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  std::vector<double> values;
  for (const CsvRow& row : std::span(table).subspan(1)) {
    const std::vector<std::string>& cells = row.fields;
    if (cells.size() != names.size())
      throw InputError(fmt::format("{}, line {}: {} cells, expected {}",
                                   file.string(),
                                   row.line,
                                   cells.size(),
                                   names.size()));
    for (std::size_t k = 0; k < places.size(); ++k) {
      const std::string& cell = cells[places[k]];
      double value = 0;
      const auto [stop, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (status != std::errc{} || stop != cell.data() + cell.size() || !std::isfinite(value))
        throw InputError(fmt::format("{}, line {}: {} = '{}', expected a number",
                                     file.string(),
                                     row.line,
                                     columns[k],
                                     cell));
      values.push_back(value);
    }
  }
  const auto count = static_cast<Index>(columns.size());
  const Index rows = static_cast<Index>(values.size()) / std::max<Index>(count, 1);
  return Eigen::Map<const Matrix>(values.data(), count, rows).transpose();
}

}  // namespace dpsosp
