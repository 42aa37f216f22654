// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/reproductions/training.hpp"

/// The members of a training run, by name: JSON and CSV are written and read through one list.
namespace dpsosp::avdiukhin_2024_figures {

/// Calls visit(name, member) for each. `training` is a Training, const or not.
template <class T, class Visit>
void each_member_of_training(T& training, Visit&& visit) {
  visit("network", training.network);
  visit("data", training.data);
  visit("width", training.width);
  visit("normalisation", training.normalisation);
  visit("smooth", training.smooth);
  visit("algorithm", training.algorithm);
  visit("clip", training.clip);
  visit("epsilon", training.epsilon);
  visit("delta", training.delta);
  visit("adjacency", training.adjacency);
  visit("sampling", training.sampling);
  visit("batch", training.batch);
  visit("epochs", training.epochs);
  visit("step_size", training.step_size);
  visit("records", training.records);
  visit("test_records", training.test_records);
  visit("augment", training.augment);
  visit("curvature", training.curvature);
  visit("initial", training.initial);
}

template <class T, class Visit>
void each_member_of_summary(T& summary, Visit&& visit) {
  visit("label", summary.label);
  visit("reason", summary.reason);
  visit("noise", summary.noise);
  visit("multiplier", summary.multiplier);
  visit("steps", summary.steps);
  visit("parameters", summary.parameters);
  visit("epsilon_add_remove", summary.epsilon_add_remove);
  visit("epsilon_replace_one", summary.epsilon_replace_one);
  visit("epsilon_small_delta", summary.epsilon_small_delta);
  visit("device", summary.device);
}

template <class T, class Visit>
void each_member_of_epoch(T& epoch, Visit&& visit) {
  visit("epoch", epoch.epoch);
  visit("train_loss", epoch.train_loss);
  visit("train_accuracy", epoch.train_accuracy);
  visit("test_accuracy", epoch.test_accuracy);
  visit("largest_norm", epoch.largest_norm);
  visit("audit_norm", epoch.audit_norm);
  visit("mean_gradient_norm", epoch.mean_gradient_norm);
  visit("violations", epoch.violations);
  visit("lambda_min", epoch.lambda_min);
  visit("smooth_gradient_norm", epoch.smooth_gradient_norm);
  visit("matthews", epoch.matthews);
}

}  // namespace dpsosp::avdiukhin_2024_figures
