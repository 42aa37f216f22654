// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/types.h>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::networks {

/// Inputs and labels of some records.
struct Chunk {
  torch::Tensor input;   ///< images b × channels × height × width, or tokens b × length
  torch::Tensor mask;    ///< of sentences, b × length; else none
  torch::Tensor labels;  ///< b, integers
};

/// Labelled inputs of a network.
class Examples {
 public:
  virtual ~Examples() = default;
  /// n.
  virtual Index size() const = 0;
  /// \param rows  each in [0, n)
  /// \param options  type and device of the inputs
  /// \param point  a hash of the parameters at which a loss is asked for: what a record's random
  ///   augmentation is keyed by, so that the loss stays a function of record and parameters. 0: no
  ///   augmentation
  virtual Chunk chunk(std::span<const Index> rows, const torch::TensorOptions& options,
                      std::uint64_t point) const = 0;
  /// 0, 1, …
  virtual int label(Index row) const = 0;
};

/// Images of eight bits a channel.
class Images final : public Examples {
 public:
  /// Public constants by which a channel is shifted and divided; no statistics of the records.
  struct Scaling {
    std::vector<double> mean, deviation;  ///< in units of pixels, 0 to 255; one a channel
  };
  /// \param pixels  n × channels × height × width
  /// \param augment  random mirror images and shifts by up to two pixels, filled with the mean
  Images(Index channels, Index height, Index width, std::vector<std::uint8_t> pixels,
         std::vector<int> labels, Scaling scaling, bool augment);
  Index size() const override { return std::ssize(labels_); }
  Chunk chunk(std::span<const Index> rows, const torch::TensorOptions& options,
              std::uint64_t point) const override;
  int label(Index row) const override { return labels_[static_cast<std::size_t>(row)]; }

 private:
  Index channels_, height_, width_;
  std::vector<std::uint8_t> pixels_;
  std::vector<int> labels_;
  Scaling scaling_;
  bool augment_;
};

}  // namespace dpsosp::networks
