// SPDX-License-Identifier: Apache-2.0
// dpsosp with all its commands, and an algorithm of one's own among the others.
#include "dpsosp/main.hpp"
#include "dpsosp/smith_2027/normalised_momentum.hpp"

int main(int argc, char** argv) {
  return dpsosp::main(
      argc, argv,
      {.algorithms = {dpsosp::algorithm_entry<dpsosp::smith_2027::NormalisedMomentum>()}});
}
