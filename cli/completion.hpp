// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dpsosp/core/names.hpp"

namespace dpsosp {

/// Stands for names of files, which the shell knows better.
inline constexpr const char* complete_files = ":files";

/// What may stand for the last of the words, of which it is the beginning; with titles.
/// \param words  that follow the program's name; the last may be empty. Shells may hand over
///               "--name=value" as one word or as three.
std::vector<Named> completions(std::vector<std::string> words);

/// The script that makes a shell ask the program for completions. \throws InputError
std::string completion_script(const std::string& shell);

}  // namespace dpsosp
