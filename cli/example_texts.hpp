// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Files of examples/, as they stand there, from which `dpsosp new` makes its own.
namespace dpsosp {

std::string_view program_card_example();
std::string_view program_example();
std::string_view sweep_example();
std::string_view claim_example();
std::string_view own_algorithm_build();
std::string_view own_algorithm_main();
std::string_view algorithm_header();
std::string_view algorithm_source();
std::string_view own_problem_build();
std::string_view own_problem_main();
std::string_view problem_header();
std::string_view problem_source();

}  // namespace dpsosp
