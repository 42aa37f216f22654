// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

struct ProblemEntry {
  std::string name;
  std::unique_ptr<ProblemFamily> (*create)();
};

/// Every problem of the zoo, one line each.
const std::vector<ProblemEntry>& problem_registry();

/// Adds problems of a room that not every program has; called once, when the program starts.
void add_problems(const std::vector<ProblemEntry>& entries);

/// The caller's own file that the family's records are read from; empty for all but `own-glm`.
std::filesystem::path own_data(const ProblemFamily& family);

/// The family called `name`. \throws InputError with the nearest name.
std::unique_ptr<ProblemFamily> find_problem(std::string_view name);
/// The same with settings, by name. \throws InputError for a setting that it lacks or cannot be
std::unique_ptr<ProblemFamily> find_problem(std::string_view name,
                                            const std::map<std::string, std::string>& settings);

}  // namespace dpsosp
