// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {

/// What a program of one's own has beside what the suite has.
struct Registrations {
  std::vector<AlgorithmEntry> algorithms;
  std::vector<ProblemEntry> problems;
  std::function<void()> others = {};  ///< called once, before any command
};

/// The command line: everything that `dpsosp` does, with what is registered among all else.
/// \return the exit code
int main(int argc, char** argv, const Registrations& registrations = {});

}  // namespace dpsosp
