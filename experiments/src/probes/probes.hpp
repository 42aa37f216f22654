// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/probe.hpp"

namespace dpsosp {

std::vector<ProbeEntry> audit_probes();
std::vector<ProbeEntry> avdiukhin_2024_probes();
std::vector<ProbeEntry> ganesh_2023_probes();
std::vector<ProbeEntry> liu_talwar_2025_probes();
std::vector<ProbeEntry> lowy_2024_probes();
std::vector<ProbeEntry> xu_2026_probes();

}  // namespace dpsosp
