// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

std::ifstream open(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file))
    throw InputError(fmt::format("{}: cannot be read", file.string()));
  return in;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

/// The next line without its end; false at the end of the file.
bool next_line(std::istream& in, std::string& line) {
  if (!std::getline(in, line)) return false;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

}  // namespace

std::filesystem::path data_folder() {
  const char* folder = std::getenv("DPSOSP_DATA");
  return folder != nullptr && *folder != '\0' ? folder : "data";
}

IdxArray read_idx(const std::filesystem::path& file, std::size_t dimensions) {
  std::ifstream in = open(file);
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
  std::ifstream in = open(file);
  std::string line;
  if (!next_line(in, line)) throw InputError(fmt::format("{}: is empty", file.string()));
  const std::vector<std::string_view> names = split(line);
  const std::size_t width = names.size();
  std::vector<std::size_t> places;
  for (const std::string& column : columns) {
    const auto found = std::ranges::find(names, column);
    if (found == names.end())
      throw InputError(fmt::format("{}, line 1: no column '{}'", file.string(), column));
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  std::vector<double> values;
  for (Index row = 2; next_line(in, line); ++row) {
    if (line.empty() && in.peek() == std::istream::traits_type::eof()) break;
    const std::vector<std::string_view> cells = split(line);
    if (cells.size() != width)
      throw InputError(fmt::format(
          "{}, line {}: {} cells, expected {}", file.string(), row, cells.size(), width));
    for (std::size_t k = 0; k < places.size(); ++k) {
      const std::string_view cell = cells[places[k]];
      double value = 0;
      const auto [stop, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (status != std::errc{} || stop != cell.data() + cell.size() || !std::isfinite(value))
        throw InputError(fmt::format(
            "{}, line {}: {} = '{}', expected a number", file.string(), row, columns[k], cell));
      values.push_back(value);
    }
  }
  const auto count = static_cast<Index>(columns.size());
  const Index rows = static_cast<Index>(values.size()) / std::max<Index>(count, 1);
  return Eigen::Map<const Matrix>(values.data(), count, rows).transpose();
}

}  // namespace dpsosp
