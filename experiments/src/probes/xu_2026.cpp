// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace dpsosp {

std::vector<ProbeEntry> xu_2026_probes() { return {}; }

}  // namespace dpsosp
