// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/data_folder.hpp"

#include <cstdlib>

namespace dpsosp {

std::filesystem::path data_folder() {
  const char* folder = std::getenv("DPSOSP_DATA");
  return folder != nullptr && *folder != '\0' ? folder : "data";
}

}  // namespace dpsosp
