// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// An array of bytes in the idx format: two zero bytes, type 0x08, the number of dimensions, each
/// dimension as four bytes (most significant first), then the entries, last dimension fastest.
struct IdxArray {
  std::vector<Index> shape;
  std::vector<std::uint8_t> values;
};
/// \param dimensions  how many the file must have, 1 to 3.
/// \throws InputError "FILE: ..." if the file cannot be read, has another kind or length
IdxArray read_idx(const std::filesystem::path& file, std::size_t dimensions);

}  // namespace dpsosp
