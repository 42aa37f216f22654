// SPDX-License-Identifier: Apache-2.0
// dpsosp with all its commands, and an algorithm and a problem of one's own among the others.
#include "dpsosp/main.hpp"
#include "dpsosp/smith_2027/normalised_momentum.hpp"
#include "log_well.hpp"

int main(int argc, char** argv) {
  using namespace dpsosp;
  return dpsosp::main(argc,
                      argv,
                      {.algorithms = {algorithm_entry<smith_2027::NormalisedMomentum>()},
                       .problems = {problem_entry<LogWell>()}});
}
