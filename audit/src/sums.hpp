// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "dpsosp/problems/problem.hpp"

namespace dpsosp::audit {

/// Neighbours ask for the exchanged record alone, so that what a record contributes only beside
/// others is not seen there: clipped sums over batches are compared with those over their records.
struct SumSizes {
  Index most_records = 0;  ///< of the batches; 0: all of the problem
  bool gradients_only = false;
};

/// How far from the sum over its records a sum over a batch may be, in limits a record: of
/// gradients, their differences, losses and Hessian products, over ranges and lists of records.
struct FurthestSum {
  double distance = 0;
  std::string what;  ///< "differences of gradients over records 3 to 597"
  int compared = 0;  ///< sums; none where every record answers zero
};
FurthestSum furthest_sum(const Problem& problem, const SumSizes& sizes = {});

/// A record whose Hessian, at random points however unbalanced, has a higher rank than is stated.
std::string complaint_of_rank(const Problem& problem, std::uint64_t seed);

/// Of every problem of the zoo whose records are in memory, with more of them than are added up at
/// once. Empty if none is further than rounding, and no rank is higher than stated.
std::string complaint_of_sums(std::uint64_t seed);

}  // namespace dpsosp::audit
