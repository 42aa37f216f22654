// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dpsosp {

// Each command takes what follows its name on the command line, prints its result to stdout or one
// clear line to stderr, and returns the exit code: 0 fine, 2 bad input, 3 refused because no proof
// covers the question.

/// Epsilon of a described sequence of mechanisms, or the noise for a target epsilon.
int account_command(const std::vector<std::string>& arguments);

}  // namespace dpsosp
