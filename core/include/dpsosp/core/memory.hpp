// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace dpsosp {

/// Lets the process keep freed memory instead of handing it back to the system: for programs whose
/// runs allocate and free the same arrays again and again, which otherwise come as fresh pages that
/// the system clears each time. Does nothing where the C library has no such setting.
void keep_freed_memory();

/// Bytes that the process has allocated and not freed; none where the C library does not say.
std::optional<std::size_t> allocated_bytes();

/// Bytes of memory of this machine; none where the system does not say.
std::optional<double> machine_memory();

}  // namespace dpsosp
