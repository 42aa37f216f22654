// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/chunked_sum.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

namespace dpsosp::chunked_sum_test {
namespace {

TEST(ChunkedSum, OfNoEntriesIsMade) {
  Vector none(0);
  Index seen = 0;
  chunked_sum(7, none, [&](Index first, Index last, VectorRef) {
    seen += last - first;
    return ClipReport{};
  });
  EXPECT_EQ(seen, 7);
}

/// A contribution that is not finite makes the sum so: it takes nobody else's place.
TEST(ChunkedSum, LeavesNoChunkOut) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  tbb::task_arena one_thread(1);
  for (const Index count : {1, 255, 256, 257, 5000, 100'000})
    for (const double wrong : {std::nan(""), infinity, -infinity})
      for (const Index at : {Index{0}, count / 2, count - 1}) {
        const auto sum = [&](double of_one) {
          Vector out = Vector::Zero(2);
          chunked_sum(count, out, [&](Index first, Index last, VectorRef partial) -> ClipReport {
            for (Index k = first; k < last; ++k) {
              partial[0] += k == at ? of_one : 1.0;
              partial[1] += 1.0;
            }
            return {};
          });
          return out;
        };
        EXPECT_EQ(sum(1.0)[0], static_cast<double>(count));
        EXPECT_EQ(one_thread.execute([&] { return sum(1.0); }), sum(1.0));
        EXPECT_EQ(sum(wrong)[1], static_cast<double>(count)) << count << ' ' << at;
        EXPECT_FALSE(std::isfinite(sum(wrong)[0])) << count << ' ' << at;
      }
}

/// At most 64, and so few that their sums have 2^22 entries at most, or two.
TEST(ChunkedSum, HasFewChunks) {
  struct Case {
    Index entries, most;
  };
  for (const auto& [entries, most] : {Case{500, 64}, Case{1 << 20, 4}, Case{1 << 22, 2}})
    for (const Index count : {16'384, 16'385, 100'000, 1'000'001}) {
      std::atomic<Index> chunks = 0, first_size = 0;
      Vector out = Vector::Zero(entries);
      chunked_sum(count, out, [&](Index first, Index last, VectorRef) {
        ++chunks;
        if (first == 0) first_size = last;
        return ClipReport{};
      });
      EXPECT_EQ(first_size, (count + most - 1) / most) << count;
      EXPECT_EQ(chunks, (count + first_size - 1) / first_size) << count;
    }
  Vector out(1);
  chunked_sum(0, out, [](Index, Index, VectorRef) {
    ADD_FAILURE() << "a chunk of nothing";
    return ClipReport{};
  });
}

}  // namespace
}  // namespace dpsosp::chunked_sum_test
