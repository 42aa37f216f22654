// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"

/// Where random numbers come from.
namespace dpsosp::audit {

/// The first numbers of noise that a run with this key draws.
using NoiseOfKey = std::function<Vector(const StreamKey&)>;
/// Those of a curator that is asked for a gradient.
Vector noise_of_curator(const StreamKey& key);

/// What is wrong with the noise of runs whose keys differ in one bit of the seed, the run or the
/// path, or with the words of their streams for any purpose: they have nothing in common. Empty if
/// all is well, but with probability 1e-6.
std::string complaint_of_keys(const NoiseOfKey& noise_of = noise_of_curator);

/// The first word of a source.
using FirstWord = std::function<std::uint64_t()>;
std::uint64_t first_word_of_system();

/// What is wrong with the first words of so many sources: none comes twice, and every bit is set in
/// half of them. Empty if all is well, but with probability 1e-6.
std::string complaint_of_entropy(std::int64_t sources,
                                 const FirstWord& first_word = first_word_of_system);

}  // namespace dpsosp::audit
