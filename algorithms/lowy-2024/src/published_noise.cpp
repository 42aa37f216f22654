// SPDX-License-Identifier: Apache-2.0
// The numbers of the published experiment: the script's, and those that the accountant grants.
#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/lowy_2024/published_experiment.hpp"
#include "dpsosp/privacy/query.hpp"

namespace dpsosp::lowy_2024 {
namespace {

double expected_batch(double n, double epsilon, double queries) {
  return std::min(std::max(n * epsilon / (2.0 * std::sqrt(queries)), 1.0), n);
}

/// The least noise ratio at which `queries` cost at most `capacity` under the rule.
double ratio_within(const FilterRule& rule, const PlannedQuery& queries, Index records,
                    double capacity) {
  const auto cost = [&](double ratio) {
    const GaussianPlan one =
        plan_gaussian(queries.policy, queries.use, records, 1.0, Noise::sensitivity_ratio(ratio));
    return static_cast<double>(queries.count) * rule.charge(*one.event);
  };
  double low = 1e-3, high = 1e9;
  for (int k = 0; k < 200 && high > low * (1 + 1e-15); ++k) {
    const double middle = std::sqrt(low * high);
    (cost(middle) <= capacity ? high : low) = middle;
  }
  return high;
}

}  // namespace

ScriptSgd script_sgd(double n, double epsilon, double delta, double steps, double L) {
  return {expected_batch(n, epsilon, steps),
          std::sqrt(8.0 * steps * std::log(1.0 / delta)) * L / (epsilon * n)};
}

ScriptSpider script_spider(double n, double epsilon, double delta, double steps, double period,
                           double L, double beta) {
  const double anchors = steps / period;
  const double unit = std::sqrt(8.0 * std::log(1.0 / delta)) / (epsilon * n);
  return {expected_batch(n, epsilon, anchors), unit * L * std::sqrt(anchors),
          unit * beta * std::sqrt(steps - anchors), 2.0 * unit * L * std::sqrt(anchors)};
}

Scheduled PublishedExperiment::schedule(Schedule kind, const PublicFacts& facts,
                                        const PrivacyBudget& budget, Calibrator calibrator) {
  PublishedExperimentParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const double n = static_cast<double>(facts.records);
  const double T = static_cast<double>(p.steps);
  if (kind == Schedule::practical) {  // the problem's own constants
    p.clip = facts.constants[constant::lipschitz];
    p.clip_difference = facts.constants[constant::smoothness];
  }
  const bool warm = p.stage == PublishedStage::warm_start;
  const double share = p.stage == PublishedStage::dp_sgd ? 1.0 : warm ? p.warm_share : 0.0;
  if (share > 0) {
    const ScriptSgd sgd = script_sgd(n, share * budget.epsilon, budget.delta,
                                     static_cast<double>(sgd_steps()), p.clip);
    p.sgd_batch = sgd.batch;
    p.sgd_deviation = sgd.deviation;
  }
  if (share < 1) {
    const ScriptSpider spider =
        script_spider(n, (1 - share) * budget.epsilon, budget.delta, T,
                      static_cast<double>(p.period), p.clip, p.clip_difference);
    p.difference_batch = spider.batch;
    p.anchor_deviation = spider.anchor_deviation;
    p.difference_deviation = spider.difference_deviation;
    p.difference_cap = spider.difference_cap;
  }
  Scheduled s;
  account(facts, budget, calibrator, s.rule);
  s.utility = Utility::heuristic;
  s.note = "an experiment: the paper promises nothing at these numbers";
  return s;
}

/// The capacity is divided as ε_1² : ε_2² between the two stages, so that their noises have the
/// ratio of the script's. SPIDER's part is divided equally between its two kinds of query.
void PublishedExperiment::account(const PublicFacts& facts, const PrivacyBudget& budget,
                                  Calibrator calibrator, FilterRule& rule) {
  PublishedExperimentParameters& p = parameters;
  const auto planned = plan(facts);
  rule = calibrate_common_noise(planned, facts.records, budget, calibrator).rule;
  const double capacity = rule.capacity * (1.0 - 1e-12);
  const double x = p.warm_share, y = 1.0 - x;
  const double warm_part = p.stage == PublishedStage::dp_sgd       ? 1.0
                           : p.stage == PublishedStage::warm_start ? x * x / (x * x + y * y)
                                                                   : 0.0;
  const bool differences = spider_steps() > anchors();
  std::size_t next = 0;
  if (warm_part > 0)
    p.sgd_noise = ratio_within(rule, planned[next++], facts.records, warm_part * capacity);
  if (warm_part == 1) return;
  const double spider = (1.0 - warm_part) * capacity;
  p.anchor_noise =
      ratio_within(rule, planned[next++], facts.records, differences ? 0.5 * spider : spider);
  if (differences)
    p.difference_noise = ratio_within(rule, planned[next], facts.records, 0.5 * spider);
}

}  // namespace dpsosp::lowy_2024
