// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_files.hpp"

#include <fstream>

#include <fmt/format.h>

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
    throw InputError(fmt::format("{}: {} bytes, expected {} as its header says", file.string(),
                                 size, header + entries));
  array.values.resize(entries);
  in.read(reinterpret_cast<char*>(array.values.data()), static_cast<std::streamsize>(entries));
  if (static_cast<std::uintmax_t>(in.gcount()) != entries)
    throw InputError(fmt::format("{}: cannot be read to its end", file.string()));
  return array;
}

}  // namespace dpsosp
