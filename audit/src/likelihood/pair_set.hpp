// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace dpsosp::audit {

/// A set of pairs in one table, open addressing with linear probing.
class PairSet {
 public:
  using Pair = std::pair<std::int64_t, std::int64_t>;

  std::size_t size() const { return size_; }
  /// Whether the pair is new.
  bool insert(const Pair& pair) {
    if (2 * size_ >= slots_.size()) grow();
    std::optional<Pair>& slot = slot_of(pair);
    if (slot) return false;
    slot = pair;
    ++size_;
    return true;
  }

 private:
  /// Where the pair is, or would be.
  std::optional<Pair>& slot_of(const Pair& pair) {
    const std::uint64_t mixed =
        std::rotl(static_cast<std::uint64_t>(pair.first) * 0x9e3779b97f4a7c15U, 32) ^
        static_cast<std::uint64_t>(pair.second);
    std::size_t at = mixed * 0xc2b2ae3d27d4eb4fU >> (64 - std::countr_zero(slots_.size()));
    while (slots_[at] && *slots_[at] != pair) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    const auto old = std::exchange(slots_, std::vector<std::optional<Pair>>(2 * slots_.size()));
    for (const std::optional<Pair>& pair : old)
      if (pair) slot_of(*pair) = pair;
  }

  std::vector<std::optional<Pair>> slots_ =
      std::vector<std::optional<Pair>>(64);  // a power of two, half of them empty
  std::size_t size_ = 0;
};

}  // namespace dpsosp::audit
