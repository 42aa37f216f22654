// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace dpsosp {

/// Where `./run data` puts files: $DPSOSP_DATA if set and not empty, else ./data.
std::filesystem::path data_folder();

}  // namespace dpsosp
