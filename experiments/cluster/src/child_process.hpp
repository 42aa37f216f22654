// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace dpsosp {

/// Runs commands, so many at a time, with this process's standard error and no output of theirs.
/// SIGINT, SIGTERM, SIGHUP and SIGUSR1 go on to those that run, and no further one is started.
/// \param failed  is told the place of each command that does not end with 0, and its exit code
/// \return the signal that came first, or 0
int run_commands(const std::vector<std::vector<std::string>>& commands, std::size_t at_a_time,
                 std::vector<std::pair<std::size_t, int>>& failed);

}  // namespace dpsosp
