// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/reproductions/training.hpp"

/// Results of training runs that nobody made: curves with the shape that the paper describes.
namespace dpsosp {

inline avdiukhin_2024_figures::TrainingResult synthetic_result(
    const avdiukhin_2024_figures::Training& t, std::uint64_t seed) {
  using namespace avdiukhin_2024_figures;
  Stream stream({.seed = seed, .path = static_cast<std::uint64_t>(1000 * t.epsilon.value_or(0))});
  const bool clips = t.algorithm != "avdiukhin-2024/noisy-sgd";
  const bool has_own_gradients = t.normalisation == "group";
  const double epsilon =
      t.epsilon.value_or(std::numeric_limits<double>::infinity()) * (clips ? 1 : 2.5 / t.clip);
  const double best = (clips ? 0.36 : 0.49) - 0.25 / (1 + 3 * epsilon) + 0.01 * stream.normal();
  TrainingResult r;
  r.summary.label = clips               ? (t.epsilon ? "enforced" : "none")
                    : has_own_gradients ? "violated"
                                        : "none";
  r.summary.reason = !t.epsilon ? "there is no noise"
                     : clips    ? ""
                     : has_own_gradients
                         ? "a gradient was longer than C"
                         : "with batch normalisation a record has no gradient of its own";
  r.summary.parameters = 2274880 / (t.width * t.width);
  r.summary.steps = t.epochs * (t.records / t.batch);
  if (t.epsilon) {
    r.summary.multiplier = 0.55 + 0.6 / *t.epsilon;
    r.summary.noise = t.clip * r.summary.multiplier / static_cast<double>(t.batch);
    r.summary.epsilon_add_remove = t.adjacency == "add_remove" ? *t.epsilon : 0.5 * *t.epsilon;
    r.summary.epsilon_replace_one = 2 * *r.summary.epsilon_add_remove;
    r.summary.epsilon_small_delta = 4 * *r.summary.epsilon_add_remove;
  }
  r.summary.device = "cpu";
  for (Index epoch = 0; epoch <= t.epochs; ++epoch) {
    const double trained = 1 - std::exp(-static_cast<double>(epoch) / 2);
    TrainedEpoch e{.epoch = epoch,
                   .train_loss = 2.3 - trained,
                   .train_accuracy = 0.1 + 1.2 * (best - 0.1) * trained,
                   .test_accuracy = 0.1 + (best - 0.1) * trained + 0.005 * stream.normal()};
    e.audit_norm = (has_own_gradients ? 12 : 40) * std::exp(0.1 * stream.normal()) * (1 + trained);
    e.mean_gradient_norm = 1.5 * std::exp(0.2 * stream.normal());
    if (epoch > 0) {
      e.largest_norm = 1.2 * e.audit_norm;
      e.violations = t.records / 4;
    }
    if (t.curvature > 0) {
      e.lambda_min = -2 + trained;
      e.smooth_gradient_norm = 1 - 0.8 * trained;
    }
    if (t.data == "cola") e.matthews = 0.2 * trained;
    r.epochs.push_back(e);
  }
  return r;
}

}  // namespace dpsosp
