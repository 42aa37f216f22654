// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/sentence_examples.hpp"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

namespace dpsosp::networks {

SentenceExamples::SentenceExamples(std::vector<std::vector<std::int64_t>> tokens,
                                   std::vector<int> labels)
    : tokens_(std::move(tokens)), labels_(std::move(labels)) {}

Chunk SentenceExamples::chunk(std::span<const Index> rows, const torch::TensorOptions& options,
                              std::uint64_t /*point*/) const {
  const auto sentence = [&](Index row) -> const auto& {
    return tokens_[static_cast<std::size_t>(row)];
  };
  std::int64_t longest = 0;
  for (const Index row : rows) longest = std::max(longest, std::ssize(sentence(row)));
  const auto count = static_cast<std::int64_t>(rows.size());
  const at::Tensor input = at::zeros({count, longest}, at::kLong);
  const at::Tensor mask = at::zeros({count, longest}, at::kLong);
  const at::Tensor labels = at::empty({count}, at::kLong);
  for (std::int64_t k = 0; k < count; ++k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    const std::vector<std::int64_t>& ids = sentence(row);
    std::ranges::copy(ids, input.data_ptr<std::int64_t>() + k * longest);
    mask[k].narrow(0, 0, std::ssize(ids)).fill_(1);
    labels[k] = label(row);
  }
  return {.input = input.to(options.device()),
          .mask = mask.to(options.device()),
          .labels = labels.to(options.device())};
}

}  // namespace dpsosp::networks
