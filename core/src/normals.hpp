// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dpsosp/core/stream.hpp"

namespace dpsosp {

/// The standard normal of a word: its sign is the last bit, its lower tail the first 52.
inline double normal_of(std::uint64_t word) {
  const double p = (static_cast<double>(word >> 12) + 0.5) * 0x1p-53;  // (0, 1/2), exact
  const double z = normal_lower_quantile(p);
  return (word & 1U) != 0 ? -z : z;
}

/// Target that normals are added to.
enum class Onto { nothing, contents };

/// out[j] = deviation · z_j, or out[j] += that, where z_j is what Stream::normal makes of word
/// `position` + j of the key's stream. The same bits with every instruction set.
void write_normals(const StreamKey& key, std::uint64_t position, double deviation, VectorRef out,
                   Onto onto);

}  // namespace dpsosp
