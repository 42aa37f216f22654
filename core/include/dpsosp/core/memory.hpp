// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// Lets the process keep freed memory instead of handing it back to the system: for programs whose
/// runs allocate and free the same arrays again and again, which otherwise come as fresh pages that
/// the system clears each time. Does nothing where the C library has no such setting.
void keep_freed_memory();

}  // namespace dpsosp
