// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <system_error>

#include <unistd.h>

namespace dpsosp {

/// fork(), or an exception: -1 in place of a process would send its signals to all processes.
inline pid_t forked() {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  return child;
}

}  // namespace dpsosp
