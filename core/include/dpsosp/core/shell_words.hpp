// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dpsosp {

/// A word as a shell reads it back.
std::string shell_word(const std::string& word);
/// The words as a line to copy into a shell.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace dpsosp
