// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/names.hpp"

namespace dpsosp {

// What the program knows by name, with titles.
std::vector<Named> algorithm_names();
std::vector<Named> audited_names();  ///< also the mechanisms that the audit has of its own
std::vector<Named> problem_names();
std::vector<Named> exhibit_names();  ///< also keys of papers, which stand for all their exhibits
std::vector<Named> sweep_names();
std::vector<Named> plant_names();

// The full name that a word of the user stands for (resolve_name). \throws InputError
/// The same of an algorithm among `names`, or the key of the card that the word is the path of.
std::string algorithm_among(std::string_view kind, std::string_view word,
                            const std::vector<Named>& names, std::string_view lists);
std::string the_algorithm(std::string_view word);
std::string the_audited(std::string_view word);
std::string the_problem(std::string_view word);
std::string the_exhibit(std::string_view word);
std::string the_sweep(std::string_view word);

}  // namespace dpsosp
