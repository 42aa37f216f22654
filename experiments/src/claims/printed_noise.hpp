// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/accounting/event.hpp"

/// What the printed noise of two papers costs by this suite's accountant; under replace-one where
/// no adjacency is asked for.
namespace dpsosp {

/// ε at δ = 0.01 of the noise of avdiukhin-2024, Theorem 3.1, with constant c₂ for a target ε:
/// n = 50000, Poisson batches of 512, 2328 steps.
double theorem_3_1_epsilon(double c2, double epsilon, Adjacency adjacency);

/// ε at δ = 1e-6 of the printed noise of xu-2026's experiment with c = 1: n = 400, T = 400, K = 5,
/// q = 10, batches of 200 and 50, two streams, records clipped one by one.
double printed_rgda_epsilon();

/// ε at δ = 1e-6 of T·K queries with the amplified one-pass noise of xu-2026, Lemma 8: n = 1e6,
/// d = 120, K = 5, target ε = 2.
double lemma_8_epsilon();

}  // namespace dpsosp
