// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "subjects/subject.hpp"

namespace dpsosp::audit {

/// What the two data sets would have answered in a recorded run.
struct Answers {
  std::vector<Vector> one, two;  ///< batches as they were drawn
  /// Answers with the record in every secret batch, and in none; empty where nothing is sampled.
  std::vector<Vector> in_one, in_two, out;
};

/// Whether a run draws batches that are charged as sampled.
bool is_sampled(const Transcript& transcript);

/// ln of the likelihood of everything that a run released on data set one over that on data set
/// two: the best score there is (Neyman and Pearson) for an attacker who knows all other records,
/// and of sampled batches who else was in them. Questions of AboveThreshold are seen as answers
/// yes or no, choices and Gibbs draws as what was chosen (a Gibbs draw up to a constant).
double log_likelihood_ratio(const Transcript& transcript, const Answers& answers);

}  // namespace dpsosp::audit
