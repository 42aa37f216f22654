// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/networks/sentence_examples.hpp"

namespace dpsosp {

/// Sentences of 2 to `longest` independent tokens from [0, vocabulary) and uniform labels. Every
/// other one repeats its second token from there on.
inline std::shared_ptr<const networks::SentenceExamples> some_sentences(
    Index count, std::uint64_t seed, Index vocabulary, Index longest, Index classes) {
  Stream stream({.seed = seed, .purpose = Purpose::test});
  std::vector<std::vector<std::int64_t>> tokens;
  std::vector<int> labels;
  for (Index i = 0; i < count; ++i) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(2 + stream.below(longest - 1)));
    for (auto& id : ids) id = stream.below(vocabulary);
    if (i % 2 == 0) std::fill(ids.begin() + 1, ids.end(), ids[1]);
    tokens.push_back(std::move(ids));
    labels.push_back(static_cast<int>(stream.below(classes)));
  }
  return std::make_shared<networks::SentenceExamples>(std::move(tokens), std::move(labels));
}

}  // namespace dpsosp
