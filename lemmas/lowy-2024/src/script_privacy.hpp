// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/accounting/epsilon_interval.hpp"

/// What the DP-SGD of the published experiment's script spends: lowy-2024 notes, 5.2.
namespace dpsosp::lowy_2024_exhibit {

/// The script's DP-SGD: T means of clipped gradients over the realised Poisson batch, drawn anew
/// where it is empty, each with normal noise.
struct ScriptQueries {
  double records;    ///< n, a whole number
  double rate;       ///< a record's, before empty batches are drawn anew
  double deviation;  ///< of the noise, over the largest difference of two records' gradients
  int steps;         ///< T
};

/// Certified bounds of the least ε of the script's DP-SGD at delta, replace-one, over losses whose
/// gradients differ between two records by at most the given difference.
///
/// lower: one pair of data sets. One record's gradient is moved by the largest difference, all
/// others have that of the moved record after the move, so the mean moves by 1/B (in units of the
/// difference) where the record is in a batch of B. Losses are rounded down.
///
/// upper: the number s of other records in the batch is revealed, which does not depend on the
/// record. For s >= 1 the record is in the batch with probability q, and the three means (without
/// it, with it, with it moved) are 1/(s+1) apart at most: the pair of fixed-size samples at rate q
/// dominates (privacy_loss.cpp). For s = 0 it is in the batch for certain. Losses are rounded up.
///
/// Sums over T steps are convolved on a lattice; 1e-6 of delta is set aside for the rounding of the
/// transforms.
EpsilonInterval script_epsilon(const ScriptQueries& queries, double delta);

}  // namespace dpsosp::lowy_2024_exhibit
