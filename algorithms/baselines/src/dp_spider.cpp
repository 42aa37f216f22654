// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_spider.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/algorithms/spider.hpp"
#include "variance_reduced.hpp"

namespace dpsosp::baselines {
namespace {

SpiderOracleParameters oracle_of(const DpSpiderParameters& p) {
  return {.sampling = p.sampling,
          .refresh_batch = p.refresh_batch,
          .increment_batch = p.increment_batch,
          .clip_refresh = p.clip_refresh,
          .increment_clip = IncrementClip::capped,  // min(β‖w − w′‖, 2L)
          .clip_increment = p.clip_increment,
          .refresh_noise = p.refresh_noise,
          .increment_noise = p.increment_noise};
}

}  // namespace

// The driver of building_blocks with a refresh every q steps, Gaussian noise in proportion to the
// sensitivities, and no escape (baselines notes, 8.1).
// dev: w_J is the point at which g_J was estimated (docs/errata.md, W20).
Outcome DpSpider::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpSpiderParameters& p = parameters;
  SpiderParameters driver;
  driver.steps = p.steps;
  driver.step_size = p.step_size;
  driver.refresh = RefreshTrigger::period;
  driver.period = p.period;
  driver.output = p.output;
  driver.escape.kind = EscapeKind::none;
  driver.oracle = oracle_of(p);
  return run_spider(driver, curator, stream, observer);
}

DpSpiderPractical dp_spider_practical(double n, double d, double L, double beta, double gap,
                                      double zcdp) {
  DpSpiderPractical s{};
  s.unit = std::sqrt(2.0 * d / zcdp) / n;
  s.balance = std::cbrt(beta * gap / (L * L * std::pow(s.unit, 4)));
  s.steps = count_of("arora-2023/dp-spider", "steps",
                     std::min(std::max(s.balance, 1.0 / s.unit), 1.0 / (s.unit * s.unit)));
  const double T = static_cast<double>(s.steps);
  s.period = std::min(
      s.steps, static_cast<Index>(std::clamp(std::floor(1.0 / (s.unit * s.unit * T)), 1.0, T)));
  s.anchors = (s.steps + s.period - 1) / s.period;
  const double A = static_cast<double>(s.anchors);
  s.refresh_deviation = 2.0 * L / n * std::sqrt(A / zcdp);
  s.increment_deviation = 2.0 * beta / n * std::sqrt((T - A) / zcdp);
  s.anchor_error = s.unit * L * std::sqrt(2.0 * A);
  s.bound = std::sqrt(4.0 * beta * gap / T + s.anchor_error * s.anchor_error);
  return s;
}

DpSpiderPractical dp_spider_arora(double n, double d, double G, double M, double gap, double zcdp) {
  DpSpiderPractical s{};
  s.unit = std::sqrt(d / zcdp) / n;  // ᾱ
  s.balance = std::pow(std::pow(gap * M, 0.25) / (std::sqrt(G) * s.unit), 4.0 / 3);
  s.steps = count_of("arora-2023/dp-spider", "steps", std::max(s.balance, 1.0 / s.unit));
  const double T = static_cast<double>(s.steps);
  s.period = static_cast<Index>(std::clamp(std::floor(1.0 / (4.0 * T * s.unit * s.unit)), 1.0, T));
  s.anchors = (s.steps + s.period - 1) / s.period;
  const double P = static_cast<double>(s.anchors);
  s.refresh_deviation = 2.0 * G / n * std::sqrt(P / zcdp);
  s.increment_deviation = 2.0 * M / n * std::sqrt((T - P) / zcdp);
  s.anchor_error = std::sqrt(d) * s.refresh_deviation;
  s.bound = std::sqrt(40.0 * gap * M / T + 12.0 * s.anchor_error * s.anchor_error);
  return s;
}

DpSpiderPaper dp_spider_paper(double n, double d, double L, double beta, double gap,
                              const PrivacyBudget& budget) {
  const double a = std::sqrt(d * std::log(1.0 / budget.delta)) / (budget.epsilon * n);
  DpSpiderPaper s{};
  s.steps = std::max(std::pow(std::pow(beta * gap, 0.25) / (std::sqrt(L) * a), 4.0 / 3), 1.0 / a);
  const double T = std::max(1.0, std::floor(s.steps));
  s.period = 1.0 / (T * a * a);  // dev: without the printed squared constant (docs/errata.md, W20)
  s.printed_period = L * L * s.period;
  s.batch = std::max(std::pow(L / (std::sqrt(gap * beta) * a), 2.0 / 3),
                     std::cbrt(L) * n * std::pow(a, 2.0 / 3) / std::pow(beta * gap, 1.0 / 6));
  s.rate = std::pow(std::sqrt(gap * L * beta) * a, 2.0 / 3) + L * a;
  return s;
}

