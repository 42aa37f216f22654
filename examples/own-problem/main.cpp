// SPDX-License-Identifier: Apache-2.0
// dpsosp with all its commands, and a problem of one's own among the others.
#include "dpsosp/main.hpp"
#include "dpsosp/problems/log_well.hpp"

int main(int argc, char** argv) {
  return dpsosp::main(argc, argv, {.problems = {dpsosp::problem_entry<dpsosp::LogWell>()}});
}
