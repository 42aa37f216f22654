// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "dpsosp/networks/examples.hpp"

namespace dpsosp::networks {

/// Sentences as numbers of tokens, which a chunk pads to its longest.
class SentenceExamples final : public Examples {
 public:
  /// \param tokens  of each sentence, at least one, without padding
  /// \param labels  one a sentence: 0, 1, …
  SentenceExamples(std::vector<std::vector<std::int64_t>> tokens, std::vector<int> labels);
  Index size() const override { return std::ssize(labels_); }
  /// Padding is token 0, with mask 0. Nothing is augmented.
  Chunk chunk(std::span<const Index> rows, const torch::TensorOptions& options,
              std::uint64_t point) const override;
  int label(Index row) const override { return labels_[static_cast<std::size_t>(row)]; }

 private:
  std::vector<std::vector<std::int64_t>> tokens_;
  std::vector<int> labels_;
};

}  // namespace dpsosp::networks
