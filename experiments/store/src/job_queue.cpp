// SPDX-License-Identifier: Apache-2.0
#include "job_queue.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace dpsosp {

double JobQueue::Kind::mean() const {
  return finished == 0 ? std::numeric_limits<double>::infinity()
                       : seconds / static_cast<double>(finished);
}

JobQueue::JobQueue(const std::vector<std::string>& kinds) : unknown_left_(kinds.size()) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t job = 0; job < kinds.size(); ++job) {
    const auto [found, added] = places.emplace(kinds[job], kinds_.size());
    if (added) kinds_.emplace_back();
    kinds_[found->second].waiting.push_back(job);
    kind_of_.push_back(found->second);
  }
  for (Kind& kind : kinds_) {
    std::ranges::reverse(kind.waiting);
    kind.left = kind.waiting.size();
  }
  untimed_ = kinds_.size();
}

std::size_t JobQueue::take(std::size_t kind) {
  std::vector<std::size_t>& waiting = kinds_[kind].waiting;
  const std::size_t job = waiting.back();
  waiting.pop_back();
  if (waiting.empty()) tried_.erase({kinds_[kind].mean(), kind});
  return job;
}

std::optional<std::size_t> JobQueue::next() {
  const std::scoped_lock lock(mutex_);
  if (untried_ < kinds_.size()) {
    tried_.emplace(kinds_[untried_].mean(), untried_);
    return take(untried_++);
  }
  if (tried_.empty()) return std::nullopt;
  return take(tried_.begin()->second);
}

void JobQueue::finished(std::size_t job, std::optional<double> cpu_seconds) {
  const std::scoped_lock lock(mutex_);
  Kind& kind = kinds_[kind_of_[job]];
  if (!cpu_seconds) {
    --kind.left;
    if (kind.finished == 0) {
      --unknown_left_;
      if (kind.left == 0) --untimed_;
    } else {
      left_ -= kind.mean();
    }
    return;
  }
  const bool waits = tried_.erase({kind.mean(), kind_of_[job]}) > 0;
  const auto contribution = [&] { return static_cast<double>(kind.left) * kind.mean(); };
  if (kind.finished == 0) {
    unknown_left_ -= kind.left;
    ++known_;
    --untimed_;
  } else {
    left_ -= contribution();
    of_kinds_ -= kind.mean();
  }
  ++kind.finished;
  --kind.left;
  kind.seconds += *cpu_seconds;
  done_ += *cpu_seconds;
  left_ += contribution();
  of_kinds_ += kind.mean();
  if (waits) tried_.emplace(kind.mean(), kind_of_[job]);
}

Work JobQueue::work() const {
  const std::scoped_lock lock(mutex_);
  const double unknown =
      known_ == 0 ? 0.0
                  : static_cast<double>(unknown_left_) * of_kinds_ / static_cast<double>(known_);
  return {.done = done_, .left = std::max(left_ + unknown, 0.0), .untimed = untimed_};
}

}  // namespace dpsosp
