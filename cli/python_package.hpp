// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dpsosp {

/// The folder of the package for Python: that of the installation, or of the checkout; else empty.
std::string python_package();

/// Runs dpsosp.draw in place of this process; its exit code is 0, 2 for a bad description, 1 where
/// there is no matplotlib.
/// \return 1, if there is no Python; a line on stderr says so
int draw_instead(const std::vector<std::string>& words);

}  // namespace dpsosp
