// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lower bounds on the largest expected gradient norm over a class of 1-Lipschitz, smooth, convex
/// losses, of every (ε, δ)-private algorithm under replace-one adjacency.
/// \source baselines notes, 13
namespace dpsosp::lower_bounds {

/// Lower bound of the empirical and of the population gradient, by tracing.
/// \param records, dimension  at least 1
/// \param epsilon  positive
/// \param delta    in [0, 1)
/// \returns 0 where it says nothing
double tracing_bound(double records, double dimension, double epsilon, double delta);

/// Lower bound of the empirical gradient in any dimension, from two data sets that differ in
/// several records.
double two_point_bound(double records, double epsilon, double delta);

/// Lower bound of the population gradient in any dimension, from two distributions, without
/// privacy.
double statistical_bound(double records);

/// The largest of the bounds that hold for the empirical gradient.
double empirical_bound(double records, double dimension, double epsilon, double delta);

/// What adding Gaussian noise to the mean record reaches on the same class: an upper bound.
double noisy_mean(double records, double dimension, double epsilon, double delta);

}  // namespace dpsosp::lower_bounds
