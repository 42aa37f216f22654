// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace dpsosp {

std::vector<ProbeEntry> liu_talwar_2025_probes() { return {}; }

}  // namespace dpsosp
