// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/networks/examples.hpp"

namespace dpsosp {

/// Images of independent uniform pixels and classes; number 0 is black, number 1 white.
inline std::shared_ptr<const networks::Images> some_images(Index count, std::uint64_t seed,
                                                           Index channels = 3, Index side = 32,
                                                           bool augment = false) {
  Stream stream({.seed = seed, .purpose = Purpose::test});
  const auto size = static_cast<std::size_t>(channels * side * side);
  std::vector<std::uint8_t> pixels(size * static_cast<std::size_t>(count));
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(stream.below(256));
  std::vector<int> labels(static_cast<std::size_t>(count));
  for (auto& label : labels) label = static_cast<int>(stream.below(10));
  for (std::size_t k = 0; k < size; ++k) pixels[k] = 0;
  if (count > 1)
    for (std::size_t k = 0; k < size; ++k) pixels[size + k] = 255;
  networks::Images::Scaling scaling;
  scaling.mean.assign(static_cast<std::size_t>(channels), 120.0);
  scaling.deviation.assign(static_cast<std::size_t>(channels), 60.0);
  return std::make_shared<networks::Images>(channels, side, side, std::move(pixels),
                                            std::move(labels), std::move(scaling), augment);
}

}  // namespace dpsosp
