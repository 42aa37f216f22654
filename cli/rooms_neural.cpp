// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/families.hpp"
#include "dpsosp/networks/training.hpp"
#include "dpsosp/problems/problem.hpp"
#include "rooms.hpp"

namespace dpsosp {

void open_rooms() { add_problems(networks::network_problems()); }

}  // namespace dpsosp
