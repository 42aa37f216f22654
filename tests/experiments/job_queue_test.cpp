// SPDX-License-Identifier: Apache-2.0
#include "job_queue.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace dpsosp::job_queue_test {
namespace {

const std::vector<std::string> kinds{"cheap", "cheap", "dear", "dear", "cheap", "middle", "middle"};

TEST(JobQueue, HandsOutOneJobOfEachKindThenDearestKind) {
  JobQueue queue(kinds);
  const auto take = [&](double seconds) {
    const std::size_t job = queue.next().value();
    queue.finished(job, seconds);
    return job;
  };
  EXPECT_EQ(take(1), 0U);
  EXPECT_EQ(take(100), 2U);
  EXPECT_EQ(take(10), 5U);
  EXPECT_EQ(take(100), 3U);
  EXPECT_EQ(take(10), 6U);
  EXPECT_EQ(take(1), 1U);
  EXPECT_EQ(take(1), 4U);
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(JobQueue, HandsOutEveryJobOnceWithoutWaitingForCosts) {
  JobQueue queue(kinds);
  std::vector<int> handed(kinds.size(), 0);
  for (std::size_t k = 0; k < kinds.size(); ++k) ++handed.at(queue.next().value());
  EXPECT_EQ(handed, std::vector<int>(kinds.size(), 1));
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(JobQueue, EstimatesWorkLeftByKind) {
  JobQueue queue(kinds);
  EXPECT_EQ(queue.work().left, 0);
  EXPECT_EQ(queue.work().untimed, 3U);
  const std::size_t cheap = queue.next().value(), dear = queue.next().value();
  queue.finished(cheap, 1);
  EXPECT_DOUBLE_EQ(queue.work().left, 2 * 1 + 4 * 1);  // unknown kinds count as the mean of known
  queue.finished(dear, 100);
  EXPECT_DOUBLE_EQ(queue.work().done, 101);
  EXPECT_DOUBLE_EQ(queue.work().left, 2 * 1 + 1 * 100 + 2 * 50.5);
  EXPECT_EQ(queue.work().untimed, 1U);
  queue.finished(queue.next().value(), 10);  // of the third kind
  EXPECT_DOUBLE_EQ(queue.work().left, 2 * 1 + 1 * 100 + 1 * 10);
  queue.finished(queue.next().value(), std::nullopt);  // the other dear one, not computed
  EXPECT_DOUBLE_EQ(queue.work().left, 2 * 1 + 1 * 10);
  EXPECT_EQ(queue.work().untimed, 0U);
}

}  // namespace
}  // namespace dpsosp::job_queue_test
