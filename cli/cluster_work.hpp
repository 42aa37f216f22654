// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dpsosp/experiments/job.hpp"
#include "dpsosp/experiments/store.hpp"
#include "options.hpp"

namespace dpsosp {

/// Many runs that one command wants, and may leave to other processes.
struct ClusterWork {
  std::string command;  ///< "sweep": for messages
  /// Its arguments as they were given, and those that compute what is left and write the tables.
  std::vector<std::string> arguments, plain;
  std::filesystem::path out;
  /// All runs, with the seeds that stored ones ask for; null where there is no store yet.
  std::function<std::vector<Job>(const Store* store)> jobs;
  /// Whether there will be others once those that were last asked for are stored.
  std::function<bool()> more = [] { return false; };
};

/// The options --slurm, --local and those that go with them.
OptionGroup cluster_options();

/// Whether one of them is given.
bool asks_for_cluster(const boost::program_options::variables_map& map);

/// Plans, submits, shows or cancels; or computes with --local, after which the command itself goes
/// on with what is stored.
/// \return whether the command goes on
bool on_cluster(const boost::program_options::variables_map& map, const ClusterWork& work);

/// Merges the journals of these plans into OUT/store.sqlite; what is new is said on standard error.
void merge_plans(const std::filesystem::path& out, const std::vector<std::filesystem::path>& plans,
                 const std::string& command);

}  // namespace dpsosp
