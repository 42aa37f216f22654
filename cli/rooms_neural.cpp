// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/families.hpp"
#include "dpsosp/networks/training.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "rooms.hpp"

namespace dpsosp {

void open_rooms() {
  add_problems(networks::network_problems());
  add_probe_compute("avdiukhin-2024/training", networks::train);
}

}  // namespace dpsosp
