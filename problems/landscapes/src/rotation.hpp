// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// A d × d orthogonal matrix, Haar distributed, a function of `seed` alone. Memory O(d²).
Matrix random_rotation(Index dimension, std::uint64_t seed);

/// x ↦ F(Qᵀx) for orthogonal Q (d × d): the same spectra, norms and constants at the points Q u.
std::shared_ptr<const Objective> rotated(std::shared_ptr<const Objective> objective, Matrix Q);

/// Turns a landscape whose domain no rotation changes by Q = random_rotation(d, seed): objective,
/// starts, landmarks and slice. Seed 0 leaves it as it is.
void rotate_landscape(Landscape& landscape, std::uint64_t seed);

}  // namespace dpsosp
