// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace dpsosp {

std::vector<ProbeEntry> lowy_2024_probes() { return {}; }

}  // namespace dpsosp
