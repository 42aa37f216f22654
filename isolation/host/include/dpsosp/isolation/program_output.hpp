// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dpsosp {

/// Is told what programs write to standard output and standard error, in whole lines that a
/// terminal may show. Called from any thread. No result depends on it.
struct OutputFollower {
  /// Each line as it comes; empty: not asked for.
  std::function<void(const std::string& line)> line;
  /// The last lines of a program that failed, twenty at most and one at least.
  std::function<void(const std::string& program, const std::vector<std::string>& last)> failed;
};

/// Sets who is told; nobody is at first. Not to be called while a program runs.
void follow_output(OutputFollower follower);

}  // namespace dpsosp
