// SPDX-License-Identifier: Apache-2.0
#include "exhibits.hpp"

namespace dpsosp {

std::vector<ExhibitEntry> ganesh_2023_exhibits() { return {}; }

}  // namespace dpsosp
