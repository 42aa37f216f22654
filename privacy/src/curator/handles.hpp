// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "batch.hpp"
#include "curator.hpp"

namespace dpsosp {

/// Converts handles to what they stand for, and back.
struct Handles {
  static door::Curator& of(Curator& curator) { return *curator.curator_; }
  static const door::Curator& of(const Curator& curator) { return *curator.curator_; }
  static const door::Batch& of(const Batch& batch) {
    static const door::Batch none;  // no curator drew it
    return batch.drawn_ ? *batch.drawn_ : none;
  }
  static Batch of(std::shared_ptr<const door::Batch> drawn) {
    Batch batch;
    batch.drawn_ = std::move(drawn);
    return batch;
  }
  static Curator of(std::unique_ptr<door::Curator> curator) { return Curator(std::move(curator)); }
};

}  // namespace dpsosp
