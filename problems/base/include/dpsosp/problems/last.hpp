// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// First record and size of a range.
using RangeKey = std::pair<Index, Index>;

/// Value made of the last key, a range or a point. Simulated sums depend on the range alone and
/// Hessian products at one point share work, and both are asked for many times in a row. Safe from
/// several threads.
template <class Key, class Value>
class Last {
 public:
  /// make(), or what it gave for the same key the last time.
  template <class Given, class Make>
  std::shared_ptr<const Value> of(const Given& key, const Make& make) const {
    {
      const std::scoped_lock lock(mutex_);
      if (value_ && same(key, key_)) return value_;
    }
    auto made = std::make_shared<const Value>(make());
    const std::scoped_lock lock(mutex_);
    key_ = key;
    value_ = made;
    return made;
  }

 private:
  static bool same(const RangeKey& a, const RangeKey& b) { return a == b; }
  // bits, since what is made of −0 may differ from what is made of 0
  static bool same(ConstVectorRef a, const Vector& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) ==
               0;
  }

  mutable std::mutex mutex_;
  mutable Key key_{};
  mutable std::shared_ptr<const Value> value_;
};

}  // namespace dpsosp
