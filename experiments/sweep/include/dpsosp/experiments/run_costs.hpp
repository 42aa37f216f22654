// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/job.hpp"
#include "dpsosp/experiments/store.hpp"

namespace dpsosp {

/// Expected cost of a run, by runs that were computed. In CPU seconds, since the wall clock
/// of a run that shared its processor says little.
class RunCosts {
 public:
  RunCosts();
  /// By all runs of a store.
  explicit RunCosts(const Store& store);
  ~RunCosts();
  RunCosts(RunCosts&&) noexcept;

  void add(const nlohmann::json& description, double cpu_seconds);

  /// The mean of the runs that differ in their seeds alone; where there are none, seconds_by_law.
  std::optional<double> seconds(const Job& job) const;
  /// By a power law in n, d and ε through the runs of the same algorithm and problem, by least
  /// squares; what none of them moves counts for nothing. None where there are none.
  std::optional<double> seconds_by_law(const Job& job) const;

 private:
  struct Mean {
    double seconds = 0;
    std::size_t runs = 0;
  };
  struct Law;
  std::unordered_map<std::string, Mean> cells_;
  mutable std::map<std::string, Law> laws_;
};

/// Cost of the runs that are not stored, by RunCosts::seconds_by_law.
struct TimeEstimate {
  double seconds = 0;       ///< of one core
  std::size_t stored = 0;   ///< runs
  std::size_t unknown = 0;  ///< runs without a stored one like them
};
TimeEstimate estimate_time(const std::vector<Job>& jobs, const std::filesystem::path& store);

/// The setting `steps` that a run plans; none where it has none, is refused, or has data that take
/// long to make.
std::optional<std::string> planned_steps(const RunDescription& run);

}  // namespace dpsosp
