// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the printed noise of xu-2026 costs by this suite's accountant, under replace-one.
namespace dpsosp {

/// ε at δ = 1e-6 of the printed noise of xu-2026's experiment with c = 1: n = 400, T = 400, K = 5,
/// q = 10, batches of 200 and 50, two streams, records clipped one by one.
double printed_rgda_epsilon();

/// ε at δ = 1e-6 of T·K queries with the amplified one-pass noise of xu-2026, Lemma 8: n = 1e6,
/// d = 120, K = 5, target ε = 2.
double lemma_8_epsilon();

}  // namespace dpsosp
