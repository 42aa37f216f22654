// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bounds that no (ε, δ)-private algorithm beats in the worst case, on the expected excess
/// population risk of 1-Lipschitz losses over the unit ball, under replace-one.
/// \source ganesh-2023 notes, 6.17
namespace dpsosp::ganesh_2023 {

/// By tracing the records of a packing of bumps: of order d/(nε).
double traced_risk(double records, double dimension, double epsilon, double delta);
/// E⟨u, p⟩ of tracing for m expected records that are not 0, under the prior (1 − p²)^{β−1}.
double traced_mean(double traced, double prior, double epsilon, double delta);
/// By two distributions of a linear loss: of order 1/(nε).
double two_point_risk(double records, double epsilon, double delta);
/// Without privacy, by Fano's inequality over the packing, or two distributions: of order √(d/n).
double statistical_risk(double records, double dimension);

}  // namespace dpsosp::ganesh_2023
