// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/main.hpp"
#include "dpsosp/networks/families.hpp"
#include "dpsosp/networks/training.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/reproductions/reproductions.hpp"

int main(int argc, char** argv) {
  return dpsosp::main(argc, argv, {.problems = dpsosp::networks::network_problems(), .others = [] {
                                     dpsosp::add_probe_compute("avdiukhin-2024/training",
                                                               dpsosp::networks::train);
                                   }});
}
