// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/claims/reproduction.hpp"

namespace dpsosp {

/// Gives this program the code of a probe that the libraries lack. Before reproductions() is first
/// called. \throws InputError if it has been called; reproductions() throws if there is no such
/// probe or it has code already
void add_probe_compute(std::string_view probe, ProbeCompute compute);

/// Everything that this program reproduces: a line a paper in reproductions.cpp.
const Collection& reproductions();

}  // namespace dpsosp
