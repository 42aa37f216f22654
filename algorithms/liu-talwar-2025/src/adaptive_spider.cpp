// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::liu_talwar_2025 {

namespace {

struct Knob {
  const char* name;
  double* value;
  const char* meaning;
};

std::vector<Knob> knob_list(Knobs& k) {
  return {{"theta_tree", &k.theta_tree, "noise of the estimate / alpha"},
          {"theta_escape", &k.theta_escape, "noise of an escape step / alpha"},
          {"theta_stat", &k.theta_stat, "sampling error of the estimate / alpha"},
          {"theta_hessian", &k.theta_hessian, "sampling error of the Hessian / sqrt(rho alpha)"},
          {"c_steps", &k.c_steps, "c_T: steps over B M/alpha^2"},
          {"c_drift", &k.c_drift, "c_kappa: kappa / G"},
          {"c_tau", &k.c_tau, "tau over G sqrt(rho)/(M sqrt(alpha))"},
          {"c_trigger", &k.c_trigger, "escape threshold / alpha"},
          {"c_path", &k.c_path, "c_S: path over B M/alpha"}};
}

}  // namespace

AdaptiveSpider::AdaptiveSpider() {
  SpiderParameters& p = parameters.spider;
  p.noise = SpiderNoise::tree;
  p.batch = SpiderBatch::adaptive;
  p.drift_kind = DriftKind::linear;
  p.escape.kind = EscapeKind::hessian_power;
  p.oracle.sampling = Sampling::fresh;
  p.oracle.refresh_batch = p.oracle.increment_batch = 1;
  p.oracle.increment_clip = IncrementClip::capped;
}

// liu-talwar-2025, Algorithm 3: run_spider with the tree, adaptive batches, linear drift and the
// Hessian-power escape. Selection: liu-talwar-2025 notes, 2.5.
Outcome AdaptiveSpider::run(Curator& curator, Stream stream, Observer& observer) const {
  const AdaptiveSpiderParameters& p = parameters;
  const SpiderOracleParameters& o = p.spider.oracle;
  if (!p.selection.on()) return run_spider(p.spider, curator, stream, observer);
  Candidates candidates(p.selection.candidates, p.spider.steps, stream);
  const Index n = curator.facts().records;
  const auto held_out = static_cast<Index>(std::floor(p.selection.share * static_cast<double>(n)));
  Curator first = curator.child({.name = "optimise", .range = RecordRange{0, n - held_out}});
  Outcome outcome = run_spider(p.spider, first, stream, observer, &candidates);
  if (held_out == 0) return outcome;
  Curator second = curator.child({.name = "select", .range = RecordRange{n - held_out, n}});
  select_output(outcome, second, candidates, p.selection, o.clip_refresh, o.clip_increment);
  return outcome;
}

const AlgorithmCard& AdaptiveSpider::card() const {
  static const AlgorithmCard card{
      .key = "liu-talwar-2025/adaptive-spider",
      .title = "Stochastic Spider with an escape subprocedure and adaptive batches",
      .paper = "Liu, Talwar 2025",
      .place = "Algorithm 3, with Algorithms 1, 2 and 4, Theorem 3.17",
      .source = Source::full_text,
      .guarantee = "SOSP among the iterates, population",
      .metric = Metric::sosp_level,
      .statistic = "best iterate",
      .rate = "n^(-1/3) + (sqrt(d)/(n eps))^(1/2)",
      .empirical = {},
      .population = Exponents{-0.5, 0.25, -0.5},
      .sampling = -1.0 / 3,
      .operations = "gradient and gradient difference on a tree, Hessian products; fresh batches",
      .output_rule =
          "privately selected on held-out records among failed escapes, random iterates, last and "
          "start; else the last",
      .printed =
          "one escape a refresh (tau below 1, rounded up), noise and batches of Theorem 3.17, "
          "no selection; not private",
      .printed_privacy = PrivacyLabel::violated,
      .utility = Utility::repaired,
      .single_pass = true};
  return card;
}

Fields AdaptiveSpider::fields() {
  using namespace range;
  SpiderParameters& p = parameters.spider;
  Fields f{
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "eta"),
      field("noise", p.noise, "where the estimate's noise comes from"),
      field("batch_rule", p.batch, "records in an increment"),
      field("drift", p.drift_kind, "what drift adds up"),
      field("escape", p.escape.kind, "how saddles are left"),
      field("tau_mode", parameters.tau_mode, "escapes that one refresh serves"),
      field("release", parameters.release,
            "noise and batches that fit the budget, or those of Theorem 3.17"),
      field("drift_threshold", p.drift_threshold, positive, "kappa"),
      field("max_leaves", p.max_leaves, not_negative,
            "estimates between forced refreshes; 0 = as many as steps"),
      field("tree_deviation", p.tree_deviation, positive, "sigma_tree per node and coordinate"),
      field("refresh_deviation", p.refresh_deviation, positive, "sigma_1 of gaussian_fixed"),
      field("increment_deviation", p.increment_deviation, positive, "sigma_inc of gaussian_fixed"),
      field("batch_rate", p.batch_rate, positive, "c2: records in an increment / move"),
  };
  p.escape.add_isotropic_fields(f);
  p.escape.add_hessian_fields(f);
  p.oracle.add_fields(f);
  parameters.selection.add_fields(f, "of the records, held out");
  for (const auto& [name, value, meaning] : knob_list(parameters.knobs))
    f.push_back(field(name, *value, positive, std::string(meaning) + ", practical schedule"));
  return f;
}

void AdaptiveSpider::set_variant(Variant variant) {
  const bool printed = variant == Variant::printed;
  parameters.tau_mode = printed ? TauMode::one : TauMode::repaired;
  parameters.release = printed ? Release::printed : Release::accounted;
}

void AdaptiveSpider::check_problem(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  if (facts.dual_kind != DualKind::none &&
      parameters.spider.escape.kind == EscapeKind::hessian_power)
    throw InputError(card().key + ": " + facts.name +
                     " answers no Hessian products; choose a minimisation problem or escape = "
                     "isotropic_reuse");
}

void AdaptiveSpider::check_settings(const PublicFacts& facts) const {
  check_problem(facts);
  parameters.spider.check(card().key, facts.records);
}

}  // namespace dpsosp::liu_talwar_2025
