// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  try {
    parse_sweep(input, "input", Scale::quick, reproductions().catalogue.exponents);
  } catch (const InputError& e) {
    check_refusal(e.what());
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const BuiltInSweep& s : reproductions().catalogue.sweeps) all.emplace_back(s.toml);
  for (const char* finding : {"[[@arm]]\n", "\u00e9 = 1\n", "a\u00e9 = 1\n", "a = 1 \u00e9\n"})
    all.emplace_back(finding);
  return all;
}

}  // namespace dpsosp::fuzz
