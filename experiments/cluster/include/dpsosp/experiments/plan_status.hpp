// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "dpsosp/experiments/plan.hpp"

namespace dpsosp {

/// How far a shard is, by its journals.
struct ShardStatus {
  std::size_t attempts = 0;
  std::size_t runs = 0;
  std::size_t done = 0;
  std::size_t failed = 0;    ///< of those done
  std::size_t repeated = 0;  ///< runs that a second copy computed again, too
  double cpu_seconds = 0;    ///< of all attempts
  double left_seconds = 0;   ///< an estimate for what is missing
};

/// A line of each journal is read, the last; only where a shard has several, all.
struct PlanStatus {
  std::vector<ShardStatus> shards;
  ShardStatus all;  ///< the sums
};
/// \throws InputError
PlanStatus plan_status(const std::filesystem::path& folder, const Plan& plan);

/// \throws InputError naming the first shard with missing runs
void require_complete(const std::filesystem::path& folder, const PlanStatus& status);

}  // namespace dpsosp
