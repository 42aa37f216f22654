// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/problems/problem.hpp"

namespace dpsosp::audit {

/// How far from the sum over its records a clipped sum of gradients over a batch is, in limits a
/// record, over a range and a list of the first records: of networks, whose sums are not those of
/// trusted/. Neighbours ask for the exchanged record alone, and see nothing that a record
/// contributes only beside others.
double furthest_sum(const Problem& problem, Index most_records);

}  // namespace dpsosp::audit
