// SPDX-License-Identifier: Apache-2.0
#include "rooms.hpp"

namespace dpsosp {

void open_rooms() {}

}  // namespace dpsosp
