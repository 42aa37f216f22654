// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace dpsosp {

/// Gives up, for good, what a guest does not need; ends it when the host ends. The system calls
/// that memory and the socket need remain: any other kills the process. Files, network and other
/// processes are out of reach.
/// \throws InputError where the kernel has no seccomp
void enter_sandbox();

/// The same for a process that is to become the caller's program: it may read what lies below /usr,
/// /lib, /lib64, /bin and /sbin, may have threads but no children, and write nothing. Any other
/// system call fails with EPERM.
/// \param readable  further files and folders that it may read
/// \throws InputError where the kernel has no seccomp or no Landlock
void enter_program_sandbox(std::span<const char* const> readable = {});

}  // namespace dpsosp
