// SPDX-License-Identifier: Apache-2.0
// The point of `certify --point`.
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  try {
    RunSpec spec;
    spec.problem = "double-well";
    spec.records = 10;
    spec.dimension = 2;
    certify_point(spec, std::string(input));
  } catch (const InputError& e) {
    check_refusal(e.what());
  }
}

std::vector<std::string> seeds() { return {"initial", "origin", "[0.5, -1e3]", "[1, 2, 3]"}; }

}  // namespace dpsosp::fuzz
