// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/experiments/progress.hpp"

namespace dpsosp {

/// Hands out jobs, the dearest first as far as is known. Jobs of a kind are taken to cost alike:
/// one job of each kind comes first, in the order given, then the kind with the largest mean.
/// Threads may call all members at a time.
class JobQueue {
 public:
  /// \param kinds  of every job, any text
  explicit JobQueue(const std::vector<std::string>& kinds);

  /// The place of the next job; none when all are handed out.
  std::optional<std::size_t> next();

  /// Job `job` took so many CPU seconds; none where it need not be computed.
  void finished(std::size_t job, std::optional<double> cpu_seconds);

  /// CPU seconds of the finished jobs, and an estimate for the rest: those of kinds without a
  /// finished job count as the mean of the other kinds.
  Work work() const;

 private:
  struct Kind {
    std::vector<std::size_t> waiting;  // from the last to the first
    std::size_t left = 0;              // waiting or running
    std::size_t finished = 0;
    double seconds = 0;
    double mean() const;
  };
  using Rank = std::pair<double, std::size_t>;  // mean and kind

  std::size_t take(std::size_t kind);

  std::vector<Kind> kinds_;
  std::vector<std::size_t> kind_of_;
  std::size_t untried_ = 0;                    // kinds before it have a job handed out
  std::set<Rank, std::greater<>> tried_;       // kinds with jobs waiting
  double done_ = 0, left_ = 0, of_kinds_ = 0;  // seconds done; left and means of known kinds
  std::size_t unknown_left_ = 0, known_ = 0, untimed_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace dpsosp
