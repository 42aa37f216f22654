// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/isolation/guest_process.hpp"
#include "dpsosp/isolation/sealed_program.hpp"

namespace dpsosp {

/// A parameter that a program's card declares.
struct ProgramSetting {
  using Value = std::variant<double, Index, bool, std::string>;
  std::string name;
  Value standard;                      ///< its default, which decides its type
  Range range = range::finite;         ///< of numbers
  std::vector<std::string> choices{};  ///< of texts; empty: any
  std::string meaning{};
};

/// A program with its card.
struct Program {
  AlgorithmCard card;
  std::vector<ProgramSetting> settings;
  std::shared_ptr<const SealedProgram> file;
  Surroundings surroundings;
};

/// The algorithm that a program is. Each run is a process of its own; what it may ask, and what it
/// is charged, is the same as of any algorithm. Its methods also throw GuestFailed.
std::unique_ptr<Algorithm> make_program_algorithm(std::shared_ptr<const Program> program);

}  // namespace dpsosp
