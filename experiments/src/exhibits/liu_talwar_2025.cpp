// SPDX-License-Identifier: Apache-2.0
#include "exhibits.hpp"

namespace dpsosp {

std::vector<ExhibitEntry> liu_talwar_2025_exhibits() { return {}; }

}  // namespace dpsosp
