// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/examples.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::networks {
namespace {

constexpr Index most_shift = 2;  // pixels

/// How one image is changed.
struct Augmentation {
  bool mirror = false;
  Index down = 0, right = 0;
};

Augmentation augmentation_of(Index row, std::uint64_t point) {
  Stream stream({.seed = point, .purpose = Purpose::data, .path = static_cast<std::uint64_t>(row)});
  Augmentation a;
  a.mirror = stream.below(2) == 1;
  a.down = stream.below(2 * most_shift + 1) - most_shift;
  a.right = stream.below(2 * most_shift + 1) - most_shift;
  return a;
}

}  // namespace

Images::Images(Index channels, Index height, Index width, std::vector<std::uint8_t> pixels,
               std::vector<int> labels, Scaling scaling, bool augment)
    : channels_(channels),
      height_(height),
      width_(width),
      pixels_(std::move(pixels)),
      labels_(std::move(labels)),
      scaling_(std::move(scaling)),
      augment_(augment) {}

Chunk Images::chunk(std::span<const Index> rows, const torch::TensorOptions& options,
                    std::uint64_t point) const {
  const auto count = static_cast<std::int64_t>(rows.size());
  at::Tensor input = at::zeros({count, channels_, height_, width_}, at::kFloat);
  at::Tensor labels = at::empty({count}, at::kLong);
  float* out = input.data_ptr<float>();
  for (std::int64_t k = 0; k < count; ++k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    const Augmentation a = augment_ && point != 0 ? augmentation_of(row, point) : Augmentation{};
    const std::uint8_t* in = pixels_.data() + row * channels_ * height_ * width_;
    for (Index c = 0; c < channels_; ++c) {
      const auto mean = static_cast<float>(scaling_.mean[static_cast<std::size_t>(c)]);
      const auto factor = static_cast<float>(1.0 / scaling_.deviation[static_cast<std::size_t>(c)]);
      for (Index y = 0; y < height_; ++y)
        for (Index x = 0; x < width_; ++x, ++out) {
          const Index from_y = y - a.down, shifted = x - a.right;
          if (from_y < 0 || from_y >= height_ || shifted < 0 || shifted >= width_) continue;
          const Index from_x = a.mirror ? width_ - 1 - shifted : shifted;
          *out = (static_cast<float>(in[(c * height_ + from_y) * width_ + from_x]) - mean) * factor;
        }
    }
    labels[k] = label(row);
  }
  return {.input = input.to(options), .mask = {}, .labels = labels.to(options.device())};
}

}  // namespace dpsosp::networks
