// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// Adds the problems and probes of the rooms that this program is built with.
void open_rooms();

}  // namespace dpsosp