Scheduled DpSpider::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) {
  DpSpiderParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const ProblemNumbers f = numbers_of(facts, false);
  p.step_size = 0.5 / f.M;
  p.clip_refresh = f.G;
  p.clip_increment = f.M;
  p.output = OutputRule::uniform;
  p.sampling = Sampling::all;
  p.refresh_batch = facts.records;
  p.increment_batch = facts.records;
  Scheduled s{.rule = {}, .note = {}};
  if (kind == Schedule::practical) {
    s.rule = filter_rule(budget, calibrator);
    const bool lowy = p.constants == SpiderConstants::lowy;
    const DpSpiderPractical q =
        (lowy ? dp_spider_practical : dp_spider_arora)(f.n, f.d, f.G, f.M, f.B, s.rule.capacity);
    p.steps = q.steps;
    p.period = q.period;
    s.alpha = q.bound;
    s.utility = Utility::proved;
    if ((lowy ? 1.0 : 4.0) * q.unit * q.unit * static_cast<double>(q.steps) > 1.0 + 1e-9) {
      s.utility = Utility::outside_theory;  // q would be below 1
      s.note = "the noise is too large for one step between anchors";
    }
  } else {
    const DpSpiderPaper q = dp_spider_paper(f.n, f.d, f.G, f.M, f.B, budget);
    p.steps = floor_of(card().key, "steps", q.steps);
    p.period = std::min(
        p.steps, static_cast<Index>(std::clamp(
                     std::floor(p.printed_period ? q.printed_period : q.period), 1.0, 1e15)));
    p.increment_batch = static_cast<Index>(std::clamp(std::floor(q.batch), 1.0, f.n));
    s.alpha = q.rate;
    s.utility = Utility::heuristic;
    s.note = "constants of the rate dropped; noise by this suite's accountant";
    if (calibrator == Calibrator::rdp) {
      p.sampling = Sampling::sample;
      const auto planned = plan(facts);
      const CalibratedNoise noise =
          calibrate_common_noise(planned, facts.records, budget, calibrator);
      set_common_noise(noise.sensitivity_ratio);
      s.rule = noise.rule;
      mark_vacuous(s, f.G);
      return s;
    }
    s.rule = filter_rule(budget, calibrator);
    s.note += "; full batches: this calibrator cannot charge amplification";
  }
  // R/2 to each kind of query, if there are two
  const double part = p.steps > anchors() ? 0.5 : 1.0;
  p.refresh_noise = noise_ratio_for(part * s.rule.capacity, static_cast<double>(anchors()));
  p.increment_noise = noise_ratio_for(0.5 * s.rule.capacity,
                                      static_cast<double>(std::max<Index>(1, p.steps - anchors())));
  mark_vacuous(s, f.G);
  return s;
}

const AlgorithmCard& DpSpider::card() const {
  static const AlgorithmCard card{
      .key = "arora-2023/dp-spider",
      .title = "DP-SPIDER",
      .paper = "Arora, Bassily, González, Guzmán, Menart, Ullah 2023",
      .place = "Algorithm 2, Theorem 4.2",
      .source = Source::reconstructed,
      .guarantee = "FOSP, empirical",
      .metric = Metric::gradient_norm,
      .rate = "(sqrt(d)/(n eps))^(2/3)",
      .empirical = Exponents{-2.0 / 3, 1.0 / 3, -2.0 / 3},
      .population = {},
      .operations = "gradient and gradient difference",
      .output_rule = "uniform iterate",
      .printed = "the period with the stray squared Lipschitz constant, paper schedule",
      .utility = Utility::proved};
  return card;
}

Fields DpSpider::fields() {
  using namespace range;
  DpSpiderParameters& p = parameters;
  return {field("steps", p.steps, positive, "T"),
          field("period", p.period, positive, "q: steps between anchors"),
          field("step_size", p.step_size, positive, "eta"),
          sampling_field(p.sampling),
          field("refresh_batch", p.refresh_batch, not_negative, "b1: records in an anchor"),
          field("increment_batch", p.increment_batch, not_negative, "b2: records in a difference"),
          field("clip_refresh", p.clip_refresh, positive, "L: per-record clip of gradients"),
          field("clip_increment", p.clip_increment, positive,
                "beta: clip of differences over the move"),
          noise_field("refresh_noise", p.refresh_noise, "anchors: std / sensitivity"),
          noise_field("increment_noise", p.increment_noise, "differences: std / sensitivity"),
          field("refresh_share", p.refresh_share, unit_without_1,
                "share of the budget for anchors under noise = calibrated; 0 = one ratio"),
          output_field(p.output),
          field("constants", p.constants, "whose constants the practical schedule has"),
          field("printed_period", p.printed_period, "q with the stray L^2, paper schedule")};
}

void DpSpider::set_variant(Variant variant) {
  parameters.printed_period = variant == Variant::printed;
}

void DpSpider::set_common_noise(double sensitivity_ratio) {
  DpSpiderParameters& p = parameters;
  const SplitNoise noise =
      split_noise(sensitivity_ratio, p.refresh_share, anchors(), p.steps - anchors());
  p.refresh_noise = noise.refresh;
  p.increment_noise = noise.increment;
}

std::vector<PlannedQuery> DpSpider::plan(const PublicFacts& facts) const {
  const DpSpiderParameters& p = parameters;
  return {{batch_policy(p.sampling, p.refresh_batch, facts.records), anchors()},
          {batch_policy(p.sampling, p.increment_batch, facts.records), p.steps - anchors()}};
}

void DpSpider::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  oracle_of(parameters).check(card().key, facts.records);
  check_share(card().key, "refresh_share", parameters.refresh_share, parameters.sampling);
}

}  // namespace dpsosp::baselines
