// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {

/// The entry of an algorithm, or of a family of problems, that is a class.
template <class Type>
AlgorithmEntry algorithm_entry() {
  return {Type().card().key,
          []() -> std::unique_ptr<Algorithm> { return std::make_unique<Type>(); }};
}
template <class Family>
ProblemEntry problem_entry() {
  return {std::string(Family().name()),
          []() -> std::unique_ptr<ProblemFamily> { return std::make_unique<Family>(); }};
}

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
