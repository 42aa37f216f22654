// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"

/// Where random numbers come from.
namespace dpsosp::audit {

/// What a run draws first for one purpose.
struct Drawn {
  std::string what;  ///< "noise of the root"
  Vector numbers;    ///< of which no two runs have all in common by chance
};
using DrawsOfKey = std::function<std::vector<Drawn>(const StreamKey&)>;
/// Noise, choices and batches of a curator, two of its children and a grandchild.
std::vector<Drawn> draws_of_curator(const StreamKey& key);

/// What is wrong with what is drawn in runs whose keys differ in one bit of the seed, the run or
/// the path, or with the words of their streams for any purpose: they have nothing in common, nor
/// have the curators of one run. Empty if all is well, but with probability 1e-6.
std::string complaint_of_keys(const DrawsOfKey& draws_of = draws_of_curator);

using MakeSource = std::function<std::unique_ptr<WordSource>()>;
std::unique_ptr<WordSource> source_of_system();

/// What is wrong with the first words of so many sources, and with so many words of one: none comes
/// twice, and every bit is set in half of either. Empty if all is well, but with probability 1e-6.
std::string complaint_of_entropy(std::int64_t sources, std::int64_t words,
                                 const MakeSource& make = source_of_system);

using DrawDiscrete = std::function<std::int64_t(WordSource& words, std::int64_t sigma)>;

/// What is wrong with the signs and the low bits of discrete noise as wide as that of releases: all
/// are fair coins, and every two of them together. Empty if all is well, but with probability 1e-6.
std::string complaint_of_discrete_noise(std::uint64_t seed, std::int64_t draws,
                                        const DrawDiscrete& draw = discrete_gaussian);

}  // namespace dpsosp::audit
