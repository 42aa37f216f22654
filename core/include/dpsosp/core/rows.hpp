// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Sums over rows that lie anywhere in memory, each of d doubles. All of them have the same bits
/// with every instruction set: a dot product is eight partial sums, entry j in number j mod 8,
/// added in a fixed order; what is summed over rows is summed in their order.
using Rows = std::span<const double* const>;

/// out[k] = ⟨rows[k], w⟩; w has d entries, out as many as there are rows.
void dot_rows(Rows rows, ConstVectorRef w, VectorRef out);

/// out[k] = ‖rows[k] + shift‖²; shift has d entries.
void squared_norms_of_shifted_rows(Rows rows, ConstVectorRef shift, VectorRef out);

/// out += Σ_k weights[k] rows[k]; out has d entries, weights as many as there are rows.
void add_rows(Rows rows, ConstVectorRef weights, VectorRef out);

/// out += Σ_k weights[k] rows[k] rows[k]ᵀ on and below the diagonal; out is d × d.
void add_outer_products(Rows rows, ConstVectorRef weights, MatrixRef out);

/// How many rows of d doubles to ask at a time: as many as a near cache keeps between two sweeps, a
/// multiple of four, and `most_rows` at most.
Index rows_in_cache(Index d);
inline constexpr Index most_rows = 256;

}  // namespace dpsosp
