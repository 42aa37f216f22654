// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::testing {

/// Words that can be drawn again.
class StreamWords final : public WordSource {
 public:
  explicit StreamWords(std::uint64_t seed) : stream_({.seed = seed}) {}
  std::uint64_t bits() override { return stream_.bits(); }

 private:
  Stream stream_;
};

}  // namespace dpsosp::testing
