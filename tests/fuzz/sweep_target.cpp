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
  all.emplace_back(
      "title = \"t\"\nmetric = \"output.value\"\nseeds = 2\nfirst_seed = 3\n[tune]\nbudget = "
      "4\nseeds = 2\nspace = { steps = { from = 2, to = 90, points = 3 }, clip = [1, 2] }\n"
      "[[arm]]\nname = \"a\"\nalgorithm = \"arora-2023/dp-spider\"\nproblem = "
      "\"double-well\"\ntune = { clip = \"clip_refresh\", output = [\"last\"] }\n"
      "[[part]]\nname = \"p\"\naxes = [{ records = [100, 200] }]\n");
  for (const char* finding : {"[[@arm]]\n", "\u00e9 = 1\n", "a\u00e9 = 1\n", "a = 1 \u00e9\n"})
    all.emplace_back(finding);
  return all;
}

}  // namespace dpsosp::fuzz
