// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

/// Training runs of the figures of avdiukhin-2024: what the probe is given and what it returns. A
/// program with network code registers the function that computes it (add_probe_compute).
namespace dpsosp::avdiukhin_2024_figures {

/// What decides a run, beside its seed. \source avdiukhin-2024 notes, 5
struct Training {
  static constexpr ProbeName probe{"avdiukhin-2024/training", 2};
  static constexpr bool null_for_none = true;
  std::string network;              ///< cnn (Appendix A), resnet18, bert
  std::string data;                 ///< cifar10, cifar100, cola
  Index width = 1;                  ///< divisor of the published widths
  std::string normalisation;        ///< batch, group
  bool smooth = false;              ///< softplus and average pooling for ReLU and max pooling
  std::string algorithm;            ///< avdiukhin-2024/noisy-sgd or dp-sgd, abadi-2016/dp-adam
  double clip = 0;                  ///< C > 0; where nothing is clipped what the noise is for
  std::optional<double> epsilon{};  ///< that the noise is calibrated for; none: no noise
  double delta = 0;
  std::string adjacency;   ///< add_remove, replace_one: for which it is calibrated
  std::string sampling;    ///< fixed, poisson
  Index batch = 1;         ///< B; of Poisson batches the expected size
  Index epochs = 0;        ///< 0: the start is looked at and no step is made
  double step_size = 0;    ///< η
  Index records = 0;       ///< the first n of the training set
  Index test_records = 0;  ///< likewise
  bool augment = false;    ///< flips and translations by 2
  Index curvature = 0;     ///< records for λ_min of the Hessian; 0: not looked at
  std::string initial;     ///< file of weights in the data folder; empty: random

  bool operator==(const Training&) const = default;
};
DPSOSP_MEMBERS(Training, network, data, width, normalisation, smooth, algorithm, clip, epsilon,
               delta, adjacency, sampling, batch, epochs, step_size, records, test_records, augment,
               curvature, initial);
inline constexpr std::string_view training_probe = Training::probe.name;

/// After an epoch; before the first for epoch 0. Accuracies are shares in [0, 1].
struct TrainedEpoch {
  static constexpr bool null_for_none = true;
  Index epoch = 0;
  double train_loss = 0;
  double train_accuracy = 0;
  double test_accuracy = 0;
  /// The longest gradient of a record before clipping in this epoch's batches; with batch
  /// normalisation, where a record has none of its own, the longest contribution. None at epoch 0.
  std::optional<double> largest_norm{};
  double audit_norm = 0;          ///< the same of 256 fixed records, now
  double mean_gradient_norm = 0;  ///< of the mean over a fixed set
  Index violations = 0;           ///< of this epoch's batches: how many were longer than C
  std::optional<double> lambda_min{};
  std::optional<double> smooth_gradient_norm{};
  std::optional<double> matthews{};  ///< Matthews correlation on the test set, of two classes

  bool operator==(const TrainedEpoch&) const = default;
};
DPSOSP_MEMBERS(TrainedEpoch, epoch, train_loss, train_accuracy, test_accuracy, largest_norm,
               audit_norm, mean_gradient_norm, violations, lambda_min, smooth_gradient_norm,
               matthews);

/// What holds of a run as a whole.
struct TrainingSummary {
  static constexpr bool null_for_none = true;
  std::string label;   ///< none, violated, conditional
  std::string reason;  ///< of the label; may be empty
  double noise = 0;    ///< Δ: standard deviation per coordinate of the noise of the mean gradient
  double multiplier = 0;  ///< z = ΔB/C
  Index steps = 0;        ///< T
  Index parameters = 0;   ///< d
  /// What the noise costs if every gradient is at most C, at the run's δ and sampling; none where
  /// that is not defined.
  std::optional<double> epsilon_add_remove{};
  std::optional<double> epsilon_replace_one{};
  std::optional<double> epsilon_small_delta{};  ///< replace-one at δ = 1/(2n)
  std::string device;                           ///< cpu or cuda, where it was computed

  bool operator==(const TrainingSummary&) const = default;
};
DPSOSP_MEMBERS(TrainingSummary, label, reason, noise, multiplier, steps, parameters,
               epsilon_add_remove, epsilon_replace_one, epsilon_small_delta, device);

struct TrainingResult {
  TrainingSummary summary;
  std::vector<TrainedEpoch> epochs;  ///< 0, 1, …, Training::epochs

  bool operator==(const TrainingResult&) const = default;
};

// As JSON: objects with the names of the members; those of the summary stand beside "epochs". What
// is none is null, and may be absent where it is read. Numbers as to_json_number writes them.

void to_json(nlohmann::json& out, const Training& training);
/// \throws InputError naming the member that is missing, of another kind or unknown
void from_json(const nlohmann::json& in, Training& training);
void to_json(nlohmann::json& out, const TrainingResult& result);
/// \throws InputError likewise, or if there is no epoch
void from_json(const nlohmann::json& in, TrainingResult& result);

}  // namespace dpsosp::avdiukhin_2024_figures
