// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/published_experiment.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::lowy_2024 {
namespace {

BatchPolicy poisson(double expected_size, Index records) {
  return BatchPolicy::poisson(std::min(1.0, expected_size / static_cast<double>(records)));
}

}  // namespace

Index PublishedExperiment::sgd_steps() const {
  switch (parameters.stage) {
    case PublishedStage::dp_sgd:
      return parameters.steps;
    case PublishedStage::warm_start:
      return parameters.warm_steps;
    case PublishedStage::dp_spider:
      break;
  }
  return 0;
}

Index PublishedExperiment::spider_steps() const {
  return parameters.stage == PublishedStage::dp_sgd ? 0 : parameters.steps;
}

Index PublishedExperiment::anchors() const {
  return (spider_steps() + parameters.period - 1) / parameters.period;
}

Outcome PublishedExperiment::run(Curator& curator, Stream, Observer& observer) const {
  const PublishedExperimentParameters& p = parameters;
  const Index n = curator.facts().records;
  const Domain ball = Domain::ball(p.radius);
  const bool script = p.noise == PublishedNoise::script;
  const auto noise = [&](double ratio, double deviation) {
    return script ? Noise::standard_deviation(deviation) : Noise::sensitivity_ratio(ratio);
  };
  Vector x = curator.facts().initial_point;
  Vector x_prev = x, g = Vector::Zero(x.size()), increment(x.size());
  Index t = 0;
  const auto step = [&](double eta) {
    x_prev = x;
    x -= eta * g;
    ball.project(x);
    ++t;
    return x.allFinite();
  };
  try {
    const double warm_eta = p.stage == PublishedStage::warm_start ? p.warm_step_size : p.step_size;
    for (Index k = 0; k < sgd_steps(); ++k) {  // DP-SGD: lowy-2024 notes, 2.3
      observer.iterate(t, x);
      curator.gradient(Point(x), curator.draw(poisson(p.sgd_batch, n)),
                       {p.clip, noise(p.sgd_noise, p.sgd_deviation)}, g);
      if (!step(warm_eta)) return {x, Status::not_finite, t, {}};
    }
    for (Index k = 0; k < spider_steps(); ++k) {  // DP-SPIDER: lowy-2024 notes, 2.1
      observer.iterate(t, x);
      if (k % p.period == 0) {  // step 3
        curator.gradient(Point(x), curator.draw(BatchPolicy::all()),
                         {p.clip, noise(p.anchor_noise, p.anchor_deviation)}, g);
      } else {  // step 4
        const double move = (x - x_prev).norm();
        const double limit = std::min(p.clip_difference * move, 2.0 * p.clip);
        curator.gradient_difference(
            Point(x), Point(x_prev), curator.draw(poisson(p.difference_batch, n)),
            {limit,
             noise(p.difference_noise, std::min(p.difference_deviation * move, p.difference_cap))},
            increment);
        g += increment;
      }
      if (!step(p.step_size)) return {x, Status::not_finite, t, {}};
    }
  } catch (const Refused& refusal) {
    return {x, status_of(refusal), t, {}};
  }
  return {x, Status::steps_done, t, {}};
}

const AlgorithmCard& PublishedExperiment::card() const {
  static const AlgorithmCard card{
      .key = "lowy-2024/published-experiment",
      .title = "DP-SGD, DP-SPIDER and warm start of the published experiment",
      .paper = "Lowy, Ullman, Wright 2024",
      .place = "Experiment of the published version",
      .guarantee = "none: an experiment at tuned step sizes",
      .metric = Metric::gradient_norm,
      .rate = "none claimed",
      .empirical = {},
      .population = {},
      .operations = "gradient and gradient difference",
      .output_rule = "last iterate",
      .printed = "the script's noise; empty batches drawn anew, means over the realised batch",
      .printed_privacy = PrivacyLabel::violated};
  return card;
}

Fields PublishedExperiment::fields() {
  using namespace range;
  PublishedExperimentParameters& p = parameters;
  const std::string accounted = ": std / sensitivity";
  const std::string of_script = ": std of the script";
  return {
      field("stage", p.stage, "which of the three methods"),
      field("steps", p.steps, positive, "T: steps of DP-SGD or SPIDER, after a warm start too"),
      field("period", p.period, positive, "q: steps between anchors"),
      field("step_size", p.step_size, positive, "eta"),
      field("warm_steps", p.warm_steps, positive, "T of the warm start's DP-SGD"),
      field("warm_step_size", p.warm_step_size, positive, "eta of the warm start's DP-SGD"),
      field("warm_share", p.warm_share, open_unit, "its part of epsilon"),
      field("radius", p.radius, positive, "R: every step is projected to |x| <= R"),
      field("clip", p.clip, positive, "L: per-record clip of gradients"),
      field("clip_difference", p.clip_difference, positive,
            "beta: clip of differences over the move"),
      field("sgd_batch", p.sgd_batch, positive, "expected size of DP-SGD's Poisson batches"),
      field("difference_batch", p.difference_batch, positive, "expected size of SPIDER's batches"),
      field("noise_form", p.noise,
            "noise by the accountant, or the standard deviations of the script"),
      noise_field("sgd_noise", p.sgd_noise, "DP-SGD" + accounted),
      noise_field("anchor_noise", p.anchor_noise, "anchors" + accounted),
      noise_field("difference_noise", p.difference_noise, "differences" + accounted),
      noise_field("sgd_deviation", p.sgd_deviation, "DP-SGD" + of_script),
      noise_field("anchor_deviation", p.anchor_deviation, "anchors" + of_script),
      noise_field("difference_deviation", p.difference_deviation, "unit moves" + of_script),
      noise_field("difference_cap", p.difference_cap, "longest moves" + of_script)};
}

void PublishedExperiment::set_variant(Variant variant) {
  parameters.noise =
      variant == Variant::printed ? PublishedNoise::script : PublishedNoise::accounted;
}

void PublishedExperiment::set_common_noise(double sensitivity_ratio) {
  PublishedExperimentParameters& p = parameters;
  p.sgd_noise = p.anchor_noise = p.difference_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> PublishedExperiment::plan(const PublicFacts& facts) const {
  const PublishedExperimentParameters& p = parameters;
  std::vector<PlannedQuery> planned;
  if (sgd_steps() > 0) planned.push_back({poisson(p.sgd_batch, facts.records), sgd_steps()});
  if (spider_steps() > 0) planned.push_back({BatchPolicy::all(), anchors()});
  if (spider_steps() > anchors())
    planned.push_back({poisson(p.difference_batch, facts.records), spider_steps() - anchors()});
  return planned;
}

void PublishedExperiment::check_settings(const PublicFacts& facts) const {
  const PublishedExperimentParameters& p = parameters;
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  const double n = static_cast<double>(facts.records);
  const auto batch = [&](std::string_view name, double size) {
    if (!(size <= n))
      reject(key, name, size, fmt::format("in (0, records] with records = {}", facts.records));
  };
  batch("sgd_batch", p.sgd_batch);
  batch("difference_batch", p.difference_batch);
}

}  // namespace dpsosp::lowy_2024
