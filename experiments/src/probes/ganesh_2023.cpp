// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace dpsosp {

std::vector<ProbeEntry> ganesh_2023_probes() { return {}; }

}  // namespace dpsosp
