// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// Raised by every change of what all problems and algorithms rest on (streams, sums, batches,
/// evaluation) that moves a number. Part of a run's description, not of its random streams.
/// 2: Poisson batches by their size; sums in eight parts; Hessians as matrices.
/// 3: least eigenvalues by inverse Lanczos; gradients of tilted records summed in eight parts.
/// 4: tilted records eight at a time; residuals that cancel left out; solves by inverse pivots.
/// 5: sines, cosines and powers of our own.
/// 6: whole Hessians of rank one as sums of outer products.
/// 7: losses of rows in whole vectors, and their Hessians by the same sums with every processor.
inline constexpr int library_numbers_version = 7;

}  // namespace dpsosp
