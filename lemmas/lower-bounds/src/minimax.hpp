// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp::lower_bounds {

/// The least worst-case expected gradient norm of (ε, δ)-private algorithms in one dimension,
/// exactly, by a linear programme: records ±R, the loss (x − z)²/(4R) on [−R, R], replace-one
/// adjacency. \param records  in [1, 200] \param epsilon  positive \param delta    in [0, 1)
/// \throws std::runtime_error if the solver finds no optimum
/// \source baselines notes, 13
double exact_minimax(int records, double epsilon, double delta);

}  // namespace dpsosp::lower_bounds
