// SPDX-License-Identifier: Apache-2.0
#include "exhibits.hpp"

namespace dpsosp {

std::vector<ExhibitEntry> avdiukhin_2024_exhibits() { return {}; }

}  // namespace dpsosp
